/* Weights on cycles of three items: what every order must lose.

   Items are numbered by a good order; margin[i, j], i < j, is what i before j costs more than j before i. A weight z on
   the triple i < j < k is taken from the margins of (i, j) and (j, k) and added to that of (i, k). With what is left,

       2 * cost of any order  >=  sum of |margin|  -  sum of |left|  -  sum of |z|

   for an order agrees with at most two arcs of a cycle and at least one. Any weights give a bound. The best minimise

       sum of smooth(left)  +  sum of |z|,     smooth(l) = |l| - mu / 2 where |l| > mu, else l * l / (2 * mu)

   one weight at a time: smooth sums have no corner in which this gets stuck, and mu goes to zero. Margins and weights
   are whole numbers, so nothing is rounded. */

#include "loops.h"

#define BITS 13 /* of the number of an item: up to 8,191 items */
#define ITEM 8191
#define RUN 32 /* triples per run */

/* The nearest whole number, of numbers below 2**51. */
static double to_whole(double number)
{
    return (number + 6755399441055744.0) - 6755399441055744.0;
}

static float clipped(double left, float scale)
{
    float share = (float)left * scale;
    return share > 1 ? 1 : share < -1 ? -1 : share;
}

static double within(double number, double low, double high)
{
    return number < low ? low : number > high ? high : number;
}

/* The best weight for a cycle whose arcs, without it, have a, b and c left: the sum of their clipped parts falls as the
   weight grows, and must be one. Where a range is best, the nearest to the present weight. */
static double best_weight(double a, double b, double c, double mu, double present)
{
    double total = within(a, -mu, mu) + within(b, -mu, mu) + within(c, -mu, mu), swap, weight;
    if (total <= mu && total >= -mu)
        return 0;
    double sign = total < 0 ? -1 : 1;
    a *= sign;
    b *= sign;
    c *= sign;
    if (a < b) {
        swap = a;
        a = b;
        b = swap;
    }
    if (b < c) {
        swap = b;
        b = c;
        c = swap;
    }
    if (a < b) {
        swap = a;
        a = b;
        b = swap;
    }
    if (b - c >= 2 * mu)
        weight = within(sign * present, c + mu > 0 ? c + mu : 0, b - mu);
    else {
        weight = (b + c) / 2;
        if (a - weight < mu)
            weight = (a + b + c - mu) / 3;
    }
    weight = to_whole(weight);
    return weight > 0 ? sign * weight : 0;
}

/* Go through the weighted cycles, `passes` times to and fro, and give each its best weight. */
LOOP int64_t weigh_cycles(double *left, int64_t n, double mu, const int64_t *cycles, double *weights, int64_t count,
                          int64_t passes)
{
    for (int64_t pass = 0; pass < passes; pass++)
        for (int64_t step = 0; step < count; step++) {
            int64_t at = pass & 1 ? count - 1 - step : step;
            int64_t i = cycles[at] >> (2 * BITS), j = cycles[at] >> BITS & ITEM, k = cycles[at] & ITEM;
            double *ij = left + i * n + j, *jk = left + j * n + k, *ik = left + i * n + k, now = weights[at];
            double change = best_weight(*ij + now, *jk + now, -*ik + now, mu, now) - now;
            if (change == 0)
                continue;
            weights[at] = now + change;
            *ij -= change;
            *jk -= change;
            *ik += change;
        }
    return 0;
}

/* Fill `share` with what is left of each pair, in units of mu, at most one. */
LOOP int64_t clip_margins(const double *left, int64_t n, double mu, float *share)
{
    float scale = 1 / (float)mu;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            share[i * n + j] = clipped(left[i * n + j], scale);
    return 0;
}

/* The largest |ij + jk - ik| over a run of k. */
static float most_of_run(float ij, const float *jk, const float *ik)
{
    float most[4] = {0, 0, 0, 0};
    for (int64_t k = 0; k < RUN; k += 4)
        for (int64_t lane = 0; lane < 4; lane++) {
            float total = ij + jk[k + lane] - ik[k + lane];
            total = total < 0 ? -total : total;
            most[lane] = total > most[lane] ? total : most[lane];
        }
    float one = most[0] > most[1] ? most[0] : most[1], other = most[2] > most[3] ? most[2] : most[3];
    return one > other ? one : other;
}

/* Look through all triples with first <= i < last and k - i < reach for cycles that are worth a weight, and weigh them.
   The weighted cycles from `at[0]` on are copied, in their order, with the new ones among them, to `found` from `at[1]`
   on; those without a weight are dropped. New ones are left out once there is no room. `at[2]` counts the triples that
   were looked at one by one. */
LOOP int64_t find_cycles(double *left, float *share, int64_t n, int64_t reach, double mu, double slack, int64_t first,
                         int64_t last, const int64_t *cycles, const double *weights, int64_t count, int64_t *found,
                         double *found_weights, int64_t room, int64_t *at)
{
    float scale = 1 / (float)mu, limit = 1 + (float)slack;
    int64_t old = at[0], made = at[1];
    for (int64_t i = first; i < last; i++) {
        int64_t end = i + reach < n ? i + reach : n;
        float *share_i = share + i * n;
        double *left_i = left + i * n;
        for (int64_t j = i + 1; j < end; j++) {
            int64_t pair = i << (2 * BITS) | j << BITS;
            float *share_j = share + j * n;
            double *left_j = left + j * n;
            for (int64_t start = j + 1; start < end; start += RUN) {
                int64_t stop = start + RUN <= end ? start + RUN : end;
                if (stop == start + RUN && most_of_run(share_i[j], share_j + start, share_i + start) <= limit)
                    continue;
                at[2] += stop - start;
                for (int64_t k = start; k < stop; k++) {
                    float total = share_i[j] + share_j[k] - share_i[k];
                    if (total <= limit && total >= -limit)
                        continue;
                    double now = 0;
                    for (; old < count && cycles[old] < (pair | k); old++)
                        if (weights[old] != 0) {
                            found[made] = cycles[old];
                            found_weights[made++] = weights[old];
                        }
                    if (old < count && cycles[old] == (pair | k))
                        now = weights[old++];
                    else if (made + count - old >= room)
                        continue;
                    double best = best_weight(left_i[j] + now, left_j[k] + now, -left_i[k] + now, mu, now);
                    if (best != 0) {
                        found[made] = pair | k;
                        found_weights[made++] = best;
                    }
                    left_i[j] -= best - now;
                    left_j[k] -= best - now;
                    left_i[k] += best - now;
                    share_i[j] = clipped(left_i[j], scale);
                    share_j[k] = clipped(left_j[k], scale);
                    share_i[k] = clipped(left_i[k], scale);
                }
            }
        }
    }
    for (; old < count && cycles[old] < last << (2 * BITS); old++)
        if (weights[old] != 0) {
            found[made] = cycles[old];
            found_weights[made++] = weights[old];
        }
    at[0] = old;
    at[1] = made;
    return 0;
}

/* The proof of a bound: the sum of |left| and of |weights|, from whole margins and weights alone. What is left is
   computed anew, in whole numbers; below 2**62 if the margins add up to less than 2**53. Returns -2 where weights are
   too large for that. */
LOOP int64_t left_of_cycles(const double *margin, int64_t n, const int64_t *cycles, const double *weights, int64_t count)
{
    double size = 0;
    for (int64_t at = 0; at < count; at++)
        size += fabs(weights[at]);
    if (!(size < 0x1p59))
        return -2;
    int64_t *left = malloc((size_t)(n * n + 1) * sizeof(int64_t)), total = 0;
    if (!left)
        return -1;
    for (int64_t pair = 0; pair < n * n; pair++)
        left[pair] = (int64_t)margin[pair];
    for (int64_t at = 0; at < count; at++) {
        int64_t i = cycles[at] >> (2 * BITS), j = cycles[at] >> BITS & ITEM, k = cycles[at] & ITEM;
        int64_t weight = (int64_t)weights[at];
        left[i * n + j] -= weight;
        left[j * n + k] -= weight;
        left[i * n + k] += weight;
        total += weight < 0 ? -weight : weight;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            total += left[i * n + j] < 0 ? -left[i * n + j] : left[i * n + j];
    free(left);
    return total;
}

/* Walks through the orders that an attack on Kemeny's median may aim at; see `holdrank.attacks.kemeny.walks`.

   An order is built from its first place on. Two neighbouring blocks A, B of it can be swapped by a rival, so an attack
   costs at least

       mean over a in A, b in B of against[a, b],      against[a, b] = half the margin of b over a

   (the sum, when each vote speaks of one pair only). This bound of a beginning holds for every way to go on. Items are
   numbered by their place in the median that is attacked, so a pair is flipped when its larger number stands first. */

#include "loops.h"

/* Return the largest bound of two neighbouring blocks, the second of them up to x at `depth`; `worst` at least.

   Stops where that reaches `room`. Fills the next column of `block`, in which the sums over blocks are looked up:
   block[i, d] is the sum over all pairs of places p < i, p < q < d. */
static double block_bound(int64_t n, const double *against, const int64_t *order, int64_t depth, int64_t x, int sums_count,
                          double worst, double room, double *sums, double *block)
{
    double total = 0.0;
    int64_t wide = n + 1;
    sums[0] = 0.0;
    for (int64_t p = 0; p < depth; p++) {
        total += against[order[p] * n + x];
        sums[p + 1] = total;
    }
    for (int64_t i = 0; i <= n; i++)
        block[i * wide + depth + 1] = block[i * wide + depth] + sums[i < depth ? i : depth];
    for (int64_t middle = 1; middle <= depth; middle++) {
        int64_t width = depth + 1 - middle;
        double behind = block[middle * wide + depth + 1] - block[middle * wide + middle];
        for (int64_t start = 0; start < middle; start++) {
            double mean = behind - (block[start * wide + depth + 1] - block[start * wide + middle]);
            if (!sums_count)
                mean /= (double)((middle - start) * width);
            if (mean > worst)
                worst = mean;
        }
        if (worst >= room)
            break;
    }
    return worst;
}

/* Return the largest bound of rivals that sort the last places, x at `depth` included, as the median does; `worst` at
   least. Fills the next row of `turned_sum` and `turned_count`. */
static double sorting_bound(int64_t n, const double *against, const int64_t *order, int64_t depth, int64_t x,
                            int sums_count, double worst, double *turned_sum, int64_t *turned_count)
{
    double total = 0.0;
    int64_t count = 0, here = depth * (n + 1), next = (depth + 1) * (n + 1);
    for (int64_t start = depth - 1; start >= 0; start--) {
        if (order[start] > x) {
            total += against[order[start] * n + x];
            count++;
        }
        double mean = turned_sum[next + start] = turned_sum[here + start] + total;
        turned_count[next + start] = turned_count[here + start] + count;
        if (turned_count[next + start] > 1 && !sums_count)
            mean /= (double)turned_count[next + start];
        if (mean > worst)
            worst = mean;
    }
    return worst;
}

/* Return the largest bound of rivals that swap the last places up to `depth` with all to come; `worst` at least. */
static double crossing_bound(int64_t n, int64_t depth, int sums_count, double worst, const double *row_sum,
                             const double *block)
{
    int64_t rest = n - depth - 1, wide = n + 1;
    for (int64_t start = 0; start <= depth && rest > 0; start++) {
        double mean = row_sum[depth + 1] - row_sum[start] + block[start * wide + depth + 1] - block[start * wide + start];
        if (!sums_count)
            mean /= (double)((depth + 1 - start) * rest);
        if (mean > worst)
            worst = mean;
    }
    return worst;
}

/* Keep an order with `turns` flipped pairs: as the best for that many or fewer, if `improve`, else as the next. */
static void keep_order(int64_t n, const int64_t *order, int64_t turns, double worst, double *limit, int64_t *orders,
                       double *bounds, int64_t *flips, int64_t *filled, int improve)
{
    if (!improve) {
        int64_t row = filled[0]++;
        memcpy(orders + row * n, order, (size_t)n * sizeof(int64_t));
        bounds[row] = worst;
        flips[row] = turns;
        return;
    }
    for (int64_t k = turns; k >= 0 && limit[k] > worst; k--) {
        limit[k] = worst;
        memcpy(orders + k * n, order, (size_t)n * sizeof(int64_t));
        bounds[k] = worst;
        flips[k] = turns;
    }
}

/* Walk through the orders whose block-swap bound stays below the limit; return how many beginnings it looked at.

       until the walk ends, `orders` is full, or `most_nodes` beginnings were looked at:
           x = the next item that may stand at this place; none is left: go back by one place
           skip x if the wish forbids it here
           room = what an order must stay below that begins like this and flips as many pairs as it can
           worst = the largest bound of the rivals that
               swap two neighbouring blocks, the second of which ends with x,
               sort the last places as the median does, or
               swap the last places with all that is still to come
           worst >= room: skip x
           at the last place: hold the median itself against the order, and keep it; else go on to the next place     */
LOOP int64_t search_orders(
    int64_t n, const double *against, const int64_t *ends, const int64_t *above, const uint8_t *newcomer, int64_t top,
    int64_t sums_count, double *limit,
    /* where the walk stands */
    int64_t *standing, int64_t *order, int64_t *following, int64_t *has_new, int64_t *turned, double *opposed,
    double *bound, double *row_sum, double *block, double *turned_sum, int64_t *turned_count,
    /* what it finds */
    int64_t rows, int64_t *orders, double *bounds, int64_t *flips, int64_t *filled, int64_t most_nodes, int64_t improve)
{
    double *sums = malloc((size_t)(2 * n + 1) * sizeof(double));
    int64_t *later = calloc((size_t)(2 * n + 1), sizeof(int64_t));
    if (!sums || !later) {
        free(sums);
        free(later);
        return -1;
    }
    double *row_total = sums + n + 1;
    int64_t *used = later + n + 1, depth = standing[0], nodes = 0;
    for (int64_t p = 0; p < depth; p++)
        used[order[p]] = 1;
    /* later[p]: pairs that can be flipped among the items from place p on, when p begins a part. */
    for (int64_t p = n - 1; p >= 0; p--) {
        later[p] = later[ends[p]] + (ends[p] - p) * (ends[p] - p - 1) / 2;
        row_total[p] = 0.0;
        for (int64_t q = 0; q < n; q++)
            row_total[p] += against[p * n + q];
    }
    while (depth >= 0) {
        int64_t x = following[depth], end = ends[depth];
        while (x < end && used[x])
            x++;
        if (x >= end) {
            if (--depth >= 0)
                used[order[depth]] = 0;
            continue;
        }
        if (nodes >= most_nodes || filled[0] >= rows)
            break;
        following[depth] = x + 1;
        if (above[1] == x && !used[above[0]])
            continue;
        int new = has_new[depth] > 0 || newcomer[x];
        if (depth == top - 1 && !new)
            continue;
        nodes++;
        int64_t turns = turned[depth], near = end - depth - 1;
        double against_turns = opposed[depth];
        for (int64_t y = 0; y < x; y++)
            if (!used[y]) {
                turns++;
                against_turns += against[x * n + y];
            }
        double room = limit[turns + near * (near - 1) / 2 + later[end]] - TINY, worst = bound[depth];
        if (worst >= room)
            continue;
        worst = block_bound(n, against, order, depth, x, (int)sums_count, worst, room, sums, block);
        if (worst >= room)
            continue;
        worst = sorting_bound(n, against, order, depth, x, (int)sums_count, worst, turned_sum, turned_count);
        row_sum[depth + 1] = row_sum[depth] + row_total[x];
        worst = crossing_bound(n, depth, (int)sums_count, worst, row_sum, block);
        if (worst >= room)
            continue;
        order[depth] = x;
        if (depth == n - 1) {
            if (turns > 0) { /* the median itself is a rival */
                double mean = sums_count ? against_turns : against_turns / (double)turns;
                worst = mean > worst ? mean : worst;
            }
            if (worst < limit[turns] - TINY)
                keep_order(n, order, turns, worst, limit, orders, bounds, flips, filled, (int)improve);
            continue;
        }
        used[x] = 1;
        depth++;
        has_new[depth] = new;
        bound[depth] = worst;
        turned[depth] = turns;
        opposed[depth] = against_turns;
        following[depth] = 0;
    }
    standing[0] = depth;
    free(sums);
    free(later);
    return nodes;
}

/* Return the least block-swap bound of a run of items from a start to a stop, `limit` at most; 0 if that takes too long,
   -1 without memory.

   Whatever the target, somewhere in it a start stands before a stop with nothing of either kind between them, and the
   bound of that run, whose blocks can be swapped like any others, holds for the whole. The loop is that of
   `search_orders`, for runs: it begins with a start, goes on by anything but a start, and ends with a stop. */
LOOP double search_chains(int64_t n, const double *against, const uint8_t *starts, const uint8_t *stops, double limit,
                          int64_t sums_count, int64_t most_nodes)
{
    size_t wide = (size_t)n + 1;
    double *bound = calloc(wide * (wide + 2), sizeof(double));
    int64_t *order = calloc(3 * wide, sizeof(int64_t));
    if (!bound || !order) {
        free(bound);
        free(order);
        return -1.0;
    }
    double *sums = bound + wide, *block = bound + 2 * wide, least = limit;
    int64_t *following = order + wide, *used = order + 2 * wide, depth = 0, nodes = 0;
    while (depth >= 0) {
        int64_t x = following[depth];
        while (x < n && (used[x] || (depth ? starts[x] : !starts[x])))
            x++;
        if (x >= n || depth >= n) {
            if (--depth >= 0)
                used[order[depth]] = 0;
            continue;
        }
        if (++nodes > most_nodes) {
            least = 0.0;
            break;
        }
        following[depth] = x + 1;
        double room = least - TINY;
        double worst = block_bound(n, against, order, depth, x, (int)sums_count, bound[depth], room, sums, block);
        if (worst >= room)
            continue;
        if (stops[x]) {
            least = worst;
            continue;
        }
        order[depth] = x;
        used[x] = 1;
        depth++;
        bound[depth] = worst;
        following[depth] = 0;
    }
    free(bound);
    free(order);
    return least;
}

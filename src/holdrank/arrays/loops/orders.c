/* Orders of items that cost little: insertion search, dynamic programming over subsets, and what bounds them. */

#include "loops.h"

/* The number of pairs i < j with values[i] > values[j]: merge sort from the bottom up. */
LOOP int64_t inversions(const int64_t *values, int64_t n)
{
    int64_t *room = malloc((size_t)(n > 0 ? n : 1) * 2 * sizeof(int64_t));
    if (!room)
        return -1;
    int64_t *here = room, *there = room + n, total = 0;
    memcpy(here, values, (size_t)n * sizeof(int64_t));
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = start + width < n ? start + width : n;
            int64_t end = start + 2 * width < n ? start + 2 * width : n;
            int64_t left = start, right = middle, at = start;
            while (left < middle && right < end) {
                int64_t falls = here[right] < here[left];
                there[at++] = falls ? here[right] : here[left];
                total += falls * (middle - left);
                right += falls;
                left += 1 - falls;
            }
            memcpy(there + at, here + left, (size_t)(middle - left) * sizeof(int64_t));
            memcpy(there + at + middle - left, here + right, (size_t)(end - right) * sizeof(int64_t));
        }
        int64_t *swap = here;
        here = there;
        there = swap;
    }
    free(room);
    return total;
}

/* Improve an order by moves of single items that gain more than `least_gain`; return what they gain.

       until no item moves:
           for each place s:
               add up the margins to the right of s, then to the left: what each move would change
               make the best of these moves, if it gains enough                                                     */
double descend_from(const double *margin, int64_t n, int64_t *order, double least_gain)
{
    double gained = 0.0;
    for (int improved = 1; improved;) {
        improved = 0;
        for (int64_t start = 0; start < n; start++) {
            int64_t item = order[start], to = start;
            const double *row = margin + item * n;
            double best = -least_gain, change = 0.0;
            for (int64_t p = start + 1; p < n; p++) {
                change -= row[order[p]];
                if (change < best) {
                    best = change;
                    to = p;
                }
            }
            change = 0.0;
            for (int64_t p = start - 1; p >= 0; p--) {
                change += row[order[p]];
                if (change < best) {
                    best = change;
                    to = p;
                }
            }
            if (to == start)
                continue;
            for (int64_t p = start; p < to; p++)
                order[p] = order[p + 1];
            for (int64_t p = start; p > to; p--)
                order[p] = order[p - 1];
            order[to] = item;
            gained -= best;
            improved = 1;
        }
    }
    return gained;
}

LOOP double descend(const double *margin, int64_t n, int64_t *order, double least_gain)
{
    return descend_from(margin, n, order, least_gain);
}

/* The next of a sequence of random numbers (splitmix64). */
static uint64_t random_after(uint64_t *state)
{
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15ull);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    return mixed ^ (mixed >> 31);
}

/* The current order, where each item stands, and the items to look at, which wait in a ring. */
typedef struct {
    const double *margin;
    int64_t n, *order, *place, *ring, head, waiting;
    unsigned char *waits;
} walker;

/* Move an item to another place; all items that it passes are to be looked at, and so is the item itself. */
static void move_item(walker *w, int64_t from, int64_t to)
{
    int64_t item = w->order[from], step = to > from ? 1 : -1;
    for (int64_t p = from; p != to; p += step)
        w->order[p] = w->order[p + step];
    w->order[to] = item;
    for (int64_t p = from;; p += step) {
        int64_t passed = w->order[p];
        w->place[passed] = p;
        if (!w->waits[passed]) {
            w->waits[passed] = 1;
            w->ring[(w->head + w->waiting++) % w->n] = passed;
        }
        if (p == to)
            break;
    }
}

/* Iterated insertion search from the order `best`, which is replaced by every better one; returns what that gains.

       until about `steps` margins have been read:
           move one to three random items by up to a third of the order, and at most 50 places
           while items wait to be looked at: move the first of them to its best place, if that gains enough
           if the order is worse than before by more than heat * u * u, for a random u in [0, 1): go back           */
LOOP double wander(const double *margin, int64_t n, int64_t *best, double least_gain, double heat, int64_t steps,
                   int64_t seed)
{
    int64_t *room = malloc((size_t)n * 4 * sizeof(int64_t)), *before = room + 3 * n;
    unsigned char *waits = calloc((size_t)n, 1);
    if (!room || !waits) {
        free(room);
        free(waits);
        return -1;
    }
    walker w = {margin, n, room, room + n, room + 2 * n, 0, 0, waits};
    uint64_t state = (uint64_t)seed;
    int64_t far = n < 6 ? 1 : n < 150 ? n / 3 : 50;
    double now = 0.0, least = 0.0; /* what the order costs more than the first one, and the least of these */
    memcpy(w.order, best, (size_t)n * sizeof(int64_t));
    for (int64_t p = 0; p < n; p++)
        w.place[best[p]] = p;
    while (steps > 0) {
        double start = now;
        memcpy(before, w.order, (size_t)n * sizeof(int64_t));
        steps -= n;
        for (int64_t kicks = 1 + (int64_t)(random_after(&state) % 3); kicks > 0; kicks--) {
            int64_t from = (int64_t)(random_after(&state) % (uint64_t)n);
            int64_t span = 1 + (int64_t)(random_after(&state) % (uint64_t)far);
            int64_t to = random_after(&state) & 1 ? from + span : from - span;
            to = to < 0 ? 0 : to >= n ? n - 1 : to;
            const double *row = margin + w.order[from] * n;
            for (int64_t p = from + 1; p <= to; p++)
                now -= row[w.order[p]];
            for (int64_t p = from - 1; p >= to; p--)
                now += row[w.order[p]];
            move_item(&w, from, to);
            steps -= span;
        }
        while (w.waiting) {
            int64_t item = w.ring[w.head], at = w.place[item], to = at;
            const double *row = margin + item * n;
            double gain = -least_gain, change = 0.0;
            w.head = (w.head + 1) % n;
            w.waiting--;
            waits[item] = 0;
            for (int64_t p = at + 1; p < n; p++) {
                change -= row[w.order[p]];
                if (change < gain) {
                    gain = change;
                    to = p;
                }
            }
            change = 0.0;
            for (int64_t p = at - 1; p >= 0; p--) {
                change += row[w.order[p]];
                if (change < gain) {
                    gain = change;
                    to = p;
                }
            }
            steps -= n;
            if (to != at) {
                move_item(&w, at, to);
                now += gain;
            }
        }
        if (now <= least) {
            least = now;
            memcpy(best, w.order, (size_t)n * sizeof(int64_t));
        }
        double luck = (double)(random_after(&state) >> 11) * 0x1p-53;
        if (now - start > heat * luck * luck) {
            memcpy(w.order, before, (size_t)n * sizeof(int64_t));
            for (int64_t p = 0; p < n; p++)
                w.place[before[p]] = p;
            now = start;
        }
    }
    free(room);
    free(waits);
    return -least;
}

/* How many numbers `fill_subset_table` needs to work in. */
size_t subset_room(int64_t n)
{
    return (size_t)n * (((size_t)1 << (n / 2)) + ((size_t)1 << (n - n / 2)));
}

/* Fill `least` with the least cost of ordering each subset, one bit per item.

       low[i], high[i] = sums of cost[i] over all subsets of the lower, of the upper half of the items
       for S in 1 .. 2**n - 1:                      what is left without an item has a smaller number
           for i in S:
               least[S] = min(least[S], least[S - i] + low[i, lower half of S - i] + high[i, upper half])           */
void fill_subset_table(const double *cost, int64_t n, double *least, double *room)
{
    int64_t split = n / 2, lower = (int64_t)1 << split, upper = (int64_t)1 << (n - split);
    double *low = room, *high = room + n * lower;
    for (int64_t i = 0; i < n; i++) {
        low[i * lower] = high[i * upper] = 0.0;
        for (int64_t j = 0; j < split; j++)
            for (int64_t rest = 0; rest < (int64_t)1 << j; rest++)
                low[i * lower + (rest | (int64_t)1 << j)] = low[i * lower + rest] + cost[i * n + j];
        for (int64_t j = 0; j < n - split; j++)
            for (int64_t rest = 0; rest < (int64_t)1 << j; rest++)
                high[i * upper + (rest | (int64_t)1 << j)] = high[i * upper + rest] + cost[i * n + split + j];
    }
    least[0] = 0.0;
    for (int64_t subset = 1; subset < (int64_t)1 << n; subset++) {
        double best = INFINITY;
        for (int64_t i = 0; i < n; i++) {
            if (subset >> i & 1) {
                int64_t rest = subset ^ (int64_t)1 << i;
                double total = least[rest] + low[i * lower + (rest & (lower - 1))] + high[i * upper + (rest >> split)];
                if (total < best)
                    best = total;
            }
        }
        least[subset] = best;
    }
}

LOOP int64_t order_subsets(const double *cost, int64_t n, double *least)
{
    double *room = malloc((subset_room(n) + 1) * sizeof(double));
    if (!room)
        return -1;
    fill_subset_table(cost, n, least, room);
    free(room);
    return 0;
}

/* Go through the rows 0 <= x_ij + x_jk - x_ik <= 1, i < j < k, that are violated by more than `tolerance`. Without room,
   count them in `steps` by hundredths of their excess; else write down those from hundredth `lowest` on. */
LOOP int64_t scan_triangles(const double *before, int64_t n, double tolerance, int64_t lowest, int64_t *steps,
                            double *excesses, int64_t *triples, int64_t room)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++)
            for (int64_t k = j + 1; k < n; k++) {
                double total = before[i * n + j] + before[j * n + k] - before[i * n + k];
                double excess = total - 1 > -total ? total - 1 : -total;
                if (!(excess > tolerance))
                    continue;
                int64_t step = (int64_t)(excess * 100);
                step = step > 101 ? 101 : step;
                if (!room)
                    steps[step]++;
                else if (step >= lowest && at < room) {
                    excesses[at] = excess;
                    triples[3 * at] = i;
                    triples[3 * at + 1] = j;
                    triples[3 * at + 2] = k;
                    at++;
                }
            }
    return at;
}

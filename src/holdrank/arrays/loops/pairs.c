/* Pairs of weighted ballots, counted in whole numbers, which are exact in any order. */

#include "loops.h"

/* What ballots say about two items: weight that places the first above the second, weight the other way round, and
   weight of all that compare them. */
struct pair {
    int64_t above, below, compared;
};

/* Masks instead of branches: which ballots agree is as good as random. A rank of 0 compares with nothing. */
static INSIDE struct pair weigh(const int16_t *a, const int16_t *b, int64_t m, const int64_t *weights)
{
    int64_t above = 0, below = 0, compared = 0;
    for (int64_t k = 0; k < m; k++) {
        above += weights[k] & -(int64_t)((a[k] < b[k]) & (a[k] > 0));
        below += weights[k] & -(int64_t)((b[k] < a[k]) & (b[k] > 0));
        compared += weights[k] & -(int64_t)((a[k] > 0) & (b[k] > 0));
    }
    return (struct pair){above, below, compared};
}

/* The same where every weight is 1: sixteen bits are enough, and one instruction counts eight ballots. */
static INSIDE struct pair count(const int16_t *a, const int16_t *b, int64_t m)
{
    uint16_t above = 0, below = 0, compared = 0;
    for (int64_t k = 0; k < m; k++) {
        above += (a[k] < b[k]) & (a[k] > 0);
        below += (b[k] < a[k]) & (b[k] > 0);
        compared += (a[k] > 0) & (b[k] > 0);
    }
    return (struct pair){above, below, compared};
}

/* The same where no ballot has a tie or a rank of 0: one comparison settles a pair. */
static INSIDE struct pair weigh_strict(const int16_t *a, const int16_t *b, int64_t m, const int64_t *weights,
                                       int64_t total)
{
    int64_t above = 0;
    for (int64_t k = 0; k < m; k++)
        above += weights[k] & -(int64_t)(a[k] < b[k]);
    return (struct pair){above, total - above, total};
}

static INSIDE struct pair count_strict(const int16_t *a, const int16_t *b, int64_t m)
{
    uint16_t above = 0;
    for (int64_t k = 0; k < m; k++)
        above += a[k] < b[k];
    return (struct pair){above, m - above, m};
}

/* Add the m < 2^16 ballots from `start` on, over n items, to `doubled`: entry (i, j) grows by twice the weight of the
   ballots that place i above j, and by once the weight of those that tie them.

   `ranks` has one row of `all` ballots per item. `ones`: every weight is 1. `strict`: no ballot has a tie or a rank of
   0. */
WIDE LOOP int64_t add_pairs(const int16_t *ranks, int64_t n, int64_t all, int64_t start, int64_t m,
                            const int64_t *weights, int64_t ones, int64_t strict, int64_t *doubled)
{
    int64_t total = 0;
    for (int64_t k = 0; k < m; k++)
        total += weights[k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            const int16_t *a = ranks + i * all + start, *b = ranks + j * all + start;
            struct pair found = strict ? ones ? count_strict(a, b, m) : weigh_strict(a, b, m, weights, total)
                                       : ones ? count(a, b, m) : weigh(a, b, m, weights);
            doubled[i * n + j] += found.compared + found.above - found.below;
            doubled[j * n + i] += found.compared + found.below - found.above;
        }
    return 0;
}

/* The plain way to count pairwise wins, as a yardstick: one double loop for each ballot, one thread. */

#include <stdint.h>

/* ranks: m x n, row by row, 1 is best, no ties; wins: n x n, set to zero by the caller. */
void count_from_ranks(const int16_t *ranks, int64_t m, int64_t n, int64_t *wins)
{
    for (int64_t b = 0; b < m; b++) {
        const int16_t *rank = ranks + b * n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                int64_t above = rank[i] < rank[j];
                wins[i * n + j] += above;
                wins[j * n + i] += 1 - above;
            }
    }
}

/* orders: m x n, row by row, items from 0, best first; wins as above. */
void count_from_orders(const int16_t *orders, int64_t m, int64_t n, int64_t *wins)
{
    for (int64_t b = 0; b < m; b++) {
        const int16_t *order = orders + b * n;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                wins[order[i] * n + order[j]]++;
    }
}

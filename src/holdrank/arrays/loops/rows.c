/* Rows of ballots: their ranks without gaps, and which of them are equal. */

#include "loops.h"

#define FEW 62 /* ranks up to this many are marked by the bits of one number */
#define AHEAD 32 /* rows whose places in the table are asked for before they are needed */
#if defined(__GNUC__)
#define FETCH(address) __builtin_prefetch(address)
#else
#define FETCH(address) ((void)0)
#endif

/* Sort numbers, in runs of eight by insertion, then by merging the runs; `room` holds as many. */
static void sort_numbers(int64_t *numbers, int64_t n, int64_t *room)
{
    for (int64_t start = 0; start < n; start += 8)
        for (int64_t i = start + 1; i < n && i < start + 8; i++) {
            int64_t value = numbers[i], at = i;
            for (; at > start && numbers[at - 1] > value; at--)
                numbers[at] = numbers[at - 1];
            numbers[at] = value;
        }
    int64_t *here = numbers, *there = room;
    for (int64_t width = 8; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = start + width < n ? start + width : n;
            int64_t end = start + 2 * width < n ? start + 2 * width : n;
            int64_t left = start, right = middle;
            for (int64_t at = start; at < end; at++)
                there[at] = left < middle && (right >= end || here[left] <= here[right]) ? here[left++] : here[right++];
        }
        int64_t *swap = here;
        here = there;
        there = swap;
    }
    if (here != numbers)
        memcpy(numbers, here, (size_t)n * sizeof(int64_t));
}

/* Replace the positive numbers of each row by 1, 2, ... in their order, equal numbers alike; none is below 0. */
LOOP int64_t rank_rows(const int64_t *numbers, int64_t m, int64_t n, int32_t *ranks)
{
    int64_t *sorted = malloc((size_t)(2 * n + 1) * sizeof(int64_t));
    if (!sorted)
        return -1;
    for (int64_t b = 0; b < m; b++, numbers += n, ranks += n) {
        uint64_t used = 0;
        int64_t largest = 0;
        for (int64_t i = 0; i < n; i++) {
            largest = numbers[i] > largest ? numbers[i] : largest;
            used |= (uint64_t)1 << (numbers[i] & 63);
        }
        used |= 1;
        if (largest <= FEW && (used & (used + 1)) == 0) { /* they are ranks without gaps already */
            for (int64_t i = 0; i < n; i++)
                ranks[i] = (int32_t)numbers[i];
        } else if (largest <= FEW) {
            int32_t rank_of[FEW + 1], next = 0;
            for (int64_t value = 0; value <= largest; value++)
                rank_of[value] = value && used >> value & 1 ? ++next : 0;
            for (int64_t i = 0; i < n; i++)
                ranks[i] = rank_of[numbers[i]];
        } else {
            int64_t distinct = 0;
            memcpy(sorted, numbers, (size_t)n * sizeof(int64_t));
            sort_numbers(sorted, n, sorted + n);
            for (int64_t i = 0; i < n; i++)
                if (sorted[i] > 0 && (distinct == 0 || sorted[i] != sorted[distinct - 1]))
                    sorted[distinct++] = sorted[i];
            for (int64_t i = 0; i < n; i++) {
                int64_t low = 0, high = distinct; /* how many are at most this number */
                while (low < high) {
                    int64_t middle = (low + high) / 2;
                    if (sorted[middle] <= numbers[i])
                        low = middle + 1;
                    else
                        high = middle;
                }
                ranks[i] = (int32_t)low;
            }
        }
    }
    free(sorted);
    return 0;
}

/* Whether every row holds 1, 2, ... up to some number, each once or more, and zeros; no number is above 62 or below 0. */
LOOP int64_t hold_ranks(const int16_t *numbers, int64_t m, int64_t n)
{
    for (int64_t b = 0; b < m; b++, numbers += n) {
        uint64_t used = 1;
        for (int64_t i = 0; i < n; i++)
            used |= (uint64_t)1 << (numbers[i] & 63);
        if (used & (used + 1))
            return 0;
    }
    return 1;
}

/* Return a number that rows of `width` bytes have in common if they are equal, and hardly ever otherwise. */
static uint64_t print_of(const uint8_t *row, int64_t width, uint64_t key, uint64_t odd)
{
    uint64_t print = key;
    int64_t at = 0;
    for (; at + 8 <= width; at += 8) {
        uint64_t word;
        memcpy(&word, row + at, 8);
        print = (print ^ word) * odd;
        print ^= print >> 29;
    }
    for (; at < width; at++) {
        print = (print ^ row[at]) * odd;
        print ^= print >> 29;
    }
    print = (print ^ key) * 0x9E3779B97F4A7C15u;
    return print ^ print >> 32;
}

/* Fill the group of every row of `width` bytes and the first row of each group; groups are numbered as they first occur.
   Return how many there are. The keys, two random numbers, keep anyone from choosing rows that meet in the table. */
LOOP int64_t group_rows(const uint8_t *rows, int64_t m, int64_t width, int64_t key, int64_t other, int64_t *first,
                        int64_t *label)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)m)
        size *= 2;
    int64_t *table = malloc(size * sizeof(int64_t)), groups = 0;
    uint64_t *prints = malloc((size_t)(m + 1) * sizeof(uint64_t)); /* of each group, so that few rows are compared */
    if (!table || !prints) {
        free(table);
        free(prints);
        return -1;
    }
    memset(table, 0xff, size * sizeof(int64_t));
    uint64_t ahead[AHEAD];
    for (int64_t b = 0; b < m; b++) {
        if (b % AHEAD == 0)
            for (int64_t k = 0; k < AHEAD && b + k < m; k++) {
                ahead[k] = print_of(rows + (b + k) * width, width, (uint64_t)key, (uint64_t)other | 1);
                FETCH(table + (ahead[k] & (size - 1)));
            }
        const uint8_t *row = rows + b * width;
        uint64_t print = ahead[b % AHEAD], slot = print & (size - 1);
        int64_t group;
        while ((group = table[slot]) >= 0
               && (prints[group] != print || memcmp(rows + first[group] * width, row, (size_t)width)))
            slot = (slot + 1) & (size - 1);
        if (group < 0) {
            group = table[slot] = groups++;
            prints[group] = print;
            first[group] = b;
        }
        label[b] = group;
    }
    free(table);
    free(prints);
    return groups;
}

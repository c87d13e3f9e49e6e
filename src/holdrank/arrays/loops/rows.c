/* Rows of ballots: their ranks without gaps, and which of them are equal. */

#include "loops.h"

#define FEW 62 /* ranks up to this many are marked by the bits of one number */
typedef int32_t narrow_lanes __attribute__((vector_size(32))); /* a register */
typedef int64_t wide_lanes __attribute__((vector_size(32)));
#define MORE 24 /* numbers in three registers */
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

/* How many bits are set. */
static INSIDE int32_t bits_of(uint64_t word)
{
#if defined(__GNUC__)
    return __builtin_popcountll(word);
#else
    int32_t count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
#endif
}

/* Close the gaps of a row of numbers from 0 to 62: a rank is the number of distinct positive numbers up to its own. */
static INSIDE void close_few(const int32_t *numbers, int64_t n, int16_t *ranks)
{
    uint64_t used = 1;
    for (int64_t i = 0; i < n; i++)
        used |= (uint64_t)1 << numbers[i];
    if ((used & (used + 1)) == 0) /* they are ranks without gaps already */
        for (int64_t i = 0; i < n; i++)
            ranks[i] = (int16_t)numbers[i];
    else
        for (int64_t i = 0; i < n; i++)
            ranks[i] = (int16_t)(bits_of(used & (((uint64_t)2 << numbers[i]) - 1)) - 1);
}

/* The same for any numbers of few items: how many others are no larger has the same order, and is a small number. Three
   registers are compared with one number at a time. There is room in `small` for n numbers and MORE. */
#define CLOSE_BY_COUNTING(name, number, lanes) \
    static INSIDE void name(const number *numbers, int64_t n, int32_t *small, int16_t *ranks) \
    { \
        enum { LANES = sizeof(lanes) / sizeof(number) }; \
        number some[3 * LANES] = {0}; \
        int32_t zeros = 0; \
        for (int64_t i = 0; i < n; i++) \
            zeros += numbers[i] == 0; \
        for (int64_t start = 0; start < n; start += 3 * LANES) { \
            lanes one, two, three, first, second, third; \
            for (int64_t i = 0; i < 3 * LANES && start + i < n; i++) \
                some[i] = numbers[start + i]; \
            memcpy(&one, some, sizeof one); \
            memcpy(&two, some + LANES, sizeof two); \
            memcpy(&three, some + 2 * LANES, sizeof three); \
            first = second = third = (lanes){0} - zeros; \
            for (int64_t j = 0; j < n; j++) { \
                first -= one >= numbers[j]; \
                second -= two >= numbers[j]; \
                third -= three >= numbers[j]; \
            } \
            for (int64_t i = 0; i < LANES; i++) { \
                small[start + i] = (int32_t)first[i]; \
                small[start + LANES + i] = (int32_t)second[i]; \
                small[start + 2 * LANES + i] = (int32_t)third[i]; \
            } \
        } \
        int32_t sum = 0; \
        for (int64_t i = 0; i < n; i++) { \
            sum += small[i]; \
            ranks[i] = (int16_t)small[i]; \
        } \
        if (2 * sum != (n - zeros) * (n - zeros + 1)) /* some are equal */ \
            close_few(small, n, ranks); \
    }
CLOSE_BY_COUNTING(close_narrow, int32_t, narrow_lanes)
CLOSE_BY_COUNTING(close_wide, int64_t, wide_lanes)

/* The same for numbers that are not much larger than n, by a table of those that occur. */
static void close_by_table(const int64_t *numbers, int64_t n, int64_t largest, int64_t *table, int16_t *ranks)
{
    memset(table, 0, (size_t)(largest + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < n; i++)
        table[numbers[i]] = 1;
    table[0] = 0;
    for (int64_t value = 1; value <= largest; value++)
        table[value] += table[value - 1];
    for (int64_t i = 0; i < n; i++)
        ranks[i] = numbers[i] ? (int16_t)table[numbers[i]] : 0;
}

/* The same for any numbers, by sorting them. */
static void close_by_sorting(const int64_t *numbers, int64_t n, int64_t *sorted, int16_t *ranks)
{
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
        ranks[i] = (int16_t)low;
    }
}

/* Replace the positive numbers of each row by 1, 2, ... in their order, equal numbers alike; none is below 0, and there
   are fewer than 32767 in a row. */
WIDE LOOP int64_t rank_rows(const int64_t *numbers, int64_t m, int64_t n, int16_t *ranks)
{
    int64_t *room = malloc((size_t)(2 * n + FEW + 2) * sizeof(int64_t));
    int32_t *narrow = malloc((size_t)(2 * n + MORE) * sizeof(int32_t));
    if (!room || !narrow) {
        free(room);
        free(narrow);
        return -1;
    }
    for (int64_t b = 0; b < m; b++, numbers += n, ranks += n) {
        int64_t largest = 0;
        for (int64_t i = 0; i < n; i++) {
            largest = numbers[i] > largest ? numbers[i] : largest;
            narrow[i] = (int32_t)numbers[i];
        }
        if (largest <= FEW)
            close_few(narrow, n, ranks);
        else if (n <= FEW && largest <= INT32_MAX)
            close_narrow(narrow, n, narrow + n, ranks);
        else if (n <= FEW)
            close_wide(numbers, n, narrow, ranks);
        else if (largest <= 2 * n + FEW)
            close_by_table(numbers, n, largest, room, ranks);
        else
            close_by_sorting(numbers, n, room, ranks);
    }
    free(room);
    free(narrow);
    return 0;
}

/* The same for narrow numbers of at most 62 items. */
WIDE LOOP int64_t rank_few(const int32_t *numbers, int64_t m, int64_t n, int16_t *ranks)
{
    int32_t room[FEW + MORE];
    for (int64_t b = 0; b < m; b++, numbers += n, ranks += n) {
        int32_t largest = 0;
        for (int64_t i = 0; i < n; i++)
            largest = numbers[i] > largest ? numbers[i] : largest;
        if (largest <= FEW)
            close_few(numbers, n, ranks);
        else
            close_narrow(numbers, n, room, ranks);
    }
    return 0;
}

/* Fill how many numbers of each row are not 0. */
WIDE LOOP int64_t count_listed(const int16_t *ranks, int64_t m, int64_t n, int64_t *listed)
{
    for (int64_t b = 0; b < m; b++, ranks += n) {
        int32_t count = 0;
        for (int64_t i = 0; i < n; i++)
            count += ranks[i] != 0;
        listed[b] = count;
    }
    return 0;
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
   Return how many there are. The keys, two random numbers, keep anyone from choosing rows that meet in the table. The
   table has a power of two as its size, more than m; prints of groups, m, keep most rows from being compared. */
LOOP int64_t group_rows(const uint8_t *rows, int64_t m, int64_t width, int64_t key, int64_t other, int64_t *table,
                        int64_t size, int64_t *prints, int64_t *first, int64_t *label)
{
    int64_t groups = 0, last = size - 1;
    memset(table, 0xff, (size_t)size * sizeof(int64_t));
    uint64_t ahead[AHEAD];
    for (int64_t b = 0; b < m; b++) {
        if (b % AHEAD == 0)
            for (int64_t k = 0; k < AHEAD && b + k < m; k++) {
                ahead[k] = print_of(rows + (b + k) * width, width, (uint64_t)key, (uint64_t)other | 1);
                FETCH(table + (ahead[k] & (uint64_t)last));
            }
        const uint8_t *row = rows + b * width;
        int64_t print = (int64_t)ahead[b % AHEAD], slot = print & last, group;
        while ((group = table[slot]) >= 0
               && (prints[group] != print || memcmp(rows + first[group] * width, row, (size_t)width)))
            slot = (slot + 1) & last;
        if (group < 0) {
            group = table[slot] = groups++;
            prints[group] = print;
            first[group] = b;
        }
        label[b] = group;
    }
    return groups;
}

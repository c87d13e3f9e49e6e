/* Orders that grow item by item: which sets can stand first in an order that costs little enough. All in whole numbers. */

#include "loops.h"

enum { MOST_WORDS = 32, MOST_IN_CUT = 10, BATCH = 16, NIBBLE = 4, NIBBLES = 16 };

static inline int64_t has(const uint64_t *set, int64_t item)
{
    return (int64_t)(set[item >> 6] >> (item & 63) & 1);
}

/* Two numbers in one, to be added up at one go: `high` fits into 31 bits, `low` into 31 bits with a sign. */
static inline int64_t packed(int64_t high, int64_t low)
{
    return high * ((int64_t)1 << 32) + low;
}

static inline int64_t low_of(int64_t both)
{
    return (int32_t)(uint32_t)(uint64_t)both;
}

static inline int64_t high_of(int64_t both)
{
    return (both - low_of(both)) / ((int64_t)1 << 32);
}

static inline int64_t first_slot(const uint64_t *set, int64_t words, int64_t mask)
{
    uint64_t mixed = 0;
    for (int64_t w = 0; w < words; w++) {
        mixed = (mixed ^ set[w]) * 0x9E3779B97F4A7C15ull;
        mixed ^= mixed >> 32;
    }
    mixed *= 0xBF58476D1CE4E5B9ull;
    return (int64_t)((mixed ^ (mixed >> 29)) & (uint64_t)mask);
}

/* The slot of a set, from the first on that may hold it: the number of its state plus one, or 0 where it is to enter. */
static inline int64_t slot_of(const uint64_t *sets, const int32_t *slots, int64_t slot, int64_t mask, const uint64_t *set,
                              int64_t words)
{
    while (slots[slot] && memcmp(sets + (slots[slot] - 1) * words, set, (size_t)words * sizeof(uint64_t)))
        slot = (slot + 1) & mask;
    return slot;
}

/* Enter the states `from` to `to` - 1 in a table of slots that does not have them. */
LOOP int64_t enter_prefixes(int64_t n, const int64_t *states, int64_t from, int64_t to, int32_t *slots, int64_t mask)
{
    int64_t words = (n + 63) / 64;
    const uint64_t *sets = (const uint64_t *)states;
    for (int64_t state = from; state < to; state++) {
        int64_t slot = first_slot(sets + state * words, words, mask);
        while (slots[slot])
            slot = (slot + 1) & mask;
        slots[slot] = (int32_t)(state + 1);
    }
    return to - from;
}

/* The largest weight of the pairs in order that an order of each subset of k items can have. */
static void heaviest_orders(int64_t k, const int64_t *weights, int64_t *heaviest)
{
    heaviest[0] = 0;
    for (int64_t set = 1; set < (int64_t)1 << k; set++) {
        int64_t most = INT64_MIN;
        for (int64_t first = 0; first < k; first++) {
            if (!(set >> first & 1))
                continue;
            int64_t total = heaviest[set ^ (int64_t)1 << first];
            for (int64_t then = first + 1; then < k; then++)
                total += set >> then & 1 ? weights[first * k + then] : 0;
            most = total > most ? total : most;
        }
        heaviest[set] = most;
    }
}

/* The most that the pairs i < j of k items, each counted with its weight where i comes first, can add up to. */
LOOP int64_t heaviest_order(int64_t k, const int64_t *weights)
{
    int64_t heaviest[1 << MOST_IN_CUT];
    heaviest_orders(k, weights, heaviest);
    return heaviest[((int64_t)1 << k) - 1];
}

/* What a row "weights <= limit" on k items charges, at a price, when items join a prefix: lines of k for each subset of
   them that is in the prefix. `inside`: what the order of the prefix loses against the best one of the same items.
   `across`: the change of what the best order with this prefix loses beyond that. */
LOOP int64_t charge_prefixes(int64_t k, const int64_t *weights, int64_t limit, int64_t price, int64_t *inside,
                             int64_t *across)
{
    int64_t heaviest[1 << MOST_IN_CUT], beyond[1 << MOST_IN_CUT], all = ((int64_t)1 << k) - 1;
    heaviest_orders(k, weights, heaviest);
    for (int64_t set = 0; set <= all; set++) {
        int64_t total = limit - heaviest[set] - heaviest[all ^ set];
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = i + 1; j < k; j++)
                total -= (set >> i & 1) && !(set >> j & 1) ? weights[i * k + j] : 0;
        beyond[set] = total;
    }
    for (int64_t set = 0; set <= all; set++)
        for (int64_t item = 0; item < k; item++) {
            int64_t at = set * k + item, larger = set | (int64_t)1 << item;
            inside[at] = across[at] = 0;
            if (larger == set)
                continue;
            int64_t loss = heaviest[larger] - heaviest[set];
            for (int64_t before = 0; before < item; before++)
                loss -= set >> before & 1 ? weights[before * k + item] : 0;
            inside[at] = price * loss;
            across[at] = price * (beyond[larger] - beyond[set]);
        }
    return beyond[0];
}

/* Share out rows over groups of at most `together` items that contain all of theirs; return how many groups there are.
   Row r has the items starts[r] to starts[r + 1] - 1, and joins the group that it makes least larger. */
LOOP int64_t group_charges(int64_t n, int64_t rows, const int64_t *starts, const int64_t *row_items, int64_t together,
                           int64_t *group_of, int64_t *group_items)
{
    int64_t words = (n + 63) / 64, groups = 0, *sizes = malloc((size_t)(rows + 1) * sizeof(int64_t));
    uint64_t *members = calloc((size_t)(rows + 1) * (size_t)words, sizeof(uint64_t));
    if (!sizes || !members) {
        free(sizes);
        free(members);
        return -1;
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t best = groups, least = together + 1;
        for (int64_t group = 0; group < groups && least; group++) {
            int64_t more = 0;
            for (int64_t at = starts[row]; at < starts[row + 1]; at++)
                more += !has(members + group * words, row_items[at]);
            if (more < least && sizes[group] + more <= together) {
                least = more;
                best = group;
            }
        }
        if (best == groups) {
            sizes[groups++] = 0;
            for (int64_t i = 0; i < together; i++)
                group_items[best * together + i] = n; /* no item */
        }
        for (int64_t at = starts[row]; at < starts[row + 1]; at++) {
            int64_t item = row_items[at];
            if (has(members + best * words, item))
                continue;
            members[best * words + (item >> 6)] |= (uint64_t)1 << (item & 63);
            group_items[best * together + sizes[best]++] = item;
        }
        group_of[row] = best;
    }
    free(sizes);
    free(members);
    return groups;
}

/* Add what a row charges to the table of its group, whose items have numbers 0 to `together` - 1; `places` are those of the
   row's items. A charge of more than `most` is as good as one more than that. */
LOOP int64_t join_charges(int64_t k, const int64_t *inside, const int64_t *across, const int64_t *places, int64_t most,
                          int64_t together, int64_t *table)
{
    int64_t both[MOST_IN_CUT << MOST_IN_CUT];
    for (int64_t at = 0; at < k << k; at++) {
        int64_t loss = 2 * inside[at] + across[at];
        both[at] = loss > most ? packed(most + 1, 0) : packed(loss, across[at]);
    }
    for (int64_t set = 0; set < (int64_t)1 << together; set++) {
        int64_t part = 0;
        for (int64_t i = 0; i < k; i++)
            part |= (set >> places[i] & 1) << i;
        for (int64_t i = 0; i < k; i++)
            table[set * together + places[i]] += both[part * k + i];
    }
    return 0;
}

/* The same for triangles, three places and a price per line: of the orders abc, bca and cab the middle item is charged. */
LOOP int64_t join_triangles(int64_t count, const int64_t *lines, const int64_t *group_of, int64_t most, int64_t together,
                            int64_t *tables)
{
    for (int64_t t = 0; t < count; t++) {
        int64_t *table = tables + group_of[t] * (together << together);
        int64_t charge = packed(2 * lines[4 * t + 3] > most ? most + 1 : 2 * lines[4 * t + 3], 0);
        for (int64_t turn = 0; turn < 3; turn++) {
            int64_t a = lines[4 * t + turn], b = lines[4 * t + (turn + 1) % 3], c = lines[4 * t + (turn + 2) % 3];
            for (int64_t set = 0; set < (int64_t)1 << together; set++)
                if ((set >> a & 1) && !(set >> b & 1) && !(set >> c & 1))
                    table[set * together + b] += charge;
        }
    }
    return 0;
}

/* What an item is charged for its deviations when it joins a set: a table for each four items, with a line for each of
   their subsets; the lines of a set add up. */
LOOP int64_t charge_deviations(int64_t n, const int64_t *deviations, int64_t *tables)
{
    for (int64_t item = 0; item < n; item++) {
        int64_t first = 0; /* before all others */
        for (int64_t u = 0; u < n; u++)
            first += u == item ? 0 : packed(deviations[item * n + u], deviations[item * n + u]);
        for (int64_t start = 0; start < n; start += NIBBLE)
            for (int64_t part = 0; part < NIBBLES; part++) {
                int64_t total = start ? 0 : first;
                for (int64_t u = start; u < start + NIBBLE && u < n; u++) {
                    int64_t behind = deviations[item * n + u], before = deviations[u * n + item];
                    total += part >> (u - start) & 1 ? packed(before, -before) - packed(behind, behind) : 0;
                }
                tables[(start / NIBBLE * NIBBLES + part) * n + item] = total;
            }
    }
    return 0;
}

/* Add up what each item is charged when it joins each of `count` sets: lines of n + 1, the last number belongs to no item. */
static inline void add_charges(int64_t n, int64_t count, const uint64_t *sets, const int64_t *by_deviations, int64_t groups,
                               int64_t together, const int64_t *group_items, const int64_t *group_tables, uint16_t *in,
                               int64_t *charges)
{
    int64_t words = (n + 63) / 64;
    uint16_t part[BATCH];
    for (int64_t s = 0; s < count; s++) {
        int64_t *line = charges + s * (n + 1);
        memset(line, 0, (size_t)(n + 1) * sizeof(int64_t));
        for (int64_t u = 0; u < n; u++)
            in[u * BATCH + s] = has(sets + s * words, u) ? UINT16_MAX : 0;
        for (int64_t start = 0; start < n; start += NIBBLE) {
            int64_t which = (int64_t)(sets[s * words + (start >> 6)] >> (start & 63) & (NIBBLES - 1));
            const int64_t *add = by_deviations + (start / NIBBLE * NIBBLES + which) * n;
            for (int64_t u = 0; u < n; u++)
                line[u] += add[u];
        }
    }
    for (int64_t group = 0; group < groups; group++) {
        const int64_t *items = group_items + group * together, *table = group_tables + group * (together << together);
        memset(part, 0, sizeof part);
        for (int64_t i = 0; i < together; i++)
            for (int64_t s = 0; s < BATCH; s++)
                part[s] |= in[items[i] * BATCH + s] & (uint16_t)(1 << i);
        for (int64_t s = 0; s < count; s++) {
            const int64_t *add = table + part[s] * together;
            int64_t *line = charges + s * (n + 1);
            for (int64_t i = 0; i < together; i++)
                line[items[i]] += add[i];
        }
    }
}

/* Add every item that may come next to each of the states `from` to `to` - 1, prefixes of one length; return how many
   states there are then, or -2 when there is no room for more.

   A state is a set of items with the least of 2 * inside + across over its orders, and with across. inside: what the order
   inside the set is known to lose; across: what it loses for any orders inside the set and behind it. An order of
   all items loses inside of each of its prefixes, across of it, and what the order of the rest loses inside.

       for each state, for each item that may come next:
           add what the item is charged for its deviations and by rows, from tables
           keep the new set unless it loses too much: by `most_so_far`, or together with the rest, which loses
           what the table of the other end says, or more than `other_most` if it is not there                       */
LOOP int64_t grow_prefixes(int64_t n, const int64_t *by_deviations, const int64_t *first, int64_t groups, int64_t together,
                           const int64_t *group_items, const int64_t *group_tables, int64_t from, int64_t to,
                           int64_t count, int64_t room, int64_t *states, int32_t *losses, int32_t *across, int16_t *last,
                           int32_t *slots, int64_t mask, int64_t most_so_far, int64_t most, int64_t other_most,
                           const int64_t *other_states, const int32_t *other_losses, const int32_t *other_slots,
                           int64_t other_mask)
{
    int64_t words = (n + 63) / 64;
    uint64_t *sets = (uint64_t *)states;
    const uint64_t *needed = (const uint64_t *)first, *others = (const uint64_t *)other_states;
    uint16_t *in = calloc((size_t)(n + 1) * BATCH, sizeof(uint16_t));
    int64_t *charges = malloc((size_t)(n + 1) * BATCH * sizeof(int64_t));
    if (!in || !charges)
        count = -1;
    for (int64_t begin = from; begin < to && count >= 0; begin += BATCH) {
        int64_t end = begin + BATCH < to ? begin + BATCH : to;
        const uint64_t *batch = sets + begin * words;
        if (together == 8) /* a number known to the compiler makes it fast */
            add_charges(n, end - begin, batch, by_deviations, groups, 8, group_items, group_tables, in, charges);
        else
            add_charges(n, end - begin, batch, by_deviations, groups, 10, group_items, group_tables, in, charges);
        for (int64_t state = begin; state < end && count >= 0; state++) {
            const uint64_t *set = sets + state * words;
            for (int64_t item = 0; item < n; item++) {
                int64_t charge = charges[(state - begin) * (n + 1) + item];
                int64_t crosses = across[state] + low_of(charge), loss = losses[state] + high_of(charge);
                if (loss > most_so_far || loss + crosses > most || has(set, item))
                    continue;
                uint64_t missing = 0, grown[MOST_WORDS], rest[MOST_WORDS];
                for (int64_t w = 0; w < words; w++)
                    missing |= needed[item * words + w] & ~set[w];
                if (missing)
                    continue;
                memcpy(grown, set, (size_t)words * sizeof(uint64_t));
                grown[item >> 6] |= (uint64_t)1 << (item & 63);
                if (loss + other_most >= most) { /* else the rest need not be known */
                    for (int64_t w = 0; w < words; w++)
                        rest[w] = ~grown[w];
                    if (n & 63)
                        rest[words - 1] &= ((uint64_t)1 << (n & 63)) - 1;
                    int64_t at = first_slot(rest, words, other_mask);
                    int64_t known = other_slots[slot_of(others, other_slots, at, other_mask, rest, words)];
                    if (!known || loss + other_losses[known - 1] > most)
                        continue;
                }
                int64_t slot = slot_of(sets, slots, first_slot(grown, words, mask), mask, grown, words);
                int64_t number = slots[slot] - 1;
                if (number < 0) {
                    if (count == room) {
                        count = -2;
                        break;
                    }
                    number = count++;
                    slots[slot] = (int32_t)count;
                    memcpy(sets + number * words, grown, (size_t)words * sizeof(uint64_t));
                    across[number] = (int32_t)crosses;
                } else if (loss >= losses[number])
                    continue;
                losses[number] = (int32_t)loss;
                last[number] = (int16_t)item;
            }
        }
    }
    free(in);
    free(charges);
    return count;
}

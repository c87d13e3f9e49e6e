/* Orders that grow item by item: which sets can stand first in an order that costs little enough. All in whole numbers. */

#include "loops.h"

enum { MOST_WORDS = 8, MOST_ITEMS = 512, MOST_IN_CUT = 10 };

static inline int64_t has(const uint64_t *set, int64_t item)
{
    return (int64_t)(set[item >> 6] >> (item & 63) & 1);
}

/* The slot of a set in a table of slots: the number of its state plus one, or 0 where it is to be entered. */
static int64_t slot_of(const uint64_t *sets, const int64_t *slots, int64_t mask, const uint64_t *set, int64_t words)
{
    uint64_t mixed = 0;
    for (int64_t w = 0; w < words; w++) {
        mixed = (mixed ^ set[w]) * 0x9E3779B97F4A7C15ull;
        mixed ^= mixed >> 32;
    }
    mixed *= 0xBF58476D1CE4E5B9ull;
    int64_t slot = (int64_t)((mixed ^ (mixed >> 29)) & (uint64_t)mask);
    while (slots[slot] && memcmp(sets + (slots[slot] - 1) * words, set, (size_t)words * sizeof(uint64_t)))
        slot = (slot + 1) & mask;
    return slot;
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

/* Add every item that may come next to each of the states `from` to `to` - 1, prefixes of one length; return how many
   states there are then, or -2 when there is no room for more.

   A state is a set of items with the least of 2 * inside + across over its orders, and with across. inside: what the order
   inside the set is known to lose; across: what it loses whatever the orders inside the set and behind it. An order of
   all items loses inside of each of its prefixes, across of it, and what the order of the rest loses inside.

       for each state, for each item that may come next:
           add the deviations of the item behind the set and before the rest
           add the triangles with one item in the set and one behind, and the rows on a few items
           keep the new set unless it loses too much: by `most_so_far`, or together with the rest, which loses
           what the table of the other end says, or more than `other_most` if it is not there                       */
LOOP int64_t grow_prefixes(int64_t n, const int64_t *deviations, const int64_t *starts, const int64_t *triangles,
                           const int64_t *first, int64_t cuts, const int64_t *cut_sizes, const int64_t *cut_items,
                           const int64_t *cut_inside, const int64_t *cut_across, int64_t from, int64_t to, int64_t count,
                           int64_t room, int64_t *states, int64_t *losses, int64_t *across, int64_t *last,
                           int64_t *slots, int64_t mask, int64_t most_so_far, int64_t most, int64_t other_most,
                           const int64_t *other_states, const int64_t *other_losses, const int64_t *other_slots,
                           int64_t other_mask)
{
    int64_t words = (n + 63) / 64, in[MOST_ITEMS], more[MOST_ITEMS], crossing[MOST_ITEMS];
    uint64_t *sets = (uint64_t *)states;
    for (int64_t state = from; state < to; state++) {
        const uint64_t *set = sets + state * words;
        for (int64_t u = 0; u < n; u++) {
            in[u] = -has(set, u);
            more[u] = crossing[u] = 0;
        }
        const int64_t *inside = cut_inside, *beyond = cut_across;
        const int64_t *items = cut_items;
        for (int64_t cut = 0; cut < cuts; cut++) {
            int64_t k = cut_sizes[cut], part = 0;
            for (int64_t i = 0; i < k; i++)
                part |= (in[items[i]] & 1) << i;
            for (int64_t i = 0; i < k; i++) {
                more[items[i]] += 2 * inside[part * k + i];
                crossing[items[i]] += beyond[part * k + i];
            }
            items += k;
            inside += k << k;
            beyond += k << k;
        }
        for (int64_t item = 0; item < n; item++) {
            const uint64_t *needed = (const uint64_t *)first + item * words;
            uint64_t missing = has(set, item) ? 1 : 0, grown[MOST_WORDS], rest[MOST_WORDS];
            for (int64_t w = 0; w < words; w++)
                missing |= needed[w] & ~set[w];
            if (missing)
                continue;
            const int64_t *to_rest = deviations + item * n, *from_set = deviations + (n + item) * n;
            int64_t added = 0, dropped = 0;
            for (int64_t u = 0; u < n; u++) {
                added += to_rest[u] & ~in[u];
                dropped += from_set[u] & in[u];
            }
            int64_t crosses = across[state] + crossing[item] + added - dropped;
            int64_t loss = losses[state] + more[item] + crossing[item] + added + dropped;
            if (loss > most_so_far || loss + crosses > most)
                continue;
            for (int64_t t = starts[item]; t < starts[item + 1]; t++)
                loss += triangles[3 * t + 2] & in[triangles[3 * t]] & ~in[triangles[3 * t + 1]];
            if (loss > most_so_far || loss + crosses > most)
                continue;
            memcpy(grown, set, (size_t)words * sizeof(uint64_t));
            grown[item >> 6] |= (uint64_t)1 << (item & 63);
            if (other_mask) {
                for (int64_t w = 0; w < words; w++)
                    rest[w] = ~grown[w];
                if (n & 63)
                    rest[words - 1] &= ((uint64_t)1 << (n & 63)) - 1;
                int64_t known = other_slots[slot_of((const uint64_t *)other_states, other_slots, other_mask, rest, words)];
                if (loss + (known ? other_losses[known - 1] : other_most + 1) > most)
                    continue;
            }
            int64_t slot = slot_of(sets, slots, mask, grown, words), number = slots[slot] - 1;
            if (number < 0) {
                if (count == room)
                    return -2;
                number = count++;
                slots[slot] = count;
                memcpy(sets + number * words, grown, (size_t)words * sizeof(uint64_t));
                across[number] = crosses;
            } else if (loss >= losses[number])
                continue;
            losses[number] = loss;
            last[number] = item;
        }
    }
    return count;
}

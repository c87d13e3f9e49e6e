/* Sets of items up to the symmetries of a matrix, and the cheapest order of each. All in whole numbers. */

#include "loops.h"

enum { MOST_ITEMS = 32, BYTES = 4, VALUES = 256, VALUE_BITS = 31 };

/* Symmetries as tables, one per byte of a set: the image of a set is the union of those of its bytes. Those from `starts[u]`
   to `starts[u + 1]` map item u to the first item of its orbit. */
typedef struct {
    int64_t n;
    const int32_t *cost, *orbit, *tables;
    const int64_t *starts;
} symmetries;

/* The least image of a set among the symmetries that move an item of it with the highest score to the front of its orbit.
   Scores only depend on what symmetries keep, so that all images of a set have the same least image. */
static uint32_t least_image(const symmetries *s, uint32_t set, const int32_t *paid)
{
    int32_t highest = INT32_MIN;
    for (int64_t u = 0; u < s->n; u++)
        if (set >> u & 1 && s->orbit[u] + paid[u] > highest)
            highest = s->orbit[u] + paid[u];
    uint32_t least = set ? UINT32_MAX : 0;
    for (int64_t u = 0; u < s->n; u++) {
        if (!(set >> u & 1) || s->orbit[u] + paid[u] != highest)
            continue;
        for (int64_t g = s->starts[u]; g < s->starts[u + 1]; g++) {
            const int32_t *table = s->tables + g * BYTES * VALUES;
            uint32_t image = 0;
            for (int64_t b = 0; b < BYTES; b++)
                image |= (uint32_t)table[b * VALUES + (set >> 8 * b & 255)];
            least = image < least ? image : least;
        }
    }
    return least;
}

/* What each item pays for the items of a set before it. */
static void pay(const symmetries *s, uint32_t set, int32_t *paid)
{
    memset(paid, 0, (size_t)s->n * sizeof(int32_t));
    for (int64_t i = 0; i < s->n; i++)
        if (set >> i & 1)
            for (int64_t u = 0; u < s->n; u++)
                paid[u] += s->cost[i * s->n + u];
}

/* Replace sets by their least images; `across` gets what each pays for all other items before it. */
LOOP int64_t least_images(int64_t n, const int32_t *cost, const int32_t *orbit, const int32_t *tables,
                          const int64_t *starts, int64_t count, int64_t *sets, int64_t *across)
{
    symmetries s = {n, cost, orbit, tables, starts};
    int32_t paid[MOST_ITEMS], others[MOST_ITEMS];
    uint32_t all = n == MOST_ITEMS ? UINT32_MAX : ((uint32_t)1 << n) - 1;
    for (int64_t k = 0; k < count; k++) {
        uint32_t set = (uint32_t)sets[k];
        pay(&s, set, paid);
        pay(&s, all ^ set, others);
        across[k] = 0;
        for (int64_t u = 0; u < n; u++)
            if (set >> u & 1)
                across[k] += others[u];
        sets[k] = least_image(&s, set, paid);
    }
    return count;
}

/* Add one item to each of `count` sets with their costs, behind the others, and enter the least image of what comes out
   in slots, with the least cost. Return how many slots are taken then, -2 when there are too few. */
LOOP int64_t grow_classes(int64_t n, const int32_t *cost, const int32_t *orbit, const int32_t *tables,
                          const int64_t *starts, int64_t count, const int64_t *layer, int64_t *slots, int64_t mask,
                          int64_t taken)
{
    symmetries s = {n, cost, orbit, tables, starts};
    int32_t paid[MOST_ITEMS], with[MOST_ITEMS];
    for (int64_t k = 0; k < count; k++) {
        uint32_t set = (uint32_t)(layer[k] >> VALUE_BITS);
        int64_t spent = layer[k] & (((int64_t)1 << VALUE_BITS) - 1);
        pay(&s, set, paid);
        for (int64_t v = 0; v < n; v++) {
            if (set >> v & 1)
                continue;
            for (int64_t u = 0; u < n; u++)
                with[u] = paid[u] + cost[v * n + u];
            int64_t least = least_image(&s, set | (uint32_t)1 << v, with);
            int64_t entry = least << VALUE_BITS | (spent + paid[v]);
            int64_t slot = (int64_t)((uint64_t)least * 0x9E3779B97F4A7C15ull >> 32) & mask;
            while (slots[slot] && slots[slot] >> VALUE_BITS != least)
                slot = (slot + 1) & mask;
            if (!slots[slot] && ++taken > mask)
                return -2;
            if (!slots[slot] || entry < slots[slot])
                slots[slot] = entry;
        }
    }
    return taken;
}

/* The assignment problem, by Jonker and Volgenant's method. */

#include "loops.h"

/* Fill the item at each place of a cheapest assignment, and the duals of items and places.

   Duals come from the cheapest item of each place, then some rounds in which items without a place outbid each other,
   and shortest augmenting paths for the items that are left. */
LOOP int64_t assign_places(const double *cost, int64_t n, int64_t *item_at, double *item_dual, double *dual)
{
    int64_t *whole = malloc((size_t)(5 * n + 1) * sizeof(int64_t));
    double *distance = malloc((size_t)(n + 1) * sizeof(double));
    if (!whole || !distance) {
        free(whole);
        free(distance);
        return -1;
    }
    int64_t *place_of = whole, *waiting = whole + n, *via = whole + 2 * n;
    int64_t *open = whole + 3 * n, *spot = whole + 4 * n;
    int64_t count = 0, bids = 0;
    for (int64_t at = 0; at < n; at++)
        item_at[at] = place_of[at] = -1;
    for (int64_t place = 0; place < n; place++) {
        dual[place] = cost[place];
        via[place] = 0; /* the cheapest item */
    }
    for (int64_t item = 1; item < n; item++)
        for (int64_t place = 0; place < n; place++)
            if (cost[item * n + place] < dual[place]) {
                dual[place] = cost[item * n + place];
                via[place] = item;
            }
    for (int64_t place = n - 1; place >= 0; place--)
        if (place_of[via[place]] < 0) {
            place_of[via[place]] = place;
            item_at[place] = via[place];
        }
    for (int64_t item = 0; item < n; item++)
        if (place_of[item] < 0)
            waiting[count++] = item;
    for (int round = 0; round < 2; round++) {
        int64_t at = 0, left = 0;
        while (at < count) {
            int64_t item = waiting[at++], to = -1, other = -1;
            double best = INFINITY, second = INFINITY;
            bids++;
            for (int64_t place = 0; place < n; place++) {
                double reduced = cost[item * n + place] - dual[place];
                if (reduced < best) {
                    second = best;
                    other = to;
                    best = reduced;
                    to = place;
                } else if (reduced < second) {
                    second = reduced;
                    other = place;
                }
            }
            int strictly = best < second;
            if (strictly)
                dual[to] -= second - best;
            else if (item_at[to] >= 0 && other >= 0)
                to = other;
            int64_t loser = item_at[to];
            item_at[to] = item;
            place_of[item] = to;
            if (loser >= 0) {
                place_of[loser] = -1;
                if (strictly && bids < 20 * n)
                    waiting[--at] = loser; /* it bids again at once */
                else
                    waiting[left++] = loser;
            }
        }
        count = left;
    }
    for (int64_t w = 0; w < count; w++) {
        int64_t new = waiting[w], here = 0, left = n;
        for (int64_t place = 0; place < n; place++) {
            distance[place] = cost[new * n + place] - dual[place];
            via[place] = -1;
            open[place] = place;
            spot[place] = place;
            if (distance[place] < distance[here])
                here = place;
        }
        for (;;) {
            /* The places that are settled follow those that are open. */
            int64_t last = open[--left];
            open[spot[here]] = last;
            spot[last] = spot[here];
            open[left] = here;
            int64_t item = item_at[here], next = -1;
            if (item < 0)
                break;
            const double *row = cost + item * n;
            double base = distance[here] - (row[here] - dual[here]), nearest = INFINITY;
            for (int64_t k = 0; k < left; k++) {
                int64_t place = open[k];
                double through = base + row[place] - dual[place];
                if (through < distance[place]) {
                    distance[place] = through;
                    via[place] = here;
                }
                if (distance[place] < nearest || (distance[place] == nearest && place < next)) {
                    nearest = distance[place];
                    next = place;
                }
            }
            here = next;
        }
        for (int64_t k = left; k < n; k++)
            dual[open[k]] -= distance[here] - distance[open[k]];
        while (via[here] >= 0) {
            item_at[here] = item_at[via[here]];
            place_of[item_at[here]] = here;
            here = via[here];
        }
        item_at[here] = new;
        place_of[new] = here;
    }
    for (int64_t item = 0; item < n; item++)
        item_dual[item] = cost[item * n + place_of[item]] - dual[place_of[item]];
    free(whole);
    free(distance);
    return 0;
}

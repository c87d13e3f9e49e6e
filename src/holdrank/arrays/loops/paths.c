/* Short cycles of majorities: what every order must break. */

#include "loops.h"

/* Replace lengths of arcs, INFINITY where there is none, by those of shortest paths; `next` gets the item that follows
   the first one on each. (Floyd and Warshall.) */
LOOP int64_t shortest_paths(double *length, int64_t n, int64_t *next)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            next[i * n + j] = isinf(length[i * n + j]) ? -1 : j;
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++) {
            double first = length[i * n + k];
            if (isinf(first) || i == k)
                continue;
            for (int64_t j = 0; j < n; j++)
                if (first + length[k * n + j] < length[i * n + j] - TINY) {
                    length[i * n + j] = first + length[k * n + j];
                    next[i * n + j] = next[i * n + k];
                }
        }
    return 0;
}

/* Close a cycle by each of some arcs, with the shortest path from its head to its tail; return how many are kept.

   An arc is in at most `most` cycles, and no cycle is kept twice. `widths` gets the number of arcs of each cycle,
   `members` their numbers, one cycle after the other; `room` is how many fit. */
LOOP int64_t pick_cycles(int64_t n, int64_t arcs, const int64_t *tail, const int64_t *head, const int64_t *number,
                         const int64_t *next, int64_t some, const int64_t *closing, int64_t most, int64_t *widths,
                         int64_t *members, int64_t room)
{
    int64_t *used = calloc((size_t)(arcs > 0 ? arcs : 1), sizeof(int64_t));
    uint64_t *seen = malloc((size_t)(some > 0 ? some : 1) * sizeof(uint64_t));
    if (!used || !seen) {
        free(used);
        free(seen);
        return -1;
    }
    int64_t kept = 0, at = 0;
    for (int64_t c = 0; c < some; c++) {
        int64_t arc = closing[c], width = 0, fits = 1, here = head[arc];
        uint64_t key = 0;
        for (int64_t member = arc; fits; here = next[here * n + tail[arc]]) {
            fits = used[member] < most && width < n && at + width < room;
            if (!fits)
                break;
            members[at + width++] = member;
            uint64_t mixed = ((uint64_t)member + 1) * 0x9E3779B97F4A7C15u;
            key += (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9u;
            if (here == tail[arc])
                break;
            if (next[here * n + tail[arc]] < 0) {
                fits = 0;
                break;
            }
            member = number[here * n + next[here * n + tail[arc]]];
        }
        for (int64_t k = 0; k < kept && fits; k++)
            fits = seen[k] != key;
        if (!fits)
            continue;
        for (int64_t k = 0; k < width; k++)
            used[members[at + k]]++;
        seen[kept] = key;
        widths[kept++] = width;
        at += width;
    }
    free(used);
    free(seen);
    return kept;
}

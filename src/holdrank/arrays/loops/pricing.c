/* The prices of target orders for attacks on Kemeny's median; see `holdrank.attacks.kemeny.pricing`.

   The price of a target is the least budget with which it is among the optima. With z what is taken of each column and a
   row for each rival order that must not win, it is a linear program, one that grows by rows:

       minimise cost @ z   over   gain[r] @ z >= need[r] for each rival r,   0 <= z <= cap
       its dual bound      duals @ need - sum over columns of cap * max(0, duals @ gain - cost)                       */

#include "loops.h"

#define NO_GAIN 1e-11 /* of a rival: it does not beat the target */

enum outcome { PRICED, PRUNED, OPEN, HOPELESS };

/* What an attacker may do, as columns: ballots to remove, then what is added. */
struct attacker {
    int64_t n, votes, columns, pairs;
    const int32_t *ranks;  /* of each item in each ballot that may be removed; 0 where it is not compared */
    const int64_t *pair;   /* the number of each pair i < j */
    const double *margin;  /* of i over j, for each pair */
    const double *cap, *cost;
    const double *balance; /* a row that must not be negative, or NULL: added battles need as many removed */
    int swaps;             /* the target is added for each ballot that is removed */
};

/* The program of one target, where the simplex method stands in it, and room to work in. */
struct tableau {
    double *gain, *need;
    int64_t *basis;  /* the basic column of each row; column `columns + i` is the surplus of row i */
    uint8_t *full;   /* which of the other columns take all they can */
    double *duals, *z;
    double *matrix;  /* the basic columns, which become the identity, and beside them their inverse */
    double *left, *basic, *step, *reduced, *ratio;
    int64_t *heap;
};

/* Fill the matrix with the basic columns and their inverse, by Gauss and Jordan; 0 if there is none, numerically. There
   are as many rows as rivals matter, a handful. */
static INSIDE int invert_basis(const struct tableau *t, int64_t columns, int64_t rows)
{
    int64_t wide = 2 * rows;
    double *matrix = t->matrix;
    for (int64_t at = 0; at < rows * wide; at++)
        matrix[at] = 0.0;
    for (int64_t at = 0; at < rows; at++) {
        int64_t column = t->basis[at];
        if (column >= columns)
            matrix[(column - columns) * wide + at] = -1.0;
        else
            for (int64_t i = 0; i < rows; i++)
                matrix[i * wide + at] = t->gain[i * columns + column];
        matrix[at * wide + rows + at] = 1.0;
    }
    for (int64_t at = 0; at < rows; at++) {
        int64_t pivot = at;
        for (int64_t i = at + 1; i < rows; i++)
            if (fabs(matrix[i * wide + at]) > fabs(matrix[pivot * wide + at]))
                pivot = i;
        if (!(fabs(matrix[pivot * wide + at]) >= 1e-11))
            return 0;
        double scale = 1.0 / matrix[pivot * wide + at];
        for (int64_t j = 0; j < wide; j++) {
            double chosen = matrix[pivot * wide + j];
            matrix[pivot * wide + j] = matrix[at * wide + j];
            matrix[at * wide + j] = chosen * scale;
        }
        for (int64_t i = 0; i < rows; i++) {
            double factor = matrix[i * wide + at];
            if (i != at && factor != 0.0)
                for (int64_t j = 0; j < wide; j++)
                    matrix[i * wide + j] -= factor * matrix[at * wide + j];
        }
    }
    return 1;
}

/* Return what `times * cost @ z` is at least, by weak duality; negative duals, which prove nothing, become 0. */
static INSIDE double dual_bound(const struct attacker *a, const struct tableau *t, double times, int64_t rows)
{
    double bound = 0.0;
    for (int64_t i = 0; i < rows; i++) {
        if (t->duals[i] < 0.0)
            t->duals[i] = 0.0;
        bound += t->duals[i] * t->need[i];
    }
    double *worth = t->reduced;
    for (int64_t j = 0; j < a->columns; j++)
        worth[j] = -times * a->cost[j];
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < a->columns; j++)
            worth[j] += t->duals[i] * t->gain[i * a->columns + j];
    for (int64_t j = 0; j < a->columns; j++)
        if (worth[j] > 0)
            bound -= worth[j] * a->cap[j];
    return bound;
}

/* Return the row whose basic column is farthest outside its bounds, or -1, and how far; fill `basic`. The basic columns
   take what is left when the full ones take all they can. */
static INSIDE int64_t leaving_row(const struct attacker *a, const struct tableau *t, int64_t rows, double *worst)
{
    for (int64_t i = 0; i < rows; i++)
        t->left[i] = t->need[i];
    for (int64_t j = 0; j < a->columns; j++)
        if (t->full[j])
            for (int64_t i = 0; i < rows; i++)
                t->left[i] -= a->cap[j] * t->gain[i * a->columns + j];
    int64_t leaving = -1;
    *worst = TINY;
    for (int64_t at = 0; at < rows; at++) {
        double value = 0.0;
        for (int64_t i = 0; i < rows; i++)
            value += t->matrix[at * 2 * rows + rows + i] * t->left[i];
        t->basic[at] = value;
        double outside = -value;
        if (value > 0.0)
            outside = t->basis[at] < a->columns ? value - a->cap[t->basis[at]] : 0.0;
        if (outside > *worst) {
            leaving = at;
            *worst = outside;
        }
    }
    return leaving;
}

/* Move the column at a place of the heap down to where no column below it comes first; of equals the first does. */
static INSIDE void sift_down(int64_t *heap, const double *ratio, int64_t at, int64_t size)
{
    int64_t column = heap[at];
    for (int64_t below = 2 * at + 1; below < size; below = 2 * at + 1) {
        int64_t child = heap[below];
        if (below + 1 < size) {
            int64_t other = heap[below + 1];
            if (ratio[other] < ratio[child] || (ratio[other] == ratio[child] && other < child)) {
                below++;
                child = other;
            }
        }
        if (ratio[column] < ratio[child] || (ratio[column] == ratio[child] && column < child))
            break;
        heap[at] = child;
        at = below;
    }
    heap[at] = column;
}

/* Return the column that enters the basis, or -1; columns passed before it become full or empty.

   A column is passed where its reduced cost changes sign, at reduced / step. Each takes step * cap off what the leaving
   column is outside its bounds, `worst`; a surplus takes off all. Few columns are passed of many, so a heap brings them
   one after the other. */
static INSIDE int64_t pass_break_points(const struct attacker *a, const struct tableau *t, int64_t rows, double worst)
{
    int64_t size = 0;
    for (int64_t j = 0; j < a->columns + rows; j++) {
        double direction = j < a->columns && t->full[j] ? -t->step[j] : t->step[j];
        if (direction > 1e-11) {
            t->ratio[j] = fabs(t->reduced[j]) / direction;
            t->heap[size++] = j;
        }
    }
    for (int64_t start = size / 2 - 1; start >= 0; start--)
        sift_down(t->heap, t->ratio, start, size);
    while (size > 0) {
        int64_t j = t->heap[0];
        worst = j < a->columns ? worst - fabs(t->step[j]) * a->cap[j] : -INFINITY;
        if (worst <= TINY)
            return j;
        t->full[j] = !t->full[j];
        t->heap[0] = t->heap[--size];
        if (size)
            sift_down(t->heap, t->ratio, 0, size);
    }
    return -1;
}

/* Minimise cost @ z over gain @ z >= need, 0 <= z <= cap, warm from the last basis: the dual simplex method with bound
   flips, for a handful of rows and many columns; costs must not be negative. Fills `duals` and `z`; returns 0 when the
   rows cannot be met.

       repeat:
           duals = cost of the basic columns @ inverse of the basis
           leaving = the row whose basic column is farthest outside its bounds; none: z is optimal
           step, reduced = the row of the leaving column, and the reduced costs
           pass the columns by rising reduced / step: each flips from empty to full or back, until the row is met
           entering = the column at which it is; none: the rows cannot be met                                         */
static INSIDE int solve_rows(const struct attacker *a, const struct tableau *t, int64_t rows)
{
    int64_t columns = a->columns;
    for (int64_t pivots = 0; pivots < 50 + 20 * rows; pivots++) {
        if (!invert_basis(t, columns, rows))
            return 1; /* numerically stuck: the caller judges the duals it has */
        for (int64_t i = 0; i < rows; i++) {
            double total = 0.0;
            for (int64_t at = 0; at < rows; at++)
                if (t->basis[at] < columns)
                    total += a->cost[t->basis[at]] * t->matrix[at * 2 * rows + rows + i];
            t->duals[i] = total;
        }
        double worst;
        int64_t leaving = leaving_row(a, t, rows, &worst);
        if (leaving < 0) {
            for (int64_t j = 0; j < columns; j++)
                t->z[j] = t->full[j] ? a->cap[j] : 0.0;
            for (int64_t at = 0; at < rows; at++) {
                int64_t j = t->basis[at];
                if (j < columns)
                    t->z[j] = t->basic[at] < 0.0 ? 0.0 : t->basic[at] > a->cap[j] ? a->cap[j] : t->basic[at];
            }
            return 1;
        }
        int64_t gone = t->basis[leaving];
        int too_large = gone < columns && t->basic[leaving] > 0.0;
        double sign = too_large ? 1.0 : -1.0;
        const double *inverse = t->matrix + leaving * 2 * rows + rows;
        for (int64_t j = 0; j < columns; j++) {
            t->step[j] = 0.0;
            t->reduced[j] = a->cost[j];
        }
        for (int64_t i = 0; i < rows; i++) {
            double weight = sign * inverse[i], dual = t->duals[i];
            const double *gain = t->gain + i * columns;
            for (int64_t j = 0; j < columns; j++)
                t->step[j] += weight * gain[j];
            for (int64_t j = 0; j < columns; j++)
                t->reduced[j] -= dual * gain[j];
            t->step[columns + i] = -weight;
            t->reduced[columns + i] = dual;
        }
        for (int64_t at = 0; at < rows; at++)
            t->step[t->basis[at]] = 0.0;
        int64_t entering = pass_break_points(a, t, rows, worst);
        if (entering < 0) {
            /* Along this ray the bound of the duals rises without end, which is checked. */
            for (int64_t i = 0; i < rows; i++)
                t->duals[i] = sign * inverse[i];
            return dual_bound(a, t, 0.0, rows) <= TINY;
        }
        if (gone < columns)
            t->full[gone] = (uint8_t)too_large;
        t->basis[leaving] = entering;
        if (entering < columns)
            t->full[entering] = 0;
    }
    return 1;
}

/* Begin a program without rivals; return how many rows it has: one where added battles need as many removed. */
static INSIDE int64_t only_balance(const struct attacker *a, const struct tableau *t)
{
    memset(t->full, 0, (size_t)a->columns);
    for (int64_t j = 0; j < a->columns; j++)
        t->z[j] = 0.0;
    if (!a->balance)
        return 0;
    memcpy(t->gain, a->balance, (size_t)a->columns * sizeof(double));
    t->need[0] = 0.0;
    t->basis[0] = a->columns;
    return 1;
}

/* Write the row of a rival, the target must not lose to it, with its surplus in the basis.

   With D the pairs on which both differ, counted +1 where the rival has the smaller number first: need = D @ margin and a
   ballot removed gains D @ its signs; when the target is added for it, |D| more. */
static INSIDE void add_rival(const struct attacker *a, const struct tableau *t, const int64_t *target, const int64_t *rival,
                      double slack, int64_t row, int64_t *at_target, int64_t *at_rival)
{
    int64_t n = a->n, votes = a->votes, columns = a->columns, size = 0;
    double *gain = t->gain + row * columns, total = 0.0;
    for (int64_t p = 0; p < n; p++) {
        at_target[target[p]] = p;
        at_rival[rival[p]] = p;
    }
    for (int64_t j = 0; j < columns; j++)
        gain[j] = 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) {
            int rival_first = at_rival[i] < at_rival[j];
            if (rival_first == (at_target[i] < at_target[j]))
                continue;
            int64_t f = a->pair[i * n + j];
            int32_t way = rival_first ? 1 : -1;
            const int32_t *first = a->ranks + i * votes, *second = a->ranks + j * votes;
            total += way * a->margin[f];
            size++;
            for (int64_t s = 0; s < votes; s++) {
                int32_t lead = (first[s] < second[s]) - (first[s] > second[s]);
                gain[s] += (double)(way * lead * ((first[s] != 0) & (second[s] != 0)));
            }
            if (columns - votes > 1)
                gain[votes + f] = 1.0;
        }
    if (a->swaps)
        for (int64_t s = 0; s < votes; s++)
            gain[s] += (double)size;
    else if (columns == votes + 1)
        gain[votes] = (double)size;
    double scale = 1.0 / (double)(size > 0 ? size : 1); /* rows of similar size keep the pivots stable */
    t->need[row] = total * scale + slack;
    for (int64_t j = 0; j < columns; j++)
        gain[j] *= scale;
    t->basis[row] = columns + row;
}

/* Fill margin[a, b] with what the votes after an attack have for b over a, which a before b loses. The attack takes z of
   each column. The slack by which the target must win is taken off its leads. `now` is room for a number per pair. */
static INSIDE void margins_left(const struct attacker *a, const struct tableau *t, const int64_t *target, double slack,
                         double *now, double *margin)
{
    int64_t n = a->n, votes = a->votes;
    double put_in = 0.0; /* ballots that are the target itself */
    memcpy(now, a->margin, (size_t)a->pairs * sizeof(double));
    for (int64_t s = 0; s < votes; s++) {
        double taken = t->z[s];
        if (taken == 0.0)
            continue;
        put_in += a->swaps ? taken : 0.0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++) {
                int32_t first = a->ranks[i * votes + s], second = a->ranks[j * votes + s];
                if (first != 0 && second != 0 && first != second)
                    now[a->pair[i * n + j]] -= first < second ? taken : -taken;
            }
    }
    if (!a->swaps && a->columns == votes + 1)
        put_in += t->z[votes];
    put_in -= slack;
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
            int64_t x = target[p], y = target[q], f = x < y ? a->pair[x * n + y] : a->pair[y * n + x];
            double ahead = (x < y ? now[f] : -now[f]) + put_in;
            if (a->columns - votes > 1)
                ahead += t->z[votes + f];
            margin[x * n + y] = -ahead;
            margin[y * n + x] = ahead;
        }
}

/* Fill `order` with the cheapest order, the lexicographically first of equals. From the full set down, the next item is
   one whose cost before all that is left adds up to the least cost of the set. */
static INSIDE void first_order(const double *cost, int64_t n, const double *least, int64_t *order)
{
    int64_t left = ((int64_t)1 << n) - 1;
    for (int64_t p = 0; p < n; p++) {
        double best = INFINITY;
        int64_t first = 0;
        for (int64_t i = 0; i < n; i++) {
            if (!(left >> i & 1))
                continue;
            double total = least[left ^ (int64_t)1 << i];
            for (int64_t j = 0; j < n; j++)
                if (j != i && left >> j & 1)
                    total += cost[i * n + j];
            if (total < best - 1e-13) {
                best = total;
                first = i;
            }
        }
        order[p] = first;
        left ^= (int64_t)1 << first;
    }
}

/* Fill the rival with the best of all orders, by dynamic programming; return by how much it beats the target. */
static INSIDE double cheaper_by(const double *margin, int64_t n, const int64_t *target, int64_t *rival, double *cost,
                         double *least, double *room)
{
    for (int64_t at = 0; at < n * n; at++)
        cost[at] = margin[at] > 0.0 ? margin[at] : 0.0;
    fill_subset_table(cost, n, least, room);
    first_order(cost, n, least, rival);
    double here = 0.0, best = 0.0;
    for (int64_t p = 0; p < n; p++)
        for (int64_t q = p + 1; q < n; q++) {
            here -= margin[target[p] * n + target[q]];
            best -= margin[rival[p] * n + rival[q]];
        }
    return (best - here) / 2;
}

/* Price each target: the smallest budget with which it is among the optima, or a bound that reaches its stop.

       for each target:
           rows = the first rivals
           repeat:
               z, duals = the optimum of the program                       (solve_rows)
               value = the largest bound that duals proved so far          (dual_bound)
               value >= stop: PRUNED
               rival = an order that beats the target after z              (descend, cheaper_by)
               there is none: PRICED
               add a row for the rival                                     (add_rival)

   Bounds come from the duals, so they hold no matter where the simplex method stopped. */
WIDE LOOP int64_t price_orders(
    int64_t n, int64_t votes, int64_t columns, const int32_t *ranks, const int64_t *pair, const double *margins,
    const double *cap, const double *cost, const double *balance, int64_t balanced, int64_t swaps,
    /* the targets, with a stop and some first rivals each; a line of these that begins with -1 is none */
    int64_t targets, const int64_t *orders, const double *stops, const int64_t *rivals, int64_t first_rivals,
    double slack, int64_t exact, int64_t most_rows,
    /* the answers: values, outcomes, what is taken of each column if that is wanted, and the rivals used */
    double *values, int64_t *outcomes, double *taken, int64_t wants_taken, int64_t *used_rivals, int64_t most_used)
{
    int64_t pairs = n * (n - 1) / 2, wide = columns + most_rows;
    size_t subsets = exact ? ((size_t)1 << n) + subset_room(n) : 0;
    size_t floats = (size_t)(most_rows * columns + 4 * most_rows + columns + 2 * most_rows * most_rows + 3 * wide
                             + 2 * n * n + pairs) + subsets;
    double *room = calloc(floats, sizeof(double));
    int64_t *whole = calloc((size_t)(most_rows + wide + 3 * n), sizeof(int64_t));
    uint8_t *full = calloc((size_t)columns + 1, 1);
    if (!room || !whole || !full) {
        free(room);
        free(whole);
        free(full);
        return -1;
    }
    struct attacker a = {n, votes, columns, pairs, ranks, pair, margins, cap, cost, balanced ? balance : NULL, swaps != 0};
    struct tableau t;
    double *next = room;
    t.gain = next, next += most_rows * columns;
    t.need = next, next += most_rows;
    t.duals = next, next += most_rows;
    t.left = next, next += most_rows;
    t.basic = next, next += most_rows;
    t.z = next, next += columns;
    t.matrix = next, next += 2 * most_rows * most_rows;
    t.step = next, next += wide;
    t.reduced = next, next += wide;
    t.ratio = next, next += wide;
    double *margin = next, *costs = margin + n * n, *now = costs + n * n, *least = now + pairs;
    double *subset_sums = exact ? least + ((size_t)1 << n) : NULL;
    t.full = full;
    t.basis = whole;
    t.heap = whole + most_rows;
    int64_t *rival = t.heap + wide, *at_target = rival + n, *at_rival = at_target + n;
    for (int64_t at = 0; at < targets; at++) {
        const int64_t *target = orders + at * n;
        int64_t rows = only_balance(&a, &t), used = 0;
        for (int64_t k = 0; k < first_rivals; k++) {
            const int64_t *given = rivals + (at * first_rivals + k) * n;
            if (given[0] >= 0 && rows < most_rows)
                add_rival(&a, &t, target, given, slack, rows++, at_target, at_rival);
        }
        double value = 0.0;
        enum outcome outcome = OPEN;
        for (;;) {
            if (rows && !solve_rows(&a, &t, rows)) {
                value = INFINITY;
                outcome = HOPELESS;
                break;
            }
            double bound = dual_bound(&a, &t, 1.0, rows);
            value = bound > value ? bound : value;
            if (value >= stops[at]) {
                outcome = PRUNED;
                break;
            }
            margins_left(&a, &t, target, slack, now, margin);
            memcpy(rival, target, (size_t)n * sizeof(int64_t));
            if (descend_from(margin, n, rival, TINY) <= NO_GAIN) {
                if (!exact)
                    break;
                if (cheaper_by(margin, n, target, rival, costs, least, subset_sums) <= NO_GAIN) {
                    outcome = PRICED;
                    break;
                }
            }
            if (rows >= most_rows)
                break;
            add_rival(&a, &t, target, rival, slack, rows++, at_target, at_rival);
            if (used < most_used)
                memcpy(used_rivals + (at * most_used + used++) * n, rival, (size_t)n * sizeof(int64_t));
        }
        values[at] = value;
        outcomes[at] = outcome;
        if (wants_taken)
            memcpy(taken + at * columns, t.z, (size_t)columns * sizeof(double));
    }
    free(room);
    free(whole);
    free(full);
    return 0;
}

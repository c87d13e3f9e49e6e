/* Rows on a few items that a solution of the linear program violates: what separates it from all orders of these items. */

#include "loops.h"

enum { MOST_IN_CUT = 8, MOST_PAIRS = 28, MOST_ITEMS = 512, MOST_STEPS = 150, MOST_PASSES = 30 };

/* The next of a sequence of random numbers (splitmix64). */
static uint64_t random_after(uint64_t *state)
{
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15ull);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    return mixed ^ (mixed >> 31);
}

/* Write down the order of k items that makes the weights of the pairs i < j with i first largest, as one 0 or 1 per pair. */
static void heaviest_point(int64_t k, const double *weights, double *point)
{
    double row[MOST_IN_CUT][MOST_IN_CUT] = {{0}}, sums[MOST_IN_CUT][1 << MOST_IN_CUT], best[1 << MOST_IN_CUT];
    int64_t first[1 << MOST_IN_CUT], place[MOST_IN_CUT], all = ((int64_t)1 << k) - 1, pair = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++)
            row[i][j] = weights[pair++];
    for (int64_t i = 0; i < k; i++) {
        sums[i][0] = 0.0;
        for (int64_t j = 0; j < k; j++)
            for (int64_t rest = 0; rest < (int64_t)1 << j; rest++)
                sums[i][rest | (int64_t)1 << j] = sums[i][rest] + row[i][j];
    }
    best[0] = 0.0;
    for (int64_t set = 1; set <= all; set++) {
        best[set] = -INFINITY;
        for (int64_t i = 0; i < k; i++) {
            if (!(set >> i & 1))
                continue;
            int64_t rest = set ^ (int64_t)1 << i;
            double total = best[rest] + sums[i][rest];
            if (total > best[set]) {
                best[set] = total;
                first[set] = i;
            }
        }
    }
    for (int64_t set = all, at = 0; set; set ^= (int64_t)1 << first[set])
        place[first[set]] = at++;
    pair = 0;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i + 1; j < k; j++)
            point[pair++] = place[i] < place[j];
}

/* Solve size equations by elimination, in place; return whether they have one solution. */
static int solve_equations(double *matrix, double *right, int64_t size)
{
    for (int64_t c = 0; c < size; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < size; r++)
            if (fabs(matrix[r * size + c]) > fabs(matrix[pivot * size + c]))
                pivot = r;
        if (fabs(matrix[pivot * size + c]) < 1e-11)
            return 0;
        for (int64_t q = c; q < size && pivot != c; q++) {
            double swap = matrix[pivot * size + q];
            matrix[pivot * size + q] = matrix[c * size + q];
            matrix[c * size + q] = swap;
        }
        double swap = right[pivot];
        right[pivot] = right[c];
        right[c] = swap;
        for (int64_t r = c + 1; r < size; r++) {
            double factor = matrix[r * size + c] / matrix[c * size + c];
            if (factor == 0.0)
                continue;
            for (int64_t q = c; q < size; q++)
                matrix[r * size + q] -= factor * matrix[c * size + q];
            right[r] -= factor * right[c];
        }
    }
    for (int64_t c = size - 1; c >= 0; c--) {
        for (int64_t q = c + 1; q < size; q++)
            right[c] -= matrix[c * size + q] * right[q];
        right[c] /= matrix[c * size + c];
    }
    return 1;
}

/* The point nearest to 0 of the flat through `count` points, as their weights; return whether it is the only one. */
static int nearest_weights(double points[][MOST_PAIRS], int64_t count, int64_t pairs, double *weights)
{
    double matrix[(MOST_PAIRS + 2) * (MOST_PAIRS + 2)];
    int64_t size = count + 1;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double total = 0.0;
            for (int64_t q = 0; q < pairs; q++)
                total += points[i][q] * points[j][q];
            matrix[i * size + j] = matrix[j * size + i] = total;
        }
        matrix[i * size + count] = matrix[count * size + i] = 1.0;
        weights[i] = 0.0;
    }
    matrix[count * size + count] = 0.0;
    weights[count] = 1.0;
    return solve_equations(matrix, weights, size);
}

/* How far, squared, `x` (a number for each pair of k items) lies from the hull of all orders; `normal` points from there
   to `x`. Wolfe's algorithm for the nearest point:

       keep a few orders, and the nearest point of their hull
       until no order lies nearer to x along the normal:
           add the order that does
           while the nearest point of their flat is not inside their hull: go towards it, and drop who is left behind */
static double distance_to_orders(int64_t k, const double *x, double *normal)
{
    double points[MOST_PAIRS + 2][MOST_PAIRS], share[MOST_PAIRS + 2], found[MOST_PAIRS + 2], aim[MOST_PAIRS];
    int64_t pairs = k * (k - 1) / 2, count = 1;
    double squared = 0.0;
    for (int64_t q = 0; q < pairs; q++)
        aim[q] = x[q] - 0.5;
    heaviest_point(k, aim, points[0]);
    for (int64_t q = 0; q < pairs; q++)
        normal[q] = x[q] - points[0][q];
    for (int64_t q = 0; q < pairs; q++)
        points[0][q] -= x[q];
    share[0] = 1.0;
    for (int64_t step = 0; step < MOST_STEPS; step++) {
        squared = 0.0;
        for (int64_t q = 0; q < pairs; q++)
            squared += normal[q] * normal[q];
        if (squared < 1e-8 || count > pairs)
            break;
        double along = 0.0;
        heaviest_point(k, normal, points[count]);
        for (int64_t q = 0; q < pairs; q++) {
            points[count][q] -= x[q];
            along -= normal[q] * points[count][q];
        }
        if (along >= squared - 1e-9)
            break;
        share[count++] = 0.0;
        for (;;) {
            if (!nearest_weights(points, count, pairs, found))
                return 0.0;
            double far = 1.0;
            int64_t outside = 0, left = 0, least = 0;
            for (int64_t i = 0; i < count; i++) {
                if (found[i] >= 1e-12)
                    continue;
                outside = 1;
                if (share[i] - found[i] > 1e-14 && share[i] / (share[i] - found[i]) < far)
                    far = share[i] / (share[i] - found[i]);
            }
            for (int64_t i = 0; i < count; i++) {
                share[i] = outside ? (1 - far) * share[i] + far * found[i] : found[i];
                least = share[i] < share[least] ? i : least;
            }
            if (!outside)
                break;
            for (int64_t i = 0; i < count; i++)
                if (i != least && share[i] > 1e-12) {
                    memmove(points[left], points[i], sizeof points[0]);
                    share[left++] = share[i];
                }
            count = left;
        }
        for (int64_t q = 0; q < pairs; q++) {
            normal[q] = 0.0;
            for (int64_t i = 0; i < count; i++)
                normal[q] -= share[i] * points[i][q];
        }
    }
    return squared < 1e-8 ? 0.0 : squared;
}

/* How near a triangle is to being a tight row with fractions in it, from 0 to 1: such rows make up stronger ones. */
static double tightness(const double *before, int64_t n, int64_t a, int64_t b, int64_t c)
{
    double x = before[a * n + b], y = before[b * n + c], z = before[c * n + a], sum = x + y + z;
    double torn = (x < 0.5 ? x : 1 - x) + (y < 0.5 ? y : 1 - y) + (z < 0.5 ? z : 1 - z);
    double tight = 1 - 5 * (2 - sum < sum - 1 ? 2 - sum : sum - 1);
    return torn < 0.02 || tight < 0 ? 0.0 : tight;
}

/* Look at `tries` sets of k items with many tight triangles; write down those whose fractions no orders make up. */
LOOP int64_t sample_cuts(const double *before, int64_t n, int64_t k, int64_t tries, int64_t seed, int64_t room,
                         int64_t *sets, double *normals, double *distances)
{
    uint64_t state = (uint64_t)seed;
    int64_t found = 0, pairs = k * (k - 1) / 2;
    double gain[MOST_ITEMS], x[MOST_PAIRS];
    unsigned char in[MOST_ITEMS];
    for (int64_t t = 0; t < tries && found < room; t++) {
        int64_t *set = sets + found * k, count = 0, looked = 0;
        for (int64_t look = 0; look < 1000 && !count; look++) {
            for (int64_t i = 0; i < 3; i++)
                set[i] = (int64_t)(random_after(&state) % (uint64_t)n);
            if (set[0] != set[1] && set[1] != set[2] && set[0] != set[2] && tightness(before, n, set[0], set[1], set[2]) > .5)
                count = 3;
        }
        if (!count)
            break;
        memset(in, 0, sizeof in);
        for (int64_t i = 0; i < 3; i++)
            in[set[i]] = 1;
        for (int64_t v = 0; v < n; v++)
            gain[v] = 0.0;
        for (; count < k; looked = count++) {
            double best = -1.0;
            for (int64_t v = 0; v < n; v++) {
                if (in[v])
                    continue;
                for (int64_t i = 0; i < count; i++)
                    for (int64_t j = i < looked ? looked : i + 1; j < count; j++)
                        gain[v] += tightness(before, n, v, set[i], set[j]);
                double score = gain[v] + (double)count * (double)(random_after(&state) >> 11) * 0x1p-53;
                if (score > best) {
                    best = score;
                    set[count] = v;
                }
            }
            in[set[count]] = 1;
        }
        int64_t pair = 0;
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = i + 1; j < k; j++)
                x[pair++] = before[set[i] * n + set[j]];
        distances[found] = distance_to_orders(k, x, normals + found * pairs);
        found += distances[found] > 1e-6;
    }
    return found;
}

/* Move known rows on k items to other items where they are violated more; write down what is violated, and by how much.

       for each row, from its own items and from `restarts` - 1 random changes of them:
           replace one item by another as long as that adds to the excess                                            */
LOOP int64_t vary_cuts(const double *before, int64_t n, int64_t k, int64_t cuts, const double *weights,
                       const double *limits, const int64_t *items, int64_t restarts, int64_t seed, double least,
                       int64_t room, int64_t *sets, int64_t *which, double *excesses)
{
    uint64_t state = (uint64_t)seed;
    int64_t found = 0;
    unsigned char in[MOST_ITEMS];
    for (int64_t cut = 0; cut < cuts; cut++) {
        const double *upper = weights + cut * k * k;
        double both[MOST_IN_CUT * MOST_IN_CUT], length = 0.0; /* of i before j, whichever is listed first */
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = 0; j < k; j++) {
                both[i * k + j] = i < j ? upper[i * k + j] : i > j ? -upper[j * k + i] : 0.0;
                length += i < j ? upper[i * k + j] * upper[i * k + j] : 0.0;
            }
        for (int64_t start = 0; start < restarts && found < room; start++) {
            int64_t *set = sets + found * k;
            memcpy(set, items + cut * k, (size_t)k * sizeof(int64_t));
            memset(in, 0, sizeof in);
            for (int64_t i = 0; i < k; i++)
                in[set[i]] = 1;
            for (int64_t kick = start ? 3 : 0; kick > 0; kick--) {
                int64_t i = (int64_t)(random_after(&state) % (uint64_t)k);
                int64_t v = (int64_t)(random_after(&state) % (uint64_t)n);
                if (in[v])
                    continue;
                in[set[i]] = 0;
                in[v] = 1;
                set[i] = v;
            }
            double total = -limits[cut];
            for (int64_t i = 0; i < k; i++)
                for (int64_t j = i + 1; j < k; j++)
                    total += upper[i * k + j] * before[set[i] * n + set[j]];
            for (int64_t pass = 0; pass < MOST_PASSES; pass++) {
                double best = 1e-7;
                int64_t role = -1, by = -1;
                for (int64_t i = 0; i < k; i++) {
                    double old = 0.0;
                    for (int64_t j = 0; j < k; j++)
                        old += both[i * k + j] * before[set[i] * n + set[j]];
                    for (int64_t v = 0; v < n; v++) {
                        if (in[v])
                            continue;
                        double change = -old;
                        for (int64_t j = 0; j < k; j++)
                            change += both[i * k + j] * before[v * n + set[j]];
                        if (change > best) {
                            best = change;
                            role = i;
                            by = v;
                        }
                    }
                }
                if (role < 0)
                    break;
                in[set[role]] = 0;
                in[by] = 1;
                set[role] = by;
                total += best;
            }
            excesses[found] = total / sqrt(length);
            which[found] = cut;
            found += excesses[found] > least;
        }
    }
    return found;
}

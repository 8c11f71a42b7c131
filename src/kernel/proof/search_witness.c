/* search_witness.c: where could an expression fail to be a kernel? Point sets are tried from the smallest on
   (search_point_sets.c):

     one point      k(x, x) < 0
     two points     k(x, z)^2 > k(x, x) k(z, z) (Cauchy-Schwarz), on a grid of sizes and directions
     a line         m = 3, 4, ... equispaced points at many scales. With binomial weights (1, -3, 3, -1) the form is the
     n-th difference
                    in x and z, a Taylor coefficient of a function of <x, z>; with equal weights, the Fourier transform
                    at frequency 0 of one of x - z
     the plane      grids, polygons, crosses; the same in space
     far apart      32 points that see nothing of each other, with equal weights: against what is subtracted everywhere
     a lattice      against polynomials, see search_lattice.c
     anywhere       random points, moved downhill, see search_descent.c

   Where numbers of the expression cancel to less than their rounding, the evaluator's values tell nothing of its sign.
   So the plainest points are looked at with values from enclosures, and at the end all that are cheap are once more,
   as many as the time for one such value allows.

   Among sets of one size the most negative is kept, so that the certificate is not about rounding. The number of values
   of k computed is limited, so the search always ends, and depends on nothing but the expression, d and the seed. */
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/proof/witness_search.h"
#include <math.h>
#include <string.h>

enum { DIRECTIONS = 6, EVALUATIONS = 500000 };

/* Below this, relative to the largest eigenvalue, a negative one may be rounding. */
static const double NOISE = -3e-14;

double *mc_search_point(mc_witness_search *s, int64_t i) {
    return s->points + i * s->d;
}

static bool in_domain(const mc_witness_search *s, int64_t m) {
    for (int64_t i = 0; s->nonnegative && i < m * s->d; i++)
        if (s->points[i] < 0)
            return false;
    return true;
}

static bool spend_evaluations(mc_witness_search *s, int64_t values) {
    s->left -= values;
    s->out->sets++;
    return s->left > 0;
}

bool mc_fill_gram_of_set(mc_witness_search *s, int64_t m, double *K) {
    return in_domain(s, m) && spend_evaluations(s, m * (m + 1) / 2)
           && (s->fine ? mc_witness_gram_enclosed : mc_witness_gram)(s->node, m, s->d, 0, s->points, K);
}

/* ---- keeping the best ---- */

void mc_reset_best_set(mc_witness_search *s) {
    s->score = 0;
}

void mc_keep_best_set(mc_witness_search *s, int64_t m, double score, const double *weights) {
    s->score = score;
    s->best_count = m;
    memcpy(s->best, s->points, (size_t)(m * s->d) * sizeof(double));
    s->best_weighted = weights != NULL;
    if (weights)
        memcpy(s->best_weights, weights, (size_t)m * sizeof(double));
}

/* Turn the best set of this size into a certified witness. */
bool mc_certify_best_set(mc_witness_search *s, bool simplify) {
    mc_witness *w = &s->out->witness;
    if (s->score == 0)
        return false;
    w->count = s->best_count;
    w->d = s->d;
    memcpy(w->points, s->best, (size_t)(w->count * s->d) * sizeof(double));
    if (s->best_weighted) {
        memcpy(w->weights, s->best_weights, (size_t)w->count * sizeof(double));
        s->out->found = mc_witness_certify(s->node, w);
    }
    if (!s->out->found)
        s->out->found = simplify ? mc_witness_simplify(s->node, w, s->other) : mc_witness_from_points(s->node, w);
    return s->out->found;
}

/* The form with these weights, relative to the sum of sizes of its terms. */
static double relative_form(const double *K, int64_t m, const double *w) {
    double form = 0, size = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) {
            form += w[i] * w[j] * K[i * m + j];
            size += fabs(w[i] * w[j] * K[i * m + j]);
        }
    return size > 0 ? form / size : 0;
}

/* The points as they stand, with each of the given weights (NULL: none) and with the eigenvector's. Whole weights beat
   fractions: an eigenvector must be ten times as negative to replace them. */
void mc_consider_points(mc_witness_search *s, int64_t m, const double *weights, const double *others) {
    double K[MC_WITNESS_POINTS * MC_WITNESS_POINTS], vector[MC_WITNESS_POINTS];
    if (!mc_fill_gram_of_set(s, m, K) || mc_surely_definite(K, m))
        return;
    s->left -= m * m * m / 8; /* about what the eigenvalue costs */
    for (const double *w = weights; w; w = w == weights ? others : NULL) {
        const double form = relative_form(K, m, w);
        if (form < NOISE && (form < s->score || !s->best_weighted))
            mc_keep_best_set(s, m, form, w);
    }
    const double eigenvalue = mc_smallest_eigenvalue(K, m, vector);
    const bool have_whole = s->score < 0 && s->best_weighted;
    if (eigenvalue < NOISE && eigenvalue < (have_whole ? 10 * s->score : s->score))
        mc_keep_best_set(s, m, eigenvalue, NULL);
}

/* ---- the search ---- */

static bool wants_nonnegative(const mc_node *node) {
    return node->kind == MC_ATOM && mc_atoms[node->atom].nonnegative;
}

static int64_t nodes_of(const mc_node *node) {
    int64_t count = 1 + (node->kind == MC_ATOM && node->atom == MC_FORM ? node->parameter[0].columns : 0);
    for (int i = 0; i < node->children; i++)
        count += nodes_of(node->child[i]) * (node->kind == MC_NORMALIZE ? 3 : 1);
    return count;
}

/* The first columns one by one, all together, and the first against the second. */
static void make_directions(mc_witness_search *s) {
    const int64_t axes = s->d < DIRECTIONS - 2 ? s->d : DIRECTIONS - 2;
    for (int64_t k = 0; k < axes; k++)
        s->direction[k * s->d + k] = 1;
    s->directions = (int)axes;
    if (s->d < 2)
        return;
    for (int64_t j = 0; j < s->d; j++)
        s->direction[s->directions * s->d + j] = 1;
    s->directions++;
    s->direction[s->directions * s->d] = 1;
    s->direction[s->directions * s->d + 1] = -1;
    s->directions++;
}

static mercer_status run_search_stages(mc_witness_search *s, mc_search_part part) {
    static bool (*const stages[MC_SEARCH_PARTS][7])(mc_witness_search *) = {
        {mc_search_one_point, mc_search_two_points, mc_search_lines},
        {mc_search_lattice, mc_search_far_points, mc_search_grids, mc_search_crosses, mc_search_polygons,
         mc_search_random_starts, mc_search_with_enclosures}};
    for (int i = 0; i < 7 && stages[part][i] && !s->out->found; i++) {
        MC_TRY(mc_report_progress(s->ctx, -1));
        s->left = s->budget;
        stages[part][i](s);
        MC_TRY(s->status);
    }
    return mc_report_progress(s->ctx, -1);
}

mercer_status mc_search_witness(mercer_ctx *ctx, const mc_node *instance, int64_t d, mc_search_part part, double share,
                                mc_refutation *out) {
    const int64_t capacity = MC_WITNESS_POINTS * d;
    mc_witness_search s = {.ctx = ctx, .node = instance, .d = d, .out = out};
    s.nonnegative = mc_node_any(instance, wants_nonnegative);
    s.budget = (int64_t)(share * EVALUATIONS / (double)(nodes_of(instance) * (1 + d / 16)));
    mc_free(out->witness.points);
    MC_TRY(MC_ALLOC(ctx, out->witness.points, capacity));
    double *block = mc_alloc(ctx, 4 * capacity + DIRECTIONS * d, sizeof *block);
    if (!block)
        return MERCER_MEMORY;
    s.points = block;
    s.other = block + capacity;
    s.best = block + 2 * capacity;
    s.slopes = block + 3 * capacity;
    s.direction = block + 4 * capacity;
    make_directions(&s);
    const mercer_status status = run_search_stages(&s, part);
    mc_free(block);
    return status;
}

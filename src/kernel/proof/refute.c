/* refute.c: points or a frequency against an expression, over the values its open parameters may get and, when d is
   free, over d.

   Columns in which all points are 0 change no value of any kernel, so a wide row is searched in its first few columns
   and the witness gets its zeros back at the end. */
#include "kernel/proof/refute.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include <string.h>

/* tried when d is free: the least that the expression allows and the next, of frequencies many; searched of a wide row
 */
enum { DIMENSIONS = 3, COLUMNS = 4, SPECTRAL_DIMENSIONS = 64 };

typedef struct refutation_task {
    mercer_ctx *ctx;
    const mc_node *root;
    int64_t d, wide; /* columns searched, columns claimed */
    mc_refutation *out;
} refutation_task;

static bool is_external_atom(const mc_node *node) {
    const bool listed = mc_atoms[node->atom].text && node->atom != MC_TFIDF; /* its weights are those of a fit */
    return node->kind == MC_ATOM && mc_atoms[node->atom].opaque && !listed;
}

static bool is_open(const mc_node *node) {
    return mc_node_open(node) || mc_node_ranges(node);
}

/* Put the zeros back. Certified again, on the rows that will be shown. */
static mercer_status restore_zero_columns(const refutation_task *t) {
    mc_witness *w = &t->out->witness;
    double *points = NULL;
    if (!t->out->found || t->wide == t->d)
        return MERCER_OK;
    MC_TRY(MC_ALLOC(t->ctx, points, MC_WITNESS_POINTS * t->wide));
    for (int64_t i = 0; i < w->count; i++)
        memcpy(points + i * t->wide, w->points + i * t->d, (size_t)t->d * sizeof *points);
    mc_free(w->points);
    w->points = points;
    w->d = t->wide;
    t->out->found = mc_witness_certify(t->out->instance, w);
    return MERCER_OK;
}

static mercer_status try_instance(const refutation_task *t, int variant, mc_search_part part) {
    mc_refutation *out = t->out;
    mc_node_free(out->instance);
    out->instance = NULL;
    MC_TRY(mc_make_instance(t->ctx, t->root, t->d, t->wide, variant, &out->instance));
    if (!out->instance)
        return MERCER_OK;
    MC_TRY(mc_search_witness(t->ctx, out->instance, t->d, part, out->instantiated ? 0.3 : 1, out));
    return restore_zero_columns(t);
}

/* By points, smallest sets first. */
static mercer_status refute_by_points(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least, bool fixed,
                                      mc_refutation *out) {
    const int variants = out->instantiated ? MC_INSTANCES : 1, dimensions = d > 0 ? 1 : DIMENSIONS;
    const int64_t enough = least > COLUMNS ? least : COLUMNS;
    for (int part = 0; part < MC_SEARCH_PARTS; part++)
        for (int k = 0; k < dimensions && !out->found; k++)
            for (int v = 0; v < variants && !out->found; v++) {
                refutation_task t = {.ctx = ctx, .root = root, .wide = d > 0 ? d : least + k, .out = out};
                t.d = fixed || t.wide < enough ? t.wide : enough;
                MC_TRY(try_instance(&t, v, (mc_search_part)part));
            }
    return MERCER_OK;
}

/* By texts, and numbers beside them. */
static mercer_status refute_by_texts(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least,
                                     mc_refutation *out) {
    const int64_t wide = d > 0 ? d : least;
    const int variants = out->instantiated ? MC_INSTANCES : 1;
    for (int v = 0; v < variants && !out->found; v++) {
        mc_node_free(out->instance);
        out->instance = NULL;
        MC_TRY(mc_make_instance(ctx, root, wide, wide, v, &out->instance));
        if (out->instance)
            MC_TRY(mc_search_texts(ctx, out->instance, wide, out));
    }
    return MERCER_OK;
}

/* By a frequency; open parameters take the first values they may have. */
static mercer_status refute_by_frequency(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least,
                                         mc_refutation *out) {
    mc_node *instance = NULL;
    const int64_t first = d > 0 ? d : least, most = d > 0 || mc_node_any(root, is_open) ? first : SPECTRAL_DIMENSIONS;
    MC_TRY(mc_make_instance(ctx, root, first, first, 0, &instance));
    if (!instance)
        return MERCER_OK;
    const mercer_status status = mc_find_negative_frequency(ctx, instance, first, most, &out->frequency);
    out->found = !status && out->frequency.found && mc_verify_frequency(instance, &out->frequency);
    out->frequency.found = out->found;
    if (out->found) {
        mc_node_free(out->instance);
        out->instance = instance;
        out->witness.d = out->frequency.d;
    } else
        mc_node_free(instance);
    return status;
}

/* By a coefficient of its power series. */
static mercer_status refute_by_coefficient(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least,
                                           mc_refutation *out) {
    mc_node *instance = NULL;
    const int64_t first = d > 0 ? d : least;
    MC_TRY(mc_make_instance(ctx, root, first, first, 0, &instance));
    if (!instance)
        return MERCER_OK;
    const mercer_status status = mc_find_negative_coefficient(ctx, instance, first, d == 0, &out->frequency);
    out->found = !status && out->frequency.found && mc_verify_coefficient(instance, &out->frequency);
    out->frequency.found = out->found;
    if (out->found) {
        mc_node_free(out->instance);
        out->instance = instance;
        out->witness.d = 1;
    } else
        mc_node_free(instance);
    return status;
}

/* No points can be certified with values that are not enclosed. */
static bool has_no_enclosure(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_MATERN && node->parameter[0].kind == MC_VALUE_NUMBER
           && !mc_matern_is_elementary(node->parameter[0].number);
}

mercer_status mc_refute_kernel(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least, bool fixed,
                               mc_refutation *out) {
    *out = (mc_refutation){.instantiated = mc_node_any(root, is_open)};
    if (mc_node_any(root, is_external_atom))
        return MERCER_OK; /* its values are not ours to choose points for */
    if (mc_node_any(root, mc_node_reads_text))
        return refute_by_texts(ctx, root, d, least, out);
    if (mc_node_any(root, has_no_enclosure))
        MC_TRY(refute_by_frequency(ctx, root, d, least, out));
    if (!out->found)
        MC_TRY(refute_by_points(ctx, root, d, least, fixed, out));
    if (!out->found)
        MC_TRY(refute_by_frequency(ctx, root, d, least, out));
    return out->found ? MERCER_OK : refute_by_coefficient(ctx, root, d, least, out);
}

void mc_refutation_close(mc_refutation *refutation) {
    mc_free(refutation->witness.points);
    mc_node_free(refutation->instance);
    *refutation = (mc_refutation){0};
}

/* refute.c: a witness against an expression, over the values its open parameters may get and, when d is free, over d. */
#include "kernel/refute.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/fits.h"
#include "kernel/node.h"

enum { DIMENSIONS = 3 }; /* tried when d is free: the least that the expression allows and the next ones */

static bool is_open(const mc_node *node) {
    return mc_node_open(node) || mc_node_ranges(node);
}

static mercer_status try_instance(mercer_ctx *ctx, const mc_node *root, int64_t d, int variant, mc_refutation *out) {
    mc_node_free(out->instance);
    out->instance = NULL;
    MC_TRY(mc_instance(ctx, root, d, variant, &out->instance));
    return out->instance ? mc_search(ctx, out->instance, d, out) : MERCER_OK;
}

mercer_status mc_refute(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least, mc_refutation *out) {
    *out = (mc_refutation){.instantiated = mc_node_any(root, is_open)};
    const int variants = out->instantiated ? MC_INSTANCES : 1, dimensions = d > 0 ? 1 : DIMENSIONS;
    const int64_t first = d > 0 ? d : least;
    for (int k = 0; k < dimensions && !out->found; k++)
        for (int v = 0; v < variants && !out->found; v++)
            MC_TRY(try_instance(ctx, root, first + k, v, out));
    return MERCER_OK;
}

void mc_refutation_close(mc_refutation *refutation) {
    mc_free(refutation->witness.points);
    mc_node_free(refutation->instance);
    *refutation = (mc_refutation){0};
}

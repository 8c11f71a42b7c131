/* operator_state.h: what stands behind mc_gram. */
#ifndef MC_GRAM_OPERATOR_OPERATOR_STATE_H
#define MC_GRAM_OPERATOR_OPERATOR_STATE_H

#include "gram/operator/gram.h"
#include "gram/compile/tile_program.h"

/* A term of a K that factors (factored.c): an inner product of a part, -1 being the constant 1, times the vectors of
   the line `scale`, -1: none. */
enum { MC_FACTORED_TERMS = 4 };
typedef struct mc_factored_term {
    int part, scale;
    double factor;
} mc_factored_term;

struct mc_gram {
    const mercer_kernel *kernel;
    const mercer_data *x, *z; /* z is x when symmetric */
    bool symmetric;
    bool both_triangles;    /* values from elsewhere stand on both sides of the diagonal as they are */
    mercer_dtype precision; /* of the tiles: double where float would not do */
    const mc_tile_ops *ops;
    mc_tile_program plan;
    mc_bound bound;
    double *diagonal;   /* symmetric: K_ii by the reference evaluator */
    mercer_data *own_z; /* z, where it is the operator's own */
    bool is_view;       /* all but the right sides belongs to another operator (column_subset.c) */
    /* its right side is ours: packs, centres, columns' vectors (reuse_packed.c); NULL: our own */
    const mc_gram *packed_from;
    struct {
        int terms; /* 0: K does not factor */
        mc_factored_term term[MC_FACTORED_TERMS];
    } factored;
    bool by_reference;            /* no tile serves these rows: the reference evaluator gives every entry */
    struct mc_device_gram *there; /* products are made on a device (gram/device/device_gram.h); NULL: here */
    struct mc_entry_fault *fault; /* entries that are no numbers (entry_fault.h); NULL: there can be none */
};

/* What the right side that is ours only to use says of a part or a line; NULL: there is none. */
static inline const mc_tile_part *mc_packed_cache_part(const mc_gram *g, int i) {
    return g->packed_from ? &g->packed_from->plan.part[i] : NULL;
}

static inline const mc_tile_line *mc_packed_cache_line(const mc_gram *g, int i) {
    return g->packed_from ? &g->packed_from->plan.line[i] : NULL;
}

/* choose_precision.c: compile, measure the points, choose the precision and the distance methods. pack.c: then lay the
   points out. */
mercer_status mc_gram_choose(mercer_ctx *ctx, mc_gram *gram, mercer_dtype precision);
mercer_status mc_gram_pack(mercer_ctx *ctx, mc_gram *gram);
/* gram.c: where its products are made. left: where its left side lies already; NULL: nowhere. */
mercer_status mc_gram_place(mercer_ctx *ctx, mc_gram *gram, const struct mc_device_gram *left);
/* column_subset.c: what such an operator has of its own in the plan. */
void mc_gram_close_view(mc_gram *gram);
/* reuse_packed.c: whether the right side can be used without the left; what is another operator's is let go of, before
   the rest is freed. */
bool mc_gram_right_stands_alone(const mc_gram *gram);
void mc_gram_release_packed(mc_gram *gram);
/* norms.c: the norms of the packed points, by the tiles' own arithmetic. */
mercer_status mc_norms_fill(mercer_ctx *ctx, mc_gram *gram);

#endif

/* strip.h: strips of K: a few rows against a run of columns, made from parts and lines.

       mc_tile_workspace space;                              one per thread, cut out of a workspace
       mc_tile_workspace_rows(gram, &space, rows, first, count);
       mc_tile_workspace_walk(gram, &space, 0, space.groups, p0, p1, sink, arg);     sink sees every strip of these rows
       and panels */
#ifndef MC_GRAM_TILE_STRIP_H
#define MC_GRAM_TILE_STRIP_H

#include "base/workspace.h"
#include "gram/operator/operator_state.h"

typedef struct mc_tile_workspace {
    int64_t groups_max, groups; /* of ops->rows rows each */
    int64_t count;              /* rows loaded */
    int64_t *row;               /* their numbers; the last is repeated to fill its group */
    char **a;                   /* per part: groups x d x rows, packed */
    char **half;                /* per part: groups x rows of -|x|^2 / 2 */
    char **vector;              /* per line: groups x rows */
    char *strips;
    int32_t **place;    /* per sparse part: of a coordinate in the unpacked panel, -1: none */
    int32_t **occupied; /* the coordinates that have a place, to clear them again */
    int64_t *places;
    char **b;          /* the unpacked panel */
    int64_t *unpacked; /* its number; -1: none */
} mc_tile_workspace;

/* One strip: panels panel .. panel + panels - 1 of group `group`, micro-tile by micro-tile in the tile's precision. */
typedef struct mc_strip {
    const mc_tile_workspace *space;
    int64_t group, panel, panels;
    void *values;
} mc_strip;
typedef void mc_sink(void *arg, const mc_strip *strip);

/* How many groups of rows at a time suit this operator, at most; the bytes of a space for as many, and the space
   itself. */
int64_t mc_tile_workspace_groups(const mc_gram *gram);
/* block.c: groups of rows of one task that writes `count` rows, its columns cut into so many tasks: as many as suit the
   engine, but enough tasks for every thread. */
int64_t mc_block_groups(const mc_tile_ops *ops, int64_t suits, int64_t count, int64_t column_tasks);
int64_t mc_block_column_tasks(const mc_tile_ops *ops, int64_t j0, int64_t j1);
size_t mc_tile_workspace_bytes(const mc_gram *gram, int64_t groups);
void mc_tile_workspace_lay_out(const mc_gram *gram, int64_t groups, mc_work *work, mc_tile_workspace *space);
/* A workspace that holds one space for every thread. */
mercer_status mc_tile_workspaces_open(mercer_ctx *ctx, const mc_gram *gram, int threads, int64_t groups, mc_work *work,
                                      mc_tile_workspace **out);

/* Load rows[0 .. count-1], or rows first, first + 1, ... when rows is NULL. */
void mc_tile_workspace_rows(const mc_gram *gram, mc_tile_workspace *space, const int64_t *rows, int64_t first,
                            int64_t count);
/* Groups g0 .. g1 - 1 of them against panels p0 .. p1 - 1. */
void mc_tile_workspace_walk(const mc_gram *gram, mc_tile_workspace *space, int64_t g0, int64_t g1, int64_t p0,
                            int64_t p1, mc_sink *sink, void *arg);

/* out[part][i] <- <x_i, x_i> (or the like sum) of the n points of one panel, as the tiles sum it up. Left and right
   must be one. */
void mc_tile_workspace_self_products(const mc_gram *gram, mc_tile_workspace *space, int64_t panel, int64_t n,
                                     double *const *out);

/* tile_workspace.c: some part has compressed rows; some has rows of more than MC_COORDINATES, which are summed up block
   by block. */
enum { MC_COORDINATES = 1024, MC_GROUPS = 240 /* of rows that a space holds, at most */ };
bool mc_gram_sparse(const mc_gram *gram);
bool mc_gram_long(const mc_gram *gram);
bool mc_part_long(const mc_tile_part *part);
/* Panels of few coordinates are unpacked in full, others with the coordinates that occur. */
bool mc_part_in_full(const mc_gram *gram, const mc_tile_part *part);
int64_t mc_panel_element(const mc_gram *gram, const mc_tile_part *part); /* bytes of a value in an unpacked panel */
enum { MC_FULL_PANEL = 1 << 16 }; /* bytes of a sparse panel that is unpacked in full, at most */
/* Panels and reals of one strip. */
int64_t mc_strip_panels(const mc_gram *gram);
int64_t mc_strip_reals(const mc_gram *gram);

/* The whole kernel is one line of one part of full rows: the fused bodies take it. */
bool mc_gram_fuses(const mc_gram *gram);
/* y += K w of the loaded group against panels p0 .. p1 - 1. */
void mc_tile_workspace_fused(const mc_gram *gram, const mc_tile_workspace *space, int64_t group, int64_t p0, int64_t p1,
                             const mc_rhs *right);

static inline int64_t mc_real_size(const mc_gram *gram) {
    return gram->precision == MERCER_F32 ? (int64_t)sizeof(float) : (int64_t)sizeof(double);
}

#endif

/* smo_working_set.h: one round on a working set: its rows, its part of K, the steps inside it, and what changed. */
#ifndef MC_QP_SMO_WORKING_SET_H
#define MC_QP_SMO_WORKING_SET_H

#include "base/workspace.h"
#include "qp/smo.h"
#include "backend/smo_body.h"

/* Variables in a set where few are free; a program of no more is one set, where that may hold all. */
enum { MC_WORKING_SET = 1024 };

typedef struct mc_working_set {
    mc_work work;
    const mc_dual *dual;
    const mc_matrix *rows;
    bool may_hold_all; /* all variables may be one set, over K where it lies in memory */
    bool holds_all;    /* and they are now */
    mc_smo_block block;
    int64_t count;           /* variables in the set now */
    const int64_t *variable; /* which */
    int64_t *place;          /* where each stands in the block */
    int64_t *column;         /* of K, at each place; -1 pads */
    int64_t *row;            /* distinct rows of K in the set, */
    int64_t row_count;
    int64_t *row_of;                        /* n: where a row stands in row */
    const void **piece;                     /* the rows fetched */
    void *K;                                /* gathered; NULL where that is never done */
    int64_t ld;                             /* of the K in use */
    double middle;                          /* that slopes in floats are less than they are */
    double *low, *high, *diagonal, *change; /* change: of beta, summed per row */
} mc_working_set;

/* Sets of q variables, and of all m where that may be. */
size_t mc_working_set_bytes(int64_t n, int64_t m, int64_t q, mercer_dtype dtype);
mercer_status mc_working_set_open(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows, int64_t q,
                                  mc_working_set *out);
void mc_working_set_close(mc_working_set *s);
/* Fetch the rows of these variables and gather K_WW and the state of the set. all: they are all there are, and the set
   is able. */
mercer_status mc_working_set_load(mercer_ctx *ctx, mc_working_set *s, const int64_t *variable, int64_t count, bool all,
                                  const double *beta, const double *f);
/* Steps in the block, with slopes in floats where that is asked for and can be; returns whether. middle: of the slopes
   that matter. */
bool mc_working_set_step(mercer_ctx *ctx, mc_working_set *s, double middle, bool rough);
/* After such steps are stored: how far their slopes had gone from the true ones. */
double mc_working_set_drift(const mc_working_set *s, const double *f);
/* After steps in the block: write beta back and move f. *moved: whether any variable changed. */
mercer_status mc_working_set_store(mercer_ctx *ctx, mc_working_set *s, double *beta, double *f, bool *moved);

#endif

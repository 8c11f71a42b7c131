/* smo_select.h: which variables the next round works on. */
#ifndef MC_QP_SMO_SELECT_H
#define MC_QP_SMO_SELECT_H

#include "base/workspace.h"
#include "qp/smo.h"

/* How far from optimal: per group the largest v in U and the smallest in D, and where. */
typedef struct mc_extremes {
    double top[2], bottom[2];
    int64_t top_at[2], bottom_at[2]; /* -1: none */
    double violation;                /* the larger over the groups; not positive at an optimum */
} mc_extremes;

typedef struct mc_violator {
    double score;
    int64_t id;
} mc_violator;

typedef struct mc_selection {
    int64_t q; /* places in a working set */
    int64_t round;
    int64_t *set, count;    /* the working set, in order of choice */
    uint8_t *chosen;        /* m marks */
    mc_violator *candidate; /* m of scratch */
} mc_selection;

void mc_selection_open(mc_work *work, int64_t m, int64_t q, mc_selection *out);
void mc_selection_reset(mc_selection *s); /* what was chosen before: as after opening */
/* The next working set from the last one: its free variables keep at most half the places; the worst violators of each
   side take the others, the worst pair of each group before all. */
void mc_selection_next(mc_selection *s, const mc_dual *dual, const double *beta, const double *f, const mc_extremes *e);
/* The same in pieces: the last set becomes the first candidates, whose number is returned, and nothing is chosen; one
   is chosen, unless it is or the places are taken; and at most so many of m variables, those of the largest share of
   the worst violation first, 0: none. */
int64_t mc_selection_renew(mc_selection *s);
void mc_selection_take(mc_selection *s, int64_t id);
void mc_selection_worst(mc_selection *s, const double *share, int64_t m, int64_t places);

static inline int64_t mc_dual_row(const mc_dual *dual, int64_t t) {
    return dual->row ? dual->row[t] : t;
}

static inline double mc_dual_slope(const mc_dual *dual, const double *f, int64_t t) {
    return -(f[mc_dual_row(dual, t)] + dual->q[t]);
}

static inline int mc_dual_group(const mc_dual *dual, int64_t t) {
    return dual->group ? dual->group[t] : 0;
}

/* The rows of these variables, rising, into id, and the place of each variable's among them into row; returns how many
   rows. place: scratch for n numbers. */
int64_t mc_number_rows(const mc_dual *dual, const int64_t *variable, int64_t count, int64_t n, int64_t *place,
                       int64_t *id, int64_t *row);

mc_extremes mc_extremes_of(const mc_dual *dual, const double *beta, const double *f);

#endif

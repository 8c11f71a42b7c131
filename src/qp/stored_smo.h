/* stored_smo.h: the quadratic program of smo.h over a K that lies in memory in double, of which it has one or two runs
   of rows: all rows, a pair of classes among many, all rows once above and once below the tube. No set is chosen and
   nothing is gathered: K is read where it lies, by as many programs at once as there are threads. Of a pair of classes
   it may lie in pieces: K of each class, which all its pairs share, and what is between the two. */
#ifndef MC_QP_STORED_SMO_H
#define MC_QP_STORED_SMO_H

#include "backend/smo_body.h"
#include "base/workspace.h"
#include "qp/smo.h"

/* Rows of a K that are made when a step first needs them: most problems want those of their support vectors and few
   others. */
typedef struct mc_rows_on_demand {
    int32_t *line;       /* of each row of K where it lies, in the order they were made; -1: it is not there */
    int64_t count, most; /* how many are there; before there are more than so many all the others follow, */
    int64_t look;        /* or once so many are there and more than `many` are likely to be wanted, */
    int64_t many;
    bool all;         /* if there is room for them; otherwise that is the end, */
    bool over;        /* which it is */
    int64_t together; /* rows made at a time, MC_ROWS_TOGETHER at most and no more than most */
    /* Rows, to the lines from `to` on; rows NULL: all, each to its own place. */
    void (*make)(const struct mc_rows_on_demand *self, const int64_t *rows, int64_t count, int64_t to);
} mc_rows_on_demand;
enum { MC_ROWS_TOGETHER = 32 };

/* Run r of the variables, in their order, has rows first[r] .. first[r] + count[r] - 1 of K. Where K of a run alone
   lies elsewhere, `within`, row i of that run is row i there, and K has of a row the columns of the other run alone. */
typedef struct mc_kernel_runs {
    int runs;
    int64_t first[MC_SMO_RUNS], count[MC_SMO_RUNS];
    const double *K; /* symmetric, ld doubles from row to row */
    int64_t ld;
    const double *within[MC_SMO_RUNS]; /* of both runs, or NULL */
    int64_t within_ld[MC_SMO_RUNS];
    const double *diagonal; /* of K */
    mc_isa isa;
    mc_rows_on_demand *demand; /* NULL: all of K is there */
} mc_kernel_runs;

static inline bool mc_kernel_runs_holds(const mc_kernel_runs *K, int r, int64_t row) {
    return row >= K->first[r] && row < K->first[r] + K->count[r];
}
/* A row of K from the first column of run r on; NULL: it is not there. */
static inline const double *mc_kernel_runs_row(const mc_kernel_runs *K, int64_t row, int r) {
    if (K->within[r] && mc_kernel_runs_holds(K, r, row))
        return K->within[r] + (row - K->first[r]) * K->within_ld[r];
    const int64_t line = K->demand ? K->demand->line[row] : row;
    return line < 0 ? NULL : K->K + line * K->ld + (K->within[r] ? 0 : K->first[r]);
}
/* The rows that have a c are there now, or all. */
void mc_kernel_runs_ask(const mc_kernel_runs *K, const double *c);
bool mc_kernel_runs_complete(const mc_kernel_runs *K); /* all rows are there now; false: there is no room for them */

/* The ld of n rows: lanes beyond the last column are read, and are to be zeros. */
static inline int64_t mc_kernel_runs_ld(int64_t n) {
    return (n + MC_LANES - 1) / MC_LANES * MC_LANES + MC_LANES;
}

/* Bytes of scratch for m variables. */
size_t mc_stored_smo_bytes(int64_t m);
/* As mc_smo_solve, on the thread that calls, with scratch from work, for at most steps_max steps beyond those of
   *result, or as far as there is room for rows that are made on demand. A program with groups has one run for each. */
void mc_stored_smo_solve(const mc_dual *dual, const mc_kernel_runs *K, double tolerance, int64_t steps_max,
                         mc_work *work, double *beta, double *f, mc_smo_result *result);
/* f_i <- (K c)_i for begin <= i < end, sums in double and in the order of the rows; f and c have a number for each row
   of the program, and the rows that have a c are there. */
void mc_kernel_runs_multiply(const mc_kernel_runs *K, const double *c, int64_t begin, int64_t end, double *f);
/* f <- f + the sum of c times these rows of K. */
void mc_kernel_runs_add(const mc_kernel_runs *K, const int64_t *row, const double *c, int64_t count, double *f);

#endif

/* path.h: a range of values, shared by the paths of ridge, of support vector machines and of convex losses. */
#ifndef MC_CLI_VERBS_PATH_H
#define MC_CLI_VERBS_PATH_H

#include "cli/cli.h"

typedef struct path_range {
    double from, to;
    int64_t count;
    const char *list; /* the values themselves, with commas between; NULL: from, to and count say */
} path_range;

/* Equally spaced on a logarithmic scale, both ends exact; or those of the list. */
void path_values(const path_range *range, double *out);
/* path_svm.c, path_loss.c */
int run_svm_path(session *s, const path_range *range, const job *j);
int run_loss_path(session *s, const path_range *range, const job *j, folding *by);

/* What a path of fits, one after the other, has: its values and the rows of --test, if any. */
typedef struct fits {
    const path_range *range;
    const job *job;
    const char *variable; /* "C" */
    double *value;
    mercer_data *test;
    bool classes; /* what the machine learns from; fits_open fills it in */
} fits;

/* Reads the rows of --test and makes the values; fits_close in any case. */
int fits_open(session *s, fits *f);
void fits_close(fits *f);
/* The table as JSON; best is the place of the best value, -1 where nothing was measured. */
int fits_json(session *s, const fits *f, int64_t best, json_t *rows);
/* "next  mercer fit ...", with the best value. */
void fits_next(session *s, const fits *f, int64_t best);

#endif

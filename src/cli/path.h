/* path.h: a range of values, shared by the paths of ridge, of support vector machines and of convex losses. */
#ifndef MC_CLI_PATH_H
#define MC_CLI_PATH_H

#include "cli.h"

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
/* "next  mercer fit ...", with the value named. */
void path_next(session *s, const job *j, const char *name, double value);

#endif

/* path.h: a range of values, shared by the paths of ridge and of support vector machines. */
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
/* path_svm.c */
int run_svm_path(session *s, const path_range *range, const job *j);

#endif

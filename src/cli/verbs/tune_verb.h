/* tune_verb.h: a search as the command line asks for it, shared by tune and plan. */
#ifndef MC_CLI_VERBS_TUNE_VERB_H
#define MC_CLI_VERBS_TUNE_VERB_H

#include "cli/cli.h"

typedef struct tuning {
    job job;
    folding by;
    mercer_tune set;
    mercer_kernel **kernel;
    const char **group;
    mercer_data *test;
    mercer_search *search, *first; /* first: what fit would have done */
    mercer_model *model;
    char path[4096]; /* of the model */
    double seconds;  /* of the search */
} tuning;

extern const option tune_options[];
/* Machine, data, kernels, ranges and splits from the options. Close it after a failure too. */
int tuning_open(session *s, tuning *t);
void tuning_close(tuning *t);
/* tune_report.c */
int report_tuning(session *s, const tuning *t);

#endif

/* fit_verb.h: a fit as the command line asks for it, and its report. */
#ifndef MC_CLI_VERBS_FIT_VERB_H
#define MC_CLI_VERBS_FIT_VERB_H

#include "cli/reports/trace.h"

typedef struct fit {
    job job;
    mercer_model *model, *start; /* start: NULL unless asked for */
    trace *trace;                /* NULL unless asked for */
    mercer_search *search;       /* for parameters that nobody gave; NULL: there was nothing to search */
    double search_seconds;
    mercer_verdict verdict; /* on the kernel as fitted */
    char path[4096];        /* of the model */
    double seconds;
} fit;

/* fit_report.c */
/* A machine that was stopped hands over its best answer so far: that is saved, and the exit status tells. */
bool fit_was_stopped(const fit *f);
int report_fit(session *s, const fit *f);

#endif

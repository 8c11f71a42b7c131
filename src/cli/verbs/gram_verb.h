/* gram_verb.h: what mercer gram has computed, for the verb and its report. */
#ifndef MC_CLI_VERBS_GRAM_VERB_H
#define MC_CLI_VERBS_GRAM_VERB_H

#include "cli/cli.h"

typedef struct gram {
    mercer_kernel *kernel, *bound;
    mercer_data *data, *other;
    int64_t n, m;
    double *K;
    bool checked, proved;
    mercer_gram_facts facts;
    mercer_gram_proof proof;
    double *weights; /* n, where proved */
    double *repaired, *factor;
    mercer_gram_repaired repair;
    mercer_gram_factored rank;
} gram;

/* ---- gram_report.c ---- */

/* Worth printing. */
bool gram_is_small(const gram *g);
/* Something was found out about it. */
bool gram_is_judged(const gram *g);
/* path: the file it was written to; NULL: none. */
int report_gram(session *s, const gram *g, const char *path);

#endif

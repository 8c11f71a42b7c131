/* plan_verb.h: what forecasts with and without data share. */
#ifndef MC_CLI_VERBS_PLAN_VERB_H
#define MC_CLI_VERBS_PLAN_VERB_H

#include "cli/cli.h"

json_t *plan_json_choice(const mercer_choice *choice);
/* One solver, with what it takes, or why it is not possible. */
void plan_say_choice(session *s, const char *label, const json_t *choice);

extern const option plan_ranks_options[];
int plan_ranks(session *s);

#endif

/* trace.h: the steps of a fit taken down for a file; see trace.c. trace_open, trace_listen around the fit, trace_write,
   trace_close. A NULL trace (none was asked for) is taken by all but trace_take and trace_json. */
#ifndef MC_CLI_REPORTS_TRACE_H
#define MC_CLI_REPORTS_TRACE_H

#include "cli/cli.h"

int trace_open(session *s, trace **out); /* by --trace; *out stays NULL without */
void trace_close(session *s, trace *t);
void trace_listen(trace *t, bool on);
void trace_take(trace *t, const mercer_progress *p);
int trace_write(session *s, const trace *t, const char *solver);
void trace_say(session *s, const trace *t);
json_t *trace_json(const trace *t);

extern const char trace_heading[]; /* the first line of the file */
bool is_trace(const char *path);   /* by that line */

#endif

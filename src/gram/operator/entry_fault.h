/* entry_fault.h: entries of K that are no numbers: beyond the range of a double, or of what they were asked in, or
   without a value at all.

   Where bound.c shows that no value on the way can be so large, nothing is looked at. All other operators are watched:
   every strip is looked through, and the first pair at fault, by rows, is named once the pass is over. So no machine,
   prediction or matrix ever works on with such an entry. */
#ifndef MC_GRAM_OPERATOR_ENTRY_FAULT_H
#define MC_GRAM_OPERATOR_ENTRY_FAULT_H

#include "gram/tile/strip.h"
#include <stdatomic.h>

/* i * columns + j of the first pair. Set by any thread, looked at when a pass is over. */
struct mc_entry_fault {
    _Atomic int64_t pair;
};

/* Watch the operator, unless reach, a bound on all values on the way, says that it need not be. */
mercer_status mc_fault_open(mercer_ctx *ctx, mc_gram *gram, double reach);
void mc_fault_note(const mc_gram *gram, int64_t i, int64_t j);
/* Look through the strip's values; nothing where the operator is not watched. */
void mc_fault_watch(const mc_gram *gram, const mc_strip *strip);
/* After a pass: an error that names the pair, if there was one. */
mercer_status mc_fault_report(mercer_ctx *ctx, const mc_gram *gram);
/* Of K_ii that the reference evaluator gave: an error that names the first row whose is no number. */
mercer_status mc_fault_diagonal(mercer_ctx *ctx, const mc_gram *gram, const double *diagonal);

#endif

/* c_writer.h: a kernel expression on its way to C code: c_kernel.c writes a function for each node, c_atoms.c the
   bodies of those that are atoms. */
#ifndef MC_MODEL_EXPORT_C_WRITER_H
#define MC_MODEL_EXPORT_C_WRITER_H

#include "kernel/language/node.h"
#include "model/export/c_source.h"

typedef struct mc_c_writer {
    mercer_ctx *ctx;
    mc_text *text;
    int count; /* functions written */
} mc_c_writer;

/* What a function of x and z with d columns does, up to its closing brace. */
mercer_status mc_c_atom(mc_c_writer *w, const mc_node *node, int64_t d);

#endif

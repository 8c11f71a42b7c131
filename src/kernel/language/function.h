/* function.h: trees of the functions of weigh. */
#ifndef MC_KERNEL_LANGUAGE_FUNCTION_H
#define MC_KERNEL_LANGUAGE_FUNCTION_H

#include "base/text.h"
#include "kernel/language/kernel.h"

enum { MC_F_KINDS = MC_F_ABS + 1 };
extern const char *const mc_function_names[MC_F_KINDS]; /* "norm2", "exp", ...; NULL for operators and numbers */

mercer_status mc_function_make(mercer_ctx *ctx, mc_function_kind kind, mc_function **out);
mercer_status mc_function_copy(mercer_ctx *ctx, const mc_function *f, mc_function **out);
void mc_function_free(mc_function *f);
bool mc_function_equal(const mc_function *a, const mc_function *b);
void mc_function_print(mc_text *text, const mc_function *f);

#endif

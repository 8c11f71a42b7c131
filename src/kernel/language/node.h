/* node.h: making trees. A tree that is only half made can always be freed, so the makers attach first and fill in
   later. */
#ifndef MC_KERNEL_LANGUAGE_NODE_H
#define MC_KERNEL_LANGUAGE_NODE_H

#include "kernel/language/kernel.h"

/* Deepest nesting of an expression: bounds the recursion of everything that walks a tree. */
enum { MC_DEPTH_MAX = 200, MC_CHILDREN_MAX = 4096 };

mercer_status mc_node_make(mercer_ctx *ctx, mc_kind kind, int64_t offset, mc_node **out);
mercer_status mc_node_make_number(mercer_ctx *ctx, double number, int64_t offset, mc_node **out);
/* An atom with the defaults of its row: AUTO where the row says so. */
mercer_status mc_node_make_atom(mercer_ctx *ctx, mc_atom atom, int64_t offset, mc_node **out);
/* Put a node of this kind above *io, which becomes its first child. */
mercer_status mc_node_wrap(mercer_ctx *ctx, mc_kind kind, int64_t offset, mc_node **io);
/* Take child over as the last child; NULL leaves an empty place to be filled. Frees child on failure. */
mercer_status mc_node_add(mercer_ctx *ctx, mc_node *parent, mc_node *child);
/* Put *io's only (or i-th) child in its place and free the rest. */
void mc_node_unwrap(mc_node **io, int i);

mercer_status mc_value_copy(mercer_ctx *ctx, const mc_value *value, mc_value *out);
void mc_value_free(mc_value *value);
bool mc_value_equal(const mc_value *a, const mc_value *b);
mercer_status mc_value_add(mercer_ctx *ctx, mc_value *value,
                           double number); /* one more number at the end of a single row */
/* The j-th element of a vector, or the number that stands for all. */
double mc_value_at(const mc_value *value, int64_t j);

/* An error that names a column listed twice; names not yet resolved do not count. */
mercer_status mc_columns_distinct(mercer_ctx *ctx, const mc_node *node);

/* A kernel around a tree it takes over, as it is, bound to d columns (0: not bound). Frees the tree on failure. */
mercer_status mc_kernel_make(mercer_ctx *ctx, mc_node *root, int64_t d, mercer_kernel **out);

/* local computes from now on, and what did before is shown. Both have the same parameters in the same places. */
void mc_kernel_take_local(mercer_kernel *kernel, mc_node *local);

/* True when some node of the tree answers yes. */
bool mc_node_any(const mc_node *node, bool (*yes)(const mc_node *));
bool mc_node_open(const mc_node *node);   /* this node itself has AUTO, FILE or an unresolved name */
bool mc_node_ranges(const mc_node *node); /* this node itself has RANGE or SET */

#endif

/* onnx.h: a model as an ONNX graph. A graph is a list of nodes, each the application of an operator to values, and of
   constants; a value is known by its number.

       onnx.c          the whole: preprocessing, decisions, what they conclude to, the outputs
       onnx_kernel.c   a kernel expression as nodes: K(rows, centres)
       onnx_sums.c     its sums over the columns
       onnx_svm.c      support vector machines as operators of ai.onnx.ml
       onnx_graph.c    nodes, constants, and the file around them
       protobuf.c          bytes */
#ifndef MC_MODEL_EXPORT_ONNX_H
#define MC_MODEL_EXPORT_ONNX_H

#include "base/text.h"
#include "kernel/language/kernel.h"
#include "model/model.h"

/* Element types by ONNX's numbers. */
enum { MC_ONNX_FLOAT = 1, MC_ONNX_INT64 = 7, MC_ONNX_STRING = 8, MC_ONNX_BOOL = 9, MC_ONNX_DOUBLE = 11 };

typedef struct mc_onnx {
    mercer_ctx *ctx;
    mc_text nodes, constants, outputs; /* fields of the graph, in their wire format */
    int values;                        /* given out so far; value 0 is the input, "X" */
    bool ml;                           /* has an operator of ai.onnx.ml */
    mercer_status status;              /* of allocations beside the texts */
} mc_onnx;

mc_onnx mc_onnx_open(mercer_ctx *ctx);
void mc_onnx_close(mc_onnx *g);

/* ---- Constants ---- */

int mc_onnx_number(mc_onnx *g, double value); /* 1 x 1: goes with any table */
int mc_onnx_row(mc_onnx *g, const double *values, int64_t count);
int mc_onnx_table(mc_onnx *g, const double *values, int64_t rows, int64_t columns);
int mc_onnx_list(mc_onnx *g, const double *values, int64_t count); /* of one dimension */
int mc_onnx_integers(mc_onnx *g, const int64_t *values, int64_t count);
int mc_onnx_strings(mc_onnx *g, char *const *values, int64_t count);

/* ---- Nodes; attributes, where there are some, are closed ---- */

int mc_onnx_unary(mc_onnx *g, const char *op, int a);
int mc_onnx_binary(mc_onnx *g, const char *op, int a, int b);
int mc_onnx_product(mc_onnx *g, int a, int b); /* of matrices */
int mc_onnx_choose(mc_onnx *g, int condition, int a, int b);
int mc_onnx_cast(mc_onnx *g, int a, int type);
int mc_onnx_concat(mc_onnx *g, int a, int b, int64_t axis);
int mc_onnx_gather(mc_onnx *g, int a, int at, int64_t axis);
int mc_onnx_sum(mc_onnx *g, int a, int64_t axis, bool keep);
/* The first of the node's outputs, the others follow it. */
int mc_onnx_node(mc_onnx *g, const char *domain, const char *op, int inputs, const int *input, int outputs,
                 mc_text *attributes);
/* For Scan: the nodes made between begin and end are the body of a loop over so many inputs, which leaves one value. */
mc_text mc_onnx_begin_body(mc_onnx *g);
mc_text mc_onnx_end_body(mc_onnx *g, mc_text *outer, int inputs, const int *input, int result);
/* A value that a body takes in. */
int mc_onnx_argument(mc_onnx *g);

void mc_onnx_put_integer(mc_text *attributes, const char *name, int64_t value);
void mc_onnx_put_integers(mc_text *attributes, const char *name, const int64_t *values, int64_t count);
void mc_onnx_put_floats(mc_text *attributes, const char *name, const double *values, int64_t count);
void mc_onnx_put_string(mc_text *attributes, const char *name, const char *value);
void mc_onnx_put_strings(mc_text *attributes, const char *name, char *const *values, int64_t count);
void mc_onnx_put_graph(mc_text *attributes, const char *name, mc_text *graph);

/* ---- The whole ---- */

/* An output under a name of its own: rows x columns, or rows alone where columns is 0. */
void mc_onnx_output(mc_onnx *g, const char *name, int value, int type, int64_t columns);
/* Refuses a graph of so many bytes. */
mercer_status mc_onnx_fail_size(mercer_ctx *ctx, const mc_fitted *f, double bytes);
/* The file: input X, rows x d doubles. */
mercer_status mc_onnx_finish(mc_onnx *g, const mercer_model *model, const char *path);

/* K(x, z_i) of rows x, a value of rows x d, against centres Z, m x d, as a value of rows x m. */
mercer_status mc_onnx_kernel(mc_onnx *g, const mc_node *root, int x, const double *Z, int64_t m, int64_t d, int *out);
/* k(x, x), rows x 1 or one number. */
mercer_status mc_onnx_diagonal(mc_onnx *g, const mc_node *root, int x, int64_t d, int *out);

/* Whether a model is one of those that ai.onnx.ml has an operator for; its outputs from the scaled rows x. */
bool mc_onnx_is_svm(const mercer_model *model);
mercer_status mc_onnx_svm(mc_onnx *g, const mercer_model *model, int x);
/* The outputs of a machine that has decided: label and scores, or prediction. */
int64_t mc_onnx_scores(const mc_fitted *f); /* how many a row has: its decisions, of two sides both */
void mc_onnx_conclude(mc_onnx *g, const mercer_model *model, int decisions);

/* Refuses what a file or the memory cannot hold; asked before the model is spread over all of its columns. */
mercer_status mc_onnx_check_size(mercer_ctx *ctx, const mercer_model *model, bool exact);
/* exact: standard operators in double, also where ai.onnx.ml, which is in float, has an operator. */
mercer_status mc_onnx_write(mercer_ctx *ctx, const mercer_model *model, bool exact, const char *path);

#endif

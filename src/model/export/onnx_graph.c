/* onnx_graph.c: nodes and constants of an ONNX graph, and the file around them. The numbers of fields are those of
   onnx.proto. */
#include "base/memory.h"
#include "base/print.h"
#include "base/status.h"
#include "data/table/columns.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "model/export/onnx.h"
#include "model/export/protobuf.h"
#include "base/file.h"
#include <string.h>

/* Versions that runtimes of 2022 and later read: format 8, operators 17, ai.onnx.ml 3. */
enum { FORMAT = 8, OPERATORS = 17, OPERATORS_ML = 3 };
/* Fields. */
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { TENSOR_DIMENSION = 1, TENSOR_TYPE = 2, TENSOR_STRING = 6, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INTEGER = 3,
    ATTRIBUTE_STRING = 4,
    ATTRIBUTE_GRAPH = 6,
    ATTRIBUTE_FLOATS = 7,
    ATTRIBUTE_INTEGERS = 8,
    ATTRIBUTE_STRINGS = 9,
    ATTRIBUTE_TYPE = 20
};
enum { TYPE_INTEGER = 2, TYPE_STRING = 3, TYPE_GRAPH = 5, TYPE_FLOATS = 6, TYPE_INTEGERS = 7, TYPE_STRINGS = 8 };
enum {
    MODEL_FORMAT = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_TEXT = 6,
    MODEL_GRAPH = 7,
    MODEL_OPERATORS = 8,
    MODEL_PROPERTY = 14
};

typedef struct onnx_name {
    char bytes[16];
} onnx_name;

static onnx_name name_of(int value) {
    onnx_name n = {.bytes = "X"};
    if (value)
        mc_print(n.bytes, sizeof n.bytes, "v%d", value);
    return n;
}

mc_onnx mc_onnx_open(mercer_ctx *ctx) {
    return (mc_onnx){
        .ctx = ctx, .nodes = mc_text_open(ctx), .constants = mc_text_open(ctx), .outputs = mc_text_open(ctx)};
}

void mc_onnx_close(mc_onnx *g) {
    mc_text_close(&g->nodes);
    mc_text_close(&g->constants);
    mc_text_close(&g->outputs);
}

/* ---- Constants ---- */

static mc_text open_tensor(mc_onnx *g, int type, int dimensions, const int64_t *dimension) {
    mc_text tensor = mc_text_open(g->ctx);
    for (int k = 0; k < dimensions; k++)
        mc_wire_integer(&tensor, TENSOR_DIMENSION, dimension[k]);
    mc_wire_integer(&tensor, TENSOR_TYPE, type);
    return tensor;
}

static int close_tensor(mc_onnx *g, mc_text *tensor) {
    const int value = ++g->values;
    mc_wire_string(tensor, TENSOR_NAME, name_of(value).bytes);
    mc_wire_message(&g->constants, GRAPH_CONSTANT, tensor);
    return value;
}

static int add_doubles(mc_onnx *g, const double *values, int dimensions, const int64_t *dimension) {
    int64_t count = 1;
    for (int k = 0; k < dimensions; k++)
        count *= dimension[k];
    mc_text tensor = open_tensor(g, MC_ONNX_DOUBLE, dimensions, dimension);
    mc_wire_doubles(&tensor, TENSOR_RAW, values, count);
    return close_tensor(g, &tensor);
}

int mc_onnx_number(mc_onnx *g, double value) {
    return mc_onnx_table(g, &value, 1, 1);
}

int mc_onnx_table(mc_onnx *g, const double *values, int64_t rows, int64_t columns) {
    return add_doubles(g, values, 2, (const int64_t[]){rows, columns});
}

int mc_onnx_list(mc_onnx *g, const double *values, int64_t count) {
    return add_doubles(g, values, 1, &count);
}

int mc_onnx_row(mc_onnx *g, const double *values, int64_t count) {
    return mc_onnx_table(g, values, 1, count);
}

int mc_onnx_integers(mc_onnx *g, const int64_t *values, int64_t count) {
    enum { TENSOR_INTEGERS = 7 };
    mc_text tensor = open_tensor(g, MC_ONNX_INT64, 1, &count);
    mc_wire_integers(&tensor, TENSOR_INTEGERS, values, count);
    return close_tensor(g, &tensor);
}

int mc_onnx_strings(mc_onnx *g, char *const *values, int64_t count) {
    mc_text tensor = open_tensor(g, MC_ONNX_STRING, 1, &count);
    for (int64_t k = 0; k < count; k++)
        mc_wire_string(&tensor, TENSOR_STRING, values[k]);
    return close_tensor(g, &tensor);
}

/* ---- Attributes ---- */

static void put_attribute(mc_text *attributes, const char *called, int type, mc_text *attribute) {
    mc_wire_string(attribute, ATTRIBUTE_NAME, called);
    mc_wire_integer(attribute, ATTRIBUTE_TYPE, type);
    mc_wire_message(attributes, NODE_ATTRIBUTE, attribute);
}

void mc_onnx_put_integer(mc_text *attributes, const char *called, int64_t value) {
    mc_text attribute = mc_text_open(attributes->ctx);
    mc_wire_integer(&attribute, ATTRIBUTE_INTEGER, value);
    put_attribute(attributes, called, TYPE_INTEGER, &attribute);
}

void mc_onnx_put_integers(mc_text *attributes, const char *called, const int64_t *values, int64_t count) {
    mc_text attribute = mc_text_open(attributes->ctx);
    mc_wire_integers(&attribute, ATTRIBUTE_INTEGERS, values, count);
    put_attribute(attributes, called, TYPE_INTEGERS, &attribute);
}

void mc_onnx_put_floats(mc_text *attributes, const char *called, const double *values, int64_t count) {
    mc_text attribute = mc_text_open(attributes->ctx);
    mc_wire_floats(&attribute, ATTRIBUTE_FLOATS, values, count);
    put_attribute(attributes, called, TYPE_FLOATS, &attribute);
}

void mc_onnx_put_string(mc_text *attributes, const char *called, const char *value) {
    mc_text attribute = mc_text_open(attributes->ctx);
    mc_wire_string(&attribute, ATTRIBUTE_STRING, value);
    put_attribute(attributes, called, TYPE_STRING, &attribute);
}

void mc_onnx_put_strings(mc_text *attributes, const char *called, char *const *values, int64_t count) {
    mc_text attribute = mc_text_open(attributes->ctx);
    for (int64_t k = 0; k < count; k++)
        mc_wire_string(&attribute, ATTRIBUTE_STRINGS, values[k]);
    put_attribute(attributes, called, TYPE_STRINGS, &attribute);
}

void mc_onnx_put_graph(mc_text *attributes, const char *called, mc_text *graph) {
    mc_text attribute = mc_text_open(attributes->ctx);
    mc_wire_message(&attribute, ATTRIBUTE_GRAPH, graph);
    put_attribute(attributes, called, TYPE_GRAPH, &attribute);
}

/* ---- Nodes ---- */

int mc_onnx_node(mc_onnx *g, const char *domain, const char *op, int inputs, const int *input, int outputs,
                 mc_text *attributes) {
    mc_text node = mc_text_open(g->ctx);
    const int first = g->values + 1;
    for (int k = 0; k < inputs; k++)
        mc_wire_string(&node, NODE_INPUT, name_of(input[k]).bytes);
    for (int k = 0; k < outputs; k++)
        mc_wire_string(&node, NODE_OUTPUT, name_of(++g->values).bytes);
    mc_wire_string(&node, NODE_OP, op);
    if (attributes) {
        node.status = node.status ? node.status : attributes->status;
        mc_text_bytes(&node, attributes->bytes, attributes->length);
        mc_text_close(attributes);
    }
    if (domain) {
        mc_wire_string(&node, NODE_DOMAIN, domain);
        g->ml = true;
    }
    mc_wire_message(&g->nodes, GRAPH_NODE, &node);
    return first;
}

int mc_onnx_unary(mc_onnx *g, const char *op, int a) {
    return mc_onnx_node(g, NULL, op, 1, &a, 1, NULL);
}

int mc_onnx_binary(mc_onnx *g, const char *op, int a, int b) {
    return mc_onnx_node(g, NULL, op, 2, (const int[]){a, b}, 1, NULL);
}

/* Gemm, not MatMul, which onnxruntime merges with a number that multiplies it, rounding the number to float. */
int mc_onnx_product(mc_onnx *g, int a, int b) {
    return mc_onnx_binary(g, "Gemm", a, b);
}

int mc_onnx_choose(mc_onnx *g, int condition, int a, int b) {
    return mc_onnx_node(g, NULL, "Where", 3, (const int[]){condition, a, b}, 1, NULL);
}

static int with_integer(mc_onnx *g, const char *op, int inputs, const int *input, const char *called, int64_t value) {
    mc_text attributes = mc_text_open(g->ctx);
    mc_onnx_put_integer(&attributes, called, value);
    return mc_onnx_node(g, NULL, op, inputs, input, 1, &attributes);
}

int mc_onnx_cast(mc_onnx *g, int a, int type) {
    return with_integer(g, "Cast", 1, &a, "to", type);
}

int mc_onnx_concat(mc_onnx *g, int a, int b, int64_t axis) {
    return with_integer(g, "Concat", 2, (const int[]){a, b}, "axis", axis);
}

int mc_onnx_gather(mc_onnx *g, int a, int at, int64_t axis) {
    return with_integer(g, "Gather", 2, (const int[]){a, at}, "axis", axis);
}

int mc_onnx_sum(mc_onnx *g, int a, int64_t axis, bool keep) {
    return with_integer(g, "ReduceSum", 2, (const int[]){a, mc_onnx_integers(g, &axis, 1)}, "keepdims", keep);
}

/* ---- Graphs ---- */

/* rows, or rows x columns; columns 0: rows alone. */
static void add_shape(mc_text *tensor, int field, int64_t columns) {
    enum { DIMENSION = 1, NUMBER = 1, NAMED = 2 };
    mc_text shape = mc_text_open(tensor->ctx), dimension = shape;
    mc_wire_string(&dimension, NAMED, "rows");
    mc_wire_message(&shape, DIMENSION, &dimension);
    if (columns) {
        mc_wire_integer(&dimension, NUMBER, columns);
        mc_wire_message(&shape, DIMENSION, &dimension);
    }
    mc_wire_message(tensor, field, &shape);
}

/* columns < 0: of no known shape. */
static void add_info(mc_text *graph, int field, const char *called, int type, int64_t columns) {
    enum { INFO_NAME = 1, INFO_TYPE = 2, TYPE_TENSOR = 1, ELEMENT = 1, SHAPE = 2 };
    mc_text info = mc_text_open(graph->ctx), outer = info, tensor = info;
    mc_wire_integer(&tensor, ELEMENT, type);
    if (columns >= 0)
        add_shape(&tensor, SHAPE, columns);
    mc_wire_message(&outer, TYPE_TENSOR, &tensor);
    mc_wire_string(&info, INFO_NAME, called);
    mc_wire_message(&info, INFO_TYPE, &outer);
    mc_wire_message(graph, field, &info);
}

int mc_onnx_argument(mc_onnx *g) {
    return ++g->values;
}

mc_text mc_onnx_begin_body(mc_onnx *g) {
    const mc_text outer = g->nodes;
    g->nodes = mc_text_open(g->ctx);
    return outer;
}

mc_text mc_onnx_end_body(mc_onnx *g, mc_text *outer, int inputs, const int *input, int result) {
    mc_text body = g->nodes;
    g->nodes = *outer;
    mc_wire_string(&body, GRAPH_NAME, "column");
    for (int k = 0; k < inputs; k++)
        add_info(&body, GRAPH_INPUT, name_of(input[k]).bytes, MC_ONNX_DOUBLE, -1);
    add_info(&body, GRAPH_OUTPUT, name_of(result).bytes, MC_ONNX_DOUBLE, -1);
    return body;
}

void mc_onnx_output(mc_onnx *g, const char *called, int value, int type, int64_t columns) {
    mc_text node = mc_text_open(g->ctx);
    mc_wire_string(&node, NODE_INPUT, name_of(value).bytes);
    mc_wire_string(&node, NODE_OUTPUT, called);
    mc_wire_string(&node, NODE_OP, "Identity");
    mc_wire_message(&g->nodes, GRAPH_NODE, &node);
    add_info(&g->outputs, GRAPH_OUTPUT, called, type, columns);
}

/* ---- The file ---- */

static void append_and_close(mc_text *to, mc_text *from) {
    to->status = to->status ? to->status : from->status;
    mc_text_bytes(to, from->bytes, from->length);
    mc_text_close(from);
}

static void add_operators(mc_text *file, const char *domain, int64_t version) {
    mc_text set = mc_text_open(file->ctx);
    mc_wire_string(&set, 1, domain);
    mc_wire_integer(&set, 2, version);
    mc_wire_message(file, MODEL_OPERATORS, &set);
}

static void add_property(mc_text *file, const char *key, const char *value) {
    mc_text entry = mc_text_open(file->ctx);
    mc_wire_string(&entry, 1, key);
    mc_wire_string(&entry, 2, value);
    mc_wire_message(file, MODEL_PROPERTY, &entry);
}

/* The names of the columns of X, in order, as a list of JSON. */
static void add_columns(mc_text *file, const mercer_data *x) {
    mc_text list = mc_text_open(file->ctx);
    for (int64_t j = 0; x->name && j < x->d; j++) {
        mc_text_add(&list, "%s", j ? ", " : "[");
        mc_text_quoted(&list, x->name[j]);
    }
    mc_text_add(&list, "]");
    if (x->name && !list.status)
        add_property(file, "columns", list.bytes);
    file->status = file->status ? file->status : list.status;
    mc_text_close(&list);
}

static void compose_onnx_file(mc_onnx *g, const mercer_model *model, mc_text *file) {
    const mc_fitted *f = &model->f;
    mc_text graph = mc_text_open(g->ctx);
    append_and_close(&graph, &g->nodes);
    mc_wire_string(&graph, GRAPH_NAME, f->report.machine);
    append_and_close(&graph, &g->constants);
    add_info(&graph, GRAPH_INPUT, "X", MC_ONNX_DOUBLE, f->centres->d);
    append_and_close(&graph, &g->outputs);
    mc_wire_integer(file, MODEL_FORMAT, FORMAT);
    mc_wire_string(file, MODEL_PRODUCER, "mercer");
    mc_wire_string(file, MODEL_PRODUCER_VERSION, MERCER_VERSION);
    mc_wire_message(file, MODEL_GRAPH, &graph);
    add_operators(file, "", OPERATORS);
    if (g->ml)
        add_operators(file, "ai.onnx.ml", OPERATORS_ML);
    add_property(file, "machine", f->report.machine);
    add_property(file, "kernel", f->kernel->text);
    add_columns(file, f->centres);
}

mercer_status mc_onnx_fail_size(mercer_ctx *ctx, const mc_fitted *f, double bytes) {
    char size[32];
    return mc_fail(ctx, MERCER_INVALID, "export: the graph has %s for %lld columns and ONNX files end at 2 GiB; %s",
                   mc_bytes_text(bytes, size), (long long)mc_data_width(f->centres),
                   f->centres->row_start                     ? "number the columns anew without those that never occur"
                   : strcmp(f->report.machine, "ridge") == 0 ? "fewer rows are kept by --solver nystrom"
                                                             : "fit to fewer rows");
}

mercer_status mc_onnx_finish(mc_onnx *g, const mercer_model *model, const char *path) {
    MC_TRY(g->status);
    mc_text file = mc_text_open(g->ctx);
    compose_onnx_file(g, model, &file);
    const int64_t size = file.length;
    char *bytes = NULL;
    MC_TRY(mc_text_take(&file, &bytes));
    const mercer_status status = size > INT32_MAX ? mc_onnx_fail_size(g->ctx, &model->f, (double)size)
                                                  : mc_file_write(g->ctx, path, bytes, (size_t)size);
    mc_free(bytes);
    return status;
}

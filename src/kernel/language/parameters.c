/* parameters.c: the free parameters of a kernel, in the order they are printed, and the same kernel with others in
   their place.

   Names: "rbf.gamma", "rbf.gamma[2]" for the second number of a vector, "2.rbf.gamma" for the second rbf of the
   expression, "factor" for a number in front of a product and "constant" for one that stands alone. */
#include "kernel/language/parameters.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/text.h"
#include "kernel/language/atoms.h"
#include "kernel/language/fits.h"
#include "kernel/language/node.h"
#include <float.h>
#include <math.h>

enum { FACTOR = MC_ATOM_COUNT, CONSTANT, LABELS };

typedef struct slot_walk {
    mc_slot *out; /* the first capacity slots */
    int64_t capacity, count;
    mc_text *names; /* NULL: none wanted */
    int64_t *begin; /* where the names begin */
    int seen[LABELS];
} slot_walk;

int64_t mc_slots_of_value(const mc_node *atom, int parameter) {
    const mc_parameter_row *row = &mc_atoms[atom->atom].parameter[parameter];
    const mc_value *value = &atom->parameter[parameter];
    if (row->choices > 0 || row->integer || (row->fixed && !(value->low < value->high)))
        return 0;
    return value->kind == MC_VALUE_NUMBER ? 1 : value->kind == MC_VALUE_VECTOR ? value->columns : 0;
}

static void add_name(slot_walk *w, const mc_slot *slot, int label) {
    static const char *const bare[] = {"factor", "constant"};
    w->begin[w->count] = w->names->length;
    if (w->seen[label] > 1)
        mc_text_add(w->names, "%d.", w->seen[label]);
    if (label >= FACTOR) {
        mc_text_string(w->names, bare[label - FACTOR]);
    } else {
        mc_text_string(w->names, mc_atoms[label].name);
        mc_text_string(w->names, ".");
        mc_text_string(w->names, mc_atoms[label].parameter[slot->parameter].name);
    }
    if (slot->parameter >= 0 && slot->node->parameter[slot->parameter].kind == MC_VALUE_VECTOR)
        mc_text_add(w->names, "[%lld]", (long long)slot->element + 1);
    mc_text_bytes(w->names, "", 1);
}

static void add_slot(slot_walk *w, mc_slot slot, int label) {
    if (w->names)
        add_name(w, &slot, label);
    if (w->count < w->capacity)
        w->out[w->count] = slot;
    w->count++;
}

/* Of numbers that stay side by side in a product, 0.1*3*k, the first is learned: it alone can make the product any
   number. */
static bool is_slot(const mc_node *number, const mc_node *parent) {
    return number->number > 0 && !(parent && parent->kind == MC_PRODUCT && parent->child[0] != number);
}

static void collect_slots(slot_walk *w, const mc_node *node, const mc_node *parent) {
    const bool in_product = parent && parent->kind == MC_PRODUCT;
    const int label = node->kind == MC_ATOM ? (int)node->atom : in_product ? FACTOR : CONSTANT;
    if (node->kind == MC_NUMBER && is_slot(node, parent)) {
        w->seen[label]++;
        add_slot(w, (mc_slot){node, -1, 0}, label);
    }
    if (node->kind == MC_ATOM) {
        w->seen[label]++;
        for (int i = 0; i < mc_atoms[node->atom].parameters; i++)
            for (int64_t j = 0; j < mc_slots_of_value(node, i); j++)
                add_slot(w, (mc_slot){node, i, j}, label);
    }
    for (int i = 0; i < node->children; i++)
        collect_slots(w, node->child[i], node);
}

int64_t mc_list_slots(const mc_node *root, mc_slot *out, int64_t capacity) {
    slot_walk w = {.out = out, .capacity = capacity};
    collect_slots(&w, root, NULL);
    return w.count;
}

mercer_status mc_slots_fill(mercer_ctx *ctx, mercer_kernel *kernel) {
    kernel->slots = mc_list_slots(kernel->root, NULL, 0);
    MC_TRY(MC_ALLOC(ctx, kernel->slot, kernel->slots));
    MC_TRY(MC_ALLOC(ctx, kernel->slot_name, kernel->slots));
    mc_text names = mc_text_open(ctx);
    slot_walk w = {.out = kernel->slot, .capacity = kernel->slots, .names = &names, .begin = kernel->slot_name};
    collect_slots(&w, kernel->root, NULL);
    return mc_text_take(&names, &kernel->slot_names);
}

int64_t mercer_kernel_parameters(const mercer_kernel *kernel) {
    if (!kernel)
        return 0;
    return kernel->slots;
}

const char *mercer_kernel_parameter_name(const mercer_kernel *kernel, int64_t i) {
    if (!kernel)
        return NULL;
    return i >= 0 && i < kernel->slots ? kernel->slot_names + kernel->slot_name[i] : NULL;
}

double mercer_kernel_parameter(const mercer_kernel *kernel, int64_t i) {
    if (!kernel)
        return NAN;
    if (i < 0 || i >= kernel->slots)
        return NAN;
    const mc_slot *slot = &kernel->slot[i];
    return slot->parameter < 0 ? slot->node->number
                               : mc_value_at(&slot->node->parameter[slot->parameter], slot->element);
}

/* Factors stay above 0, so that the new kernel has the same slots. */
static mercer_status check_parameter(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t i, double v) {
    const mc_slot *slot = &kernel->slot[i];
    const mc_parameter_row *row = slot->parameter < 0 ? NULL : &mc_atoms[slot->node->atom].parameter[slot->parameter];
    char range[96] = "above 0", text[32];
    if (row ? mc_parameter_allows(row, v) : v > 0 && isfinite(v))
        return MERCER_OK;
    if (row)
        mc_parameter_range(row, v, range, sizeof range);
    else if (v > 0)
        mc_print(range, sizeof range, "finite");
    return mc_fail(ctx, MERCER_INVALID, "%s must be %s, got %s", mercer_kernel_parameter_name(kernel, i), range,
                   mc_seen_text(v, 0, DBL_MAX, text));
}

static void set_slot(const mc_slot *slot, double v) {
    mc_node *node = (mc_node *)slot->node; /* of a copy that is ours */
    if (slot->parameter < 0)
        node->number = v;
    else if (node->parameter[slot->parameter].kind == MC_VALUE_VECTOR)
        node->parameter[slot->parameter].numbers[slot->element] = v;
    else
        node->parameter[slot->parameter].number = v;
}

static mercer_status copy_with(mercer_ctx *ctx, const mc_node *tree, int64_t slots, const double *parameters,
                               mc_node **out) {
    mc_slot *slot = NULL;
    MC_TRY(MC_ALLOC(ctx, slot, slots));
    const mercer_status status = mc_node_copy(ctx, tree, out);
    if (!status) {
        mc_list_slots(*out, slot, slots);
        for (int64_t i = 0; i < slots; i++)
            set_slot(&slot[i], parameters[i]);
    }
    mc_free(slot);
    return status;
}

/* Nothing is simplified: a factor that happens to be 1 stays a parameter. */
mercer_status mc_kernel_with(mercer_ctx *ctx, const mercer_kernel *kernel, const double *parameters,
                             mercer_kernel **out) {
    *out = NULL;
    for (int64_t i = 0; i < kernel->slots; i++)
        MC_TRY(check_parameter(ctx, kernel, i, parameters[i]));
    mc_node *root = NULL, *local = NULL;
    MC_TRY(copy_with(ctx, mc_kernel_shown(kernel), kernel->slots, parameters, &root));
    MC_TRY(mc_kernel_make(ctx, root, kernel->d, out));
    if (!kernel->shown)
        return MERCER_OK;
    const mercer_status status = copy_with(ctx, kernel->root, kernel->slots, parameters, &local);
    if (!status) {
        mc_kernel_take_local(*out, local);
        return MERCER_OK;
    }
    mercer_kernel_free(*out);
    *out = NULL;
    return status;
}

mercer_status mercer_kernel_with(mercer_ctx *ctx, const mercer_kernel *kernel, const double *parameters,
                                 mercer_kernel **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, kernel, parameters, out);
    mc_begin_call(ctx);
    return mc_kernel_with(ctx, kernel, parameters, out);
}

mercer_status mercer_kernel_gradient(mercer_ctx *ctx, const mercer_kernel *kernel, const double *x, const double *z,
                                     int64_t d, double *value, double *gradient) {
    MC_NEED(ctx, kernel, x, z, value, gradient);
    mc_begin_call(ctx);
    MC_TRY(mc_kernel_check_ready(ctx, kernel, d));
    MC_TRY(mc_kernel_check_point(ctx, kernel, x, d, "x"));
    MC_TRY(mc_kernel_check_point(ctx, kernel, z, d, "z"));
    *value = mc_eval_gradient(mc_kernel_shown(kernel), x, z, d, gradient);
    return MERCER_OK;
}

/* ---- Left to tuning ---- */

/* Ranges and sets of an expression, found and replaced by numbers in the order they are printed. */

static bool is_left_open(const mc_value *value) {
    return value->kind == MC_VALUE_RANGE || value->kind == MC_VALUE_SET;
}

typedef struct open_walk {
    mc_open_value *out;
    int64_t capacity, count;
} open_walk;

static void list_open_values(open_walk *w, const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++) {
        if (!is_left_open(&node->parameter[i]))
            continue;
        if (w->count < w->capacity)
            w->out[w->count] =
                (mc_open_value){&node->parameter[i], &mc_atoms[node->atom], &mc_atoms[node->atom].parameter[i]};
        w->count++;
    }
    for (int i = 0; i < node->children; i++)
        list_open_values(w, node->child[i]);
}

int64_t mc_kernel_open_values(const mercer_kernel *kernel, mc_open_value *out, int64_t capacity) {
    open_walk w = {.out = out, .capacity = capacity};
    list_open_values(&w, kernel->root);
    return w.count;
}

static void put_numbers(mc_node *node, const double **next) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++) {
        mc_value *value = &node->parameter[i];
        if (!is_left_open(value))
            continue;
        const bool range = value->kind == MC_VALUE_RANGE;
        const mc_value chosen = {.kind = MC_VALUE_NUMBER,
                                 .number = *(*next)++,
                                 .offset = value->offset,
                                 .low = range ? value->low : 0,
                                 .high = range ? value->high : 0};
        mc_value_free(value);
        *value = chosen;
    }
    for (int i = 0; i < node->children; i++)
        put_numbers(node->child[i], next);
}

mercer_status mc_kernel_choose(mercer_ctx *ctx, const mercer_kernel *kernel, const double *numbers,
                               mercer_kernel **out) {
    mc_node *root = NULL;
    *out = NULL;
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(kernel), &root));
    put_numbers(root, &numbers);
    return mc_kernel_wrap(ctx, root, out);
}

/* ranges_of_kernel.c: ranges and sets of an expression, found and replaced by numbers in the order they are printed. */
#include "kernel/language/ranges_of_kernel.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include <math.h>

static bool is_left_open(const mc_value *value) {
    return value->kind == MC_VALUE_RANGE || value->kind == MC_VALUE_SET;
}

typedef struct walk {
    mc_open_value *out;
    int64_t room, count;
} walk;

static void list(walk *w, const mc_node *node) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++) {
        if (!is_left_open(&node->parameter[i]))
            continue;
        if (w->count < w->room)
            w->out[w->count] =
                (mc_open_value){&node->parameter[i], &mc_atoms[node->atom], &mc_atoms[node->atom].parameter[i]};
        w->count++;
    }
    for (int i = 0; i < node->children; i++)
        list(w, node->child[i]);
}

int64_t mc_kernel_open_values(const mercer_kernel *kernel, mc_open_value *out, int64_t room) {
    walk w = {.out = out, .room = room};
    list(&w, kernel->root);
    return w.count;
}

static void put(mc_node *node, const double **next) {
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
        put(node->child[i], next);
}

mercer_status mc_kernel_choose(mercer_ctx *ctx, const mercer_kernel *kernel, const double *numbers,
                               mercer_kernel **out) {
    mc_node *root = NULL;
    *out = NULL;
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(kernel), &root));
    put(root, &numbers);
    return mc_kernel_wrap(ctx, root, out);
}

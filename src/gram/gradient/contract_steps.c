/* contract_steps.c: see contract_steps.h. */
#include "gram/gradient/contract_steps.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/gradient/contract_atoms.h"
#include <math.h>

typedef mc_contract_step step;

static void find_slots(const mercer_kernel *kernel, step *s) {
    s->number_slot = -1;
    for (int k = 0; k < MC_PARAMETERS_MAX; k++)
        s->slot[k] = -1;
    for (int64_t i = kernel->slots - 1; i >= 0; i--) {
        if (kernel->slot[i].node != s->node)
            continue;
        if (kernel->slot[i].parameter < 0)
            s->number_slot = i;
        else
            s->slot[kernel->slot[i].parameter] = i - kernel->slot[i].element;
    }
}

static bool covers_node(const mc_node *node) {
    if (node->kind == MC_NORMALIZE || (node->kind == MC_ATOM && !mc_contract_atoms[node->atom].forward))
        return false;
    if (node->kind == MC_ATOM && node->atom == MC_POLY && node->parameter[0].number != floor(node->parameter[0].number))
        return false;
    for (int i = 0; i < node->children; i++)
        if (!covers_node(node->child[i]))
            return false;
    return true;
}

int mc_contract_count(const mc_node *node) {
    int total = 1;
    for (int i = 0; i < node->children && total <= MC_CONTRACT_NODES; i++)
        total += mc_contract_count(node->child[i]);
    return total;
}

bool mc_contract_covers(const mc_node *root) {
    return covers_node(root) && mc_contract_count(root) <= MC_CONTRACT_NODES;
}

/* column: the columns in view, d of them. Returns the step of the node in *out. */
static mercer_status lay_flat(mercer_ctx *ctx, mc_contract_steps *p, const mc_node *node, const int64_t *column,
                              int64_t d, int *out) {
    int64_t *view = NULL;
    const int64_t count = node->kind == MC_COLUMNS ? node->columns : d;
    MC_TRY(MC_ALLOC(ctx, view, count));
    for (int64_t j = 0; j < count; j++)
        view[j] = node->kind == MC_COLUMNS ? column[node->column[j]] : column[j];
    step s = {.node = node, .d = count, .column = view};
    for (int i = 0; i < node->children; i++) {
        const mercer_status status = lay_flat(ctx, p, node->child[i], view, count, &s.child[i]);
        if (status) {
            mc_free(view);
            return status;
        }
        s.children++;
    }
    find_slots(p->kernel, &s);
    *out = p->count;
    p->step[p->count++] = s;
    return MERCER_OK;
}

mercer_status mc_contract_steps_open(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d,
                                     mc_contract_steps *steps) {
    int64_t *all = NULL;
    int root;
    steps->kernel = kernel;
    MC_TRY(MC_ALLOC(ctx, all, d));
    for (int64_t j = 0; j < d; j++)
        all[j] = j;
    const mercer_status status = lay_flat(ctx, steps, kernel->root, all, d, &root);
    mc_free(all);
    return status;
}

void mc_contract_steps_close(mc_contract_steps *steps) {
    for (int k = 0; k < steps->count; k++) {
        mc_free(steps->step[k].column);
        mc_free(steps->step[k].weight);
    }
    steps->count = 0;
}

/* f of every row, for weigh. */
mercer_status mc_contract_weights(mercer_ctx *ctx, mc_contract_steps *p, int64_t n, int64_t d, const double *rows,
                                  int64_t width) {
    double *seen = NULL;
    MC_TRY(MC_ALLOC(ctx, seen, d));
    mercer_status status = MERCER_OK;
    for (int k = 0; k < p->count && !status; k++) {
        step *s = &p->step[k];
        if (s->node->kind != MC_WEIGH)
            continue;
        status = MC_ALLOC(ctx, s->weight, n);
        for (int64_t i = 0; i < n && !status; i++) {
            for (int64_t j = 0; j < s->d; j++)
                seen[j] = rows[i * width + s->column[j]];
            s->weight[i] = mc_function_eval(s->node->function, seen, s->d);
        }
    }
    mc_free(seen);
    return status;
}

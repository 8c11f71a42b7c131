/* centre.c: see centre.h. */
#include "kernel/language/centre.h"
#include "base/status.h"
#include "kernel/language/atoms.h"

static bool centre_node(mc_node *node);

static bool centre_atom(mc_node *atom) {
    const mc_atom_row *row = &mc_atoms[atom->atom];
    if (row->order != 1 || !mc_atom_is_conditional(atom))
        return false;
    atom->parameter[row->parameters - 1].number = 1;
    return true;
}

static bool centre_term(mc_node *term) {
    if (term->kind != MC_NUMBER)
        return centre_node(term);
    const bool below = term->number < 0;
    term->number = below ? 0 : term->number;
    return below;
}

/* The one factor that is not a number; NULL: there are several, or a number below 0. */
static mc_node *only_factor(mc_node *product) {
    mc_node *other = NULL;
    for (int i = 0; i < product->children; i++) {
        mc_node *child = product->child[i];
        if (child->kind == MC_NUMBER ? !(child->number >= 0) : other != NULL)
            return NULL;
        other = child->kind == MC_NUMBER ? other : child;
    }
    return other;
}

static bool centre_node(mc_node *node) {
    bool changed = false;
    switch (node->kind) {
    case MC_ATOM: return centre_atom(node);
    case MC_COLUMNS: return centre_node(node->child[0]);
    case MC_PRODUCT: {
        mc_node *factor = only_factor(node);
        return factor && centre_node(factor);
    }
    case MC_SUM:
        for (int i = 0; i < node->children; i++)
            changed = centre_term(node->child[i]) || changed;
        return changed;
    default: return false;
    }
}

mercer_status mc_kernel_centre(mercer_ctx *ctx, const mercer_kernel *kernel, mercer_kernel **out) {
    mc_node *root = NULL;
    *out = NULL;
    MC_TRY(mc_node_copy(ctx, mc_kernel_shown(kernel), &root));
    if (centre_node(root))
        return mc_kernel_wrap(ctx, root, out);
    mc_node_free(root);
    return MERCER_OK;
}

/* attached_rows.c: the features of the texts of a problem, numbered once for every operator that is opened on some of
   its rows. */
#include "kernel/evaluate/text_rows.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/attached.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/language/node.h"

/* The rows of one atom, of which they have a copy: the kernel may be gone before the data. */
typedef struct atom_rows {
    mc_node *atom;
    mc_text_rows rows;
    struct atom_rows *next;
} atom_rows;

typedef struct text_attachment {
    mc_attached head; /* the first */
    atom_rows *first;
} text_attachment;

static bool is_of(const atom_rows *known, const mc_node *atom) {
    return known->atom->parameter[MC_TEXT_COLUMN].number == atom->parameter[MC_TEXT_COLUMN].number
           && mc_node_equal(known->atom, atom);
}

static const atom_rows *find_rows(const mc_attached *attached, const mc_node *atom) {
    const atom_rows *known = attached ? ((const text_attachment *)(const void *)attached)->first : NULL;
    while (known && !is_of(known, atom))
        known = known->next;
    return known;
}

const mc_text_rows *mc_text_rows_of(const mc_node *atom, const mercer_data *x, const mercer_data *z) {
    const atom_rows *known = x->attached == z->attached ? find_rows(x->attached, atom) : NULL;
    return known ? &known->rows : NULL;
}

static void free_attached_rows(text_attachment *attachment) {
    for (atom_rows *known = attachment->first, *next; known; known = next) {
        next = known->next;
        mc_text_rows_free(&known->rows);
        mc_node_free(known->atom);
        mc_free(known);
    }
    attachment->first = NULL;
}

static void close_attachment(mc_attached *attached) {
    free_attached_rows((text_attachment *)(void *)attached);
    mc_free(attached);
}

size_t mc_text_rows_attached_bytes(const mercer_data *data) {
    size_t most = 0;
    if (data->attached)
        for (const atom_rows *known = ((const text_attachment *)(const void *)data->attached)->first; known;
             known = known->next)
            most = known->rows.making > most ? known->rows.making : most;
    return most;
}

void mc_text_rows_detach(mercer_data *data) {
    if (data && data->attached)
        free_attached_rows((text_attachment *)(void *)data->attached);
}

/* A quarter of what is left is theirs. */
static bool has_room(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data) {
    return mc_work_need(2 * mc_text_rows_total(atom, data), sizeof(int32_t) + sizeof(double)) < mc_memory_left(ctx) / 4;
}

static mercer_status add_atom(mercer_ctx *ctx, const mc_node *atom, mercer_data *data) {
    text_attachment *to = (text_attachment *)(void *)data->attached;
    mc_text_side side = {.data = data};
    atom_rows *one = NULL;
    if (find_rows(data->attached, atom) || !has_room(ctx, atom, data))
        return MERCER_OK;
    mc_node *copy = NULL;
    mercer_status status = mc_text_rows_make(ctx, atom, &side, 1);
    MC_THEN(status, mc_node_copy(ctx, atom, &copy));
    MC_THEN(status, MC_ALLOC(ctx, one, 1));
    if (status) {
        mc_text_rows_free(&side.rows);
        mc_node_free(copy);
        return status;
    }
    *one = (atom_rows){.atom = copy, .rows = side.rows, .next = to->first};
    to->first = one;
    return MERCER_OK;
}

static mercer_status add_atoms(mercer_ctx *ctx, const mc_node *node, mercer_data *data) {
    for (int i = 0; i < node->children; i++)
        MC_TRY(add_atoms(ctx, node->child[i], data));
    return mc_node_has_features(node) ? add_atom(ctx, node, data) : MERCER_OK;
}

mercer_status mc_text_rows_attach(mercer_ctx *ctx, const mc_node *root, mercer_data *data) {
    text_attachment *fresh = NULL;
    MC_TRY(MC_ALLOC(ctx, fresh, 1));
    atomic_init(&fresh->head.owners, 1);
    fresh->head.close = close_attachment;
    mc_data_drop_attached(data); /* of a larger table */
    data->attached = &fresh->head;
    return add_atoms(ctx, root, data);
}

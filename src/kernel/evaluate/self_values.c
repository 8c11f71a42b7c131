/* self_values.c: the squares of the counts of the parts of every text, summed up. */
#include "kernel/evaluate/self_values.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/evaluate/text_rows.h"
#include "kernel/language/node.h"

enum { LONG = 1024, GRAIN = 16 }; /* bytes of a text that is worth it; rows of a chunk */

/* The values of one atom, in a list. */
struct mc_self_values {
    const mc_node *atom;
    size_t p;
    int64_t text;
    double *value; /* n */
    mc_self_values *next;
};

typedef struct counting {
    const mercer_data *data;
    mc_self_values *of;
    int64_t longest;       /* parts of one text, at most */
    uint32_t *slot;        /* 4 longest per thread */
    mc_counted_part *part; /* longest per thread */
} counting;

static const char *text_of(const counting *c, int64_t i) {
    return c->data->text[i * c->data->texts + c->of->text];
}

static void count_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const counting *c = arg;
    mc_part_tally t = {.slot = c->slot + 4 * thread * c->longest, .part = c->part + thread * c->longest};
    for (int64_t i = begin; i < end; i++) {
        mc_part_walk w = mc_parts_of(text_of(c, i), c->of->p);
        mc_parts_count(&t, &w, c->longest);
        c->of->value[i] = mc_parts_self(&t);
    }
}

static mercer_status count_texts(mercer_ctx *ctx, counting *c) {
    const int64_t threads = mc_for_threads(ctx, mc_chunk_count(c->data->n, GRAIN));
    mercer_status status = MC_ALLOC(ctx, c->slot, 4 * threads * c->longest);
    MC_THEN(status, MC_ALLOC(ctx, c->part, threads * c->longest));
    MC_THEN(status, MC_ALLOC(ctx, c->of->value, c->data->n));
    MC_THEN(status, mc_for(ctx, c->data->n, GRAIN, count_rows, c));
    mc_free(c->slot);
    mc_free(c->part);
    return status;
}

/* ---- Features that are not counted alone ---- */

static mercer_status copy_known(mercer_ctx *ctx, const counting *c, const mc_text_rows *rows) {
    MC_TRY(MC_ALLOC(ctx, c->of->value, c->data->n));
    for (int64_t i = 0; i < c->data->n; i++)
        c->of->value[i] = rows->self[mc_text_row_place(c->data, i)];
    return MERCER_OK;
}

static mercer_status sum_texts(mercer_ctx *ctx, counting *c) {
    MC_TRY(MC_ALLOC(ctx, c->of->value, c->data->n));
    return mc_text_rows_self(ctx, c->of->atom, c->data, c->of->value);
}

static bool is_counted(const mc_node *atom) {
    return atom->atom == MC_SPECTRUM && atom->parameter[1].number == 0;
}

static mercer_status add_atom(mercer_ctx *ctx, const mc_node *atom, const mercer_data *data, mc_self_values **list) {
    double known;
    mc_self_values *one = NULL;
    counting c = {.data = data, .longest = 0};
    if (mc_self_value(*list, atom, 0, &known))
        return MERCER_OK;
    MC_TRY(MC_ALLOC(ctx, one, 1));
    *one = (mc_self_values){.atom = atom,
                            .p = (size_t)atom->parameter[0].number,
                            .text = (int64_t)atom->parameter[MC_TEXT_COLUMN].number,
                            .next = *list};
    c.of = one;
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t length = (int64_t)strlen(text_of(&c, i));
        c.longest = length > c.longest ? length : c.longest;
    }
    const mc_text_rows *rows = mc_text_rows_of(atom, data, data);
    const bool worth = rows || !is_counted(atom) || c.longest > LONG;
    const mercer_status status = !worth             ? MERCER_OK
                                 : rows             ? copy_known(ctx, &c, rows)
                                 : is_counted(atom) ? count_texts(ctx, &c)
                                                    : sum_texts(ctx, &c);
    if (status || !worth) {
        mc_free(one->value);
        mc_free(one);
    } else
        *list = one;
    return status;
}

static mercer_status add_atoms(mercer_ctx *ctx, const mc_node *node, const mercer_data *data, mc_self_values **list) {
    for (int i = 0; i < node->children; i++)
        MC_TRY(add_atoms(ctx, node->child[i], data, list));
    return mc_node_has_features(node) && data->n > 0 ? add_atom(ctx, node, data, list) : MERCER_OK;
}

mercer_status mc_self_values_open(mercer_ctx *ctx, const mc_node *root, const mercer_data *data, mc_self_values **out) {
    *out = NULL;
    const mercer_status status = add_atoms(ctx, root, data, out);
    if (status) {
        mc_self_values_close(*out);
        *out = NULL;
    }
    return status;
}

void mc_self_values_close(mc_self_values *self) {
    while (self) {
        mc_self_values *next = self->next;
        mc_free(self->value);
        mc_free(self);
        self = next;
    }
}

bool mc_self_value(const mc_self_values *self, const mc_node *atom, int64_t row, double *out) {
    for (; self; self = self->next)
        if (self->atom == atom || mc_node_equal(self->atom, atom)) {
            *out = self->value[row];
            return true;
        }
    return false;
}

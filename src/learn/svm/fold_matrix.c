/* fold_matrix.c: see fold_matrix.h. */
#include "learn/svm/fold_matrix.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "qp/batch_smo.h"
#include <string.h>

size_t mc_fold_square_bytes(int64_t n, size_t entry) {
    return mc_work_need(n * n + MC_BATCH_SMO_PADDING, entry);
}

void *mc_fold_square_take(mercer_ctx *ctx, mc_buffer *buffer, int64_t n, size_t entry) {
    char *block = mc_buffer_reserve(ctx, buffer, mc_fold_square_bytes(n, entry));
    if (block)
        memset(block + (size_t)(n * n) * entry, 0, MC_BATCH_SMO_PADDING * entry);
    return block;
}

typedef struct fold_copy {
    const mc_fold_matrix *m;
    const char *whole;
    char *copy;
} fold_copy;

static void copy_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const fold_copy *c = arg;
    const mc_svm *s = c->m->s;
    const mc_svm_program *t = c->m->t;
    const size_t entry = mc_dtype_size(s->solver->dtype), first = (size_t)t->split, rest = (size_t)t->n - first,
                 n = (size_t)s->p.n;
    for (int64_t i = begin; i < end; i++) {
        const char *from = c->whole + (size_t)mc_svm_program_row(s, t, i) * n * entry;
        char *to = c->copy + (size_t)(i * t->n) * entry;
        memcpy(to, from + (size_t)s->start[t->a] * entry, first * entry);
        memcpy(to + first * entry, from + (size_t)s->start[t->b] * entry, rest * entry);
    }
}

mercer_status mc_fold_matrix_open(mercer_ctx *ctx, const mc_svm *s, const mc_svm_program *t, const void *whole,
                                  mc_buffer *buffer, mc_fold_matrix *out) {
    *out = (mc_fold_matrix){.s = s, .t = t, .K = whole};
    if (t->n == s->p.n)
        return MERCER_OK;
    fold_copy c = {.m = out, .whole = whole};
    MC_TRY(MC_ALLOC(ctx, out->diagonal, t->n));
    if (!(c.copy = mc_fold_square_take(ctx, buffer, t->n, mc_dtype_size(s->solver->dtype))))
        return MERCER_MEMORY;
    out->K = c.copy;
    for (int64_t i = 0; i < t->n; i++)
        out->diagonal[i] = s->diagonal[mc_svm_program_row(s, t, i)];
    return mc_for(ctx, t->n, 64, copy_rows, &c);
}

void mc_fold_matrix_close(mc_fold_matrix *m) {
    mc_free(m->diagonal);
    m->diagonal = NULL;
}

/* Entries are what they are, in whatever precision they are asked for. */
mc_matrix mc_fold_matrix_view(const mc_fold_matrix *m) {
    const int64_t n = m->t->n;
    mc_matrix K = mc_matrix_square(n, m->s->solver->dtype, m->K, n, m->diagonal ? m->diagonal : m->s->diagonal);
    K.exact_entries = true;
    return K;
}

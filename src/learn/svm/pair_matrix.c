/* pair_matrix.c: see pair_matrix.h. Where K of the classes is kept a row of a pair lacks only its columns of the other
   class, so that no entry of the K of all rows is made twice. */
#include "learn/svm/pair_matrix.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include <string.h>

enum {
    MOST = 4000,       /* rows of a pair all of whose K is made where many of them are needed */
    LARGE_SHARE = 12,  /* of the rows of a larger one, after which it is given up */
    ENTRIES = 1 << 24, /* of the rows that are kept of one */
    LEAST = 128,       /* rows of K for which it is worth beginning */
    MANY_CLASSES = 6   /* from which each is in so many pairs that all of its K is worth making */
};

/* ---- K of each class ---- */

static int64_t class_entries(int64_t rows) {
    return rows * mc_kernel_runs_ld(rows);
}

/* Entries that are long sums are worth sharing by any number of pairs. */
size_t mc_class_matrices_bytes(const mercer_ctx *ctx, const mercer_data *x, const int64_t *rows, int64_t classes) {
    int64_t entries = 0, largest = 0;
    if (classes < MANY_CLASSES && mercer_data_stored(x) < MC_SVM_LONG * x->n)
        return 0;
    for (int64_t c = 0; c < classes; c++) {
        entries += class_entries(rows[c]);
        largest = rows[c] > largest ? rows[c] : largest;
    }
    const size_t bytes = mc_work_need(entries, sizeof(double));
    return largest <= MOST && bytes <= mc_memory_left(ctx) / 4 ? bytes : 0;
}

static mercer_status count_class_rows(mercer_ctx *ctx, const mc_svm *s, int64_t **rows) {
    MC_TRY(MC_ALLOC(ctx, *rows, s->classes));
    for (int64_t c = 0; c < s->classes; c++)
        (*rows)[c] = s->start[c + 1] - s->start[c];
    return MERCER_OK;
}

/* Lanes beyond the last column are read. */
static void close_rows(double *K, int64_t rows, int64_t columns, int64_t ld) {
    for (int64_t i = 0; i < rows; i++)
        memset(K + i * ld + columns, 0, (size_t)(ld - columns) * sizeof *K);
}

static mercer_status make_class(mercer_ctx *ctx, const mc_svm *s, int64_t c, double *K) {
    const int64_t first = s->start[c], end = s->start[c + 1], rows = end - first, ld = mc_kernel_runs_ld(rows);
    close_rows(K, rows, rows, ld);
    return mc_gram_block(ctx, s->kept.gram, first, end, first, end, MERCER_F64, K, ld);
}

static mercer_status make_classes(mercer_ctx *ctx, const int64_t *rows, mc_class_matrices *m) {
    const int64_t classes = m->s->classes;
    MC_TRY(MC_ALLOC(ctx, m->begin, classes + 1));
    for (int64_t c = 0; c < classes; c++)
        m->begin[c + 1] = m->begin[c] + class_entries(rows[c]);
    if (!(m->K = mc_alloc_unset(ctx, m->begin[classes], sizeof *m->K)))
        return MERCER_MEMORY;
    for (int64_t c = 0; c < classes; c++)
        MC_TRY(make_class(ctx, m->s, c, m->K + m->begin[c]));
    return MERCER_OK;
}

mercer_status mc_class_matrices_open(mercer_ctx *ctx, const mc_svm *s, mc_class_matrices *out) {
    int64_t *rows = NULL;
    *out = (mc_class_matrices){.s = s};
    mercer_status status = count_class_rows(ctx, s, &rows);
    out->shared = !status && mc_class_matrices_bytes(ctx, s->p.x, rows, s->classes) > 0;
    if (out->shared)
        status = make_classes(ctx, rows, out);
    mc_free(rows);
    return status;
}

void mc_class_matrices_close(mc_class_matrices *m) {
    mc_free(m->K);
    mc_free(m->begin);
}

/* ---- K of a pair ---- */

/* Rows of it that there is room for, of a pair of so many. */
static int64_t kept_rows(int64_t n) {
    const int64_t share = n / LARGE_SHARE, fit = ENTRIES / mc_kernel_runs_ld(n);
    return n <= MOST ? n : share < fit ? share : fit;
}

bool mc_pair_matrix_worth(int64_t n, bool at_zero) {
    return n <= MOST || (kept_rows(n) >= LEAST && n < INT32_MAX && at_zero);
}

/* Doubles of a row that is made. */
static int64_t row_doubles(bool shared, int64_t rows_a, int64_t rows_b) {
    return mc_kernel_runs_ld(!shared ? rows_a + rows_b : rows_a > rows_b ? rows_a : rows_b);
}

/* The lines of rows that are made, one for each row. */
static int32_t *lay_out_pair(mc_work *work, bool shared, int64_t rows_a, int64_t rows_b, mc_pair_matrix *out) {
    const int64_t n = rows_a + rows_b;
    out->ld = row_doubles(shared, rows_a, rows_b);
    out->K = mc_work_take(work, kept_rows(n) * out->ld, sizeof *out->K);
    out->diagonal = mc_work_take(work, n, sizeof *out->diagonal);
    return mc_work_take(work, n, sizeof(int32_t));
}

size_t mc_pair_matrix_bytes(bool shared, int64_t rows_a, int64_t rows_b) {
    mc_work counted = {0};
    lay_out_pair(&counted, shared, rows_a, rows_b, &(mc_pair_matrix){0});
    return counted.used;
}

typedef struct runs {
    int64_t first[2], count[2]; /* rows of the data */
} runs;

static runs runs_of(const mc_pair_matrix *p) {
    const mc_svm_program *t = p->t;
    const int64_t *start = p->classes->s->start;
    return (runs){{start[t->a], start[t->b]}, {t->split, t->n - t->split}};
}

static void make_all_rows(const mc_pair_matrix *p) {
    const runs r = runs_of(p);
    double *second = p->K + r.count[0] * p->ld;
    if (!p->classes->shared) {
        mc_gram_write_square(&p->writer, 2, r.first, r.count, p->K, p->ld);
        close_rows(p->K, p->t->n, p->t->n, p->ld);
        return;
    }
    mc_gram_write_between(&p->writer, r.first, r.count, p->K, p->ld, second, p->ld);
    close_rows(p->K, r.count[0], r.count[1], p->ld);
    close_rows(second, r.count[1], r.count[0], p->ld);
}

/* Those of the listed rows that are of one of the classes, against the other one. */
static void make_rows_of_class(const mc_pair_matrix *p, const runs *r, int own, const int64_t *rows, int64_t listed,
                               double *K) {
    int64_t row[MC_ROWS_TOGETHER], count = 0;
    double *to[MC_ROWS_TOGETHER];
    for (int64_t k = 0; k < listed; k++)
        if ((rows[k] >= r->count[0]) == own) {
            row[count] = mc_svm_program_row(p->classes->s, p->t, rows[k]);
            to[count++] = K + k * p->ld;
            close_rows(K + k * p->ld, 1, r->count[!own], p->ld);
        }
    mc_gram_write_rows(&p->writer, row, count, 1, &r->first[!own], &r->count[!own], to);
}

static void make_whole_rows(const mc_pair_matrix *p, const runs *r, const int64_t *rows, int64_t listed, double *K) {
    int64_t row[MC_ROWS_TOGETHER];
    double *to[MC_ROWS_TOGETHER];
    for (int64_t k = 0; k < listed; k++) {
        row[k] = mc_svm_program_row(p->classes->s, p->t, rows[k]);
        to[k] = K + k * p->ld;
    }
    close_rows(K, listed, p->t->n, p->ld);
    mc_gram_write_rows(&p->writer, row, listed, 2, r->first, r->count, to);
}

/* Rows of the pair, numbered as the program numbers them. */
static void make_rows(const mc_rows_on_demand *self, const int64_t *rows, int64_t listed, int64_t line) {
    const mc_pair_matrix *p = (const mc_pair_matrix *)self;
    const runs r = runs_of(p);
    if (!rows)
        make_all_rows(p);
    else if (!p->classes->shared)
        make_whole_rows(p, &r, rows, listed, p->K + line * p->ld);
    else
        for (int own = 0; own < 2; own++)
            make_rows_of_class(p, &r, own, rows, listed, p->K + line * p->ld);
}

/* All rows cost as much as half of them, or two fifths where symmetry saves something. */
static mc_rows_on_demand open_demand(bool shared, int64_t n, int64_t together, int32_t *line) {
    const int64_t kept = kept_rows(n);
    mc_rows_on_demand demand = {.line = line, .most = kept, .look = kept / 4, .many = kept, .together = together};
    demand.make = make_rows;
    demand.all = n <= MOST;
    if (demand.all) {
        demand.most = shared ? n / 2 : 2 * n / 5;
        demand.look = n / 8;
        demand.many = shared ? n / 2 : n / 3;
    }
    for (int64_t i = 0; i < n; i++)
        line[i] = -1;
    return demand;
}

mc_kernel_runs mc_pair_matrix_open(const mc_class_matrices *classes, const mc_svm_program *t, mc_isa isa, mc_work *work,
                                   mc_pair_matrix *out) {
    const mc_svm *s = classes->s;
    const int64_t rows[] = {t->split, t->n - t->split}, class[] = {t->a, t->b};
    out->classes = classes;
    out->t = t;
    int32_t *const line = lay_out_pair(work, classes->shared, rows[0], rows[1], out);
    out->writer = mc_gram_writer_open(s->kept.gram, work);
    out->demand = open_demand(classes->shared, t->n, mc_gram_writer_rows(s->kept.gram), line);
    for (int64_t i = 0; i < t->n; i++)
        out->diagonal[i] = s->diagonal[mc_svm_program_row(s, t, i)];
    mc_kernel_runs K = {.runs = 2, .first = {0, rows[0]}, .count = {rows[0], rows[1]}, .K = out->K, .ld = out->ld};
    K.diagonal = out->diagonal;
    K.isa = isa;
    K.demand = &out->demand;
    for (int r = 0; r < 2 && classes->shared; r++) {
        K.within[r] = classes->K + classes->begin[class[r]];
        K.within_ld[r] = mc_kernel_runs_ld(rows[r]);
    }
    return K;
}

/* extended_product.c: every pair is evaluated once, by the thread of its later row. part[s][r] is what the STRIP rows
   of strip s add to row r: strip s writes it for the rows up to its own, and the strips after it for theirs. The parts
   of a row are added up in order at the end, so that STRIP + n/STRIP additions follow one another, not n. */
#include "certify/extended_product.h"
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "data/table/data.h"
#include "kernel/evaluate/eval_extended.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/node.h"
#include <float.h>
#include <math.h>

enum { STRIP = 64 };
/* columns of pairs; a pair costs as much as so many columns beside its own, an integral as much as so many more */
static const double WORK = 2e7, PAIR = 8, INTEGRAL = 300;

typedef struct extended_product {
    const mc_node *root;
    mc_view view;
    int64_t n, t, strips;
    const double *V;
    double *x;         /* the rows, dense */
    mc_extended *part; /* strips x n x t */
    mc_extended_product *out;
} extended_product;

static void lay_out_product(mc_work *work, void *self) {
    extended_product *p = self;
    const int64_t cells = p->n * p->t;
    p->strips = mc_chunk_count(p->n, STRIP);
    p->x = mc_work_take(work, p->n * p->view.d, sizeof *p->x);
    p->part = mc_work_take(work, p->strips * cells, sizeof *p->part);
    p->out->value = mc_work_take(work, cells, sizeof *p->out->value);
    p->out->error = mc_work_take(work, cells, sizeof *p->out->error);
}

static bool has_integral(const mc_node *node) {
    return node->kind == MC_ATOM && node->atom == MC_MATERN && !mc_matern_is_elementary(node->parameter[0].number);
}

bool mc_extended_pays(const mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t t) {
    const double pair = PAIR + (mc_node_any(kernel->root, has_integral) ? INTEGRAL : 0);
    mc_extended_product out;
    extended_product p = {.view = {.d = x->d}, .n = x->n, .t = t, .out = &out};
    return (double)x->n * (double)x->n * ((double)x->d + pair) <= WORK
           && mc_slices_bytes(lay_out_product, &p) + 2 * MC_ALIGN <= mc_memory_left(ctx);
}

/* all <- all + v k; its error is that of k, and of one addition among many, which `depth` counts. */
static void accumulate_extended(mc_extended *all, double v, mc_extended k, long double depth) {
    const long double term = v * k.value;
    all->value += term;
    all->error += fabsl(v * k.error) + depth * fabsl(term);
}

static mc_extended *part_of(const extended_product *p, int64_t strip, int64_t row) {
    return p->part + (strip * p->n + row) * p->t;
}

/* What the pair i, j <= i adds to row i, and to row j in the strip of i. */
static void add_pair(const extended_product *p, int64_t strip, int64_t i, int64_t j) {
    const int64_t d = p->view.d, t = p->t;
    const long double depth = (long double)(STRIP + p->strips + 4) * LDBL_EPSILON;
    const mc_extended k = mc_eval_extended(p->root, &p->view, p->x + i * d, p->x + j * d);
    mc_extended *to_i = part_of(p, j / STRIP, i), *to_j = part_of(p, strip, j);
    for (int64_t o = 0; o < t; o++) {
        accumulate_extended(&to_i[o], p->V[j * t + o], k, depth);
        if (j < i)
            accumulate_extended(&to_j[o], p->V[i * t + o], k, depth);
    }
}

static void multiply_strip(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)thread;
    const extended_product *p = arg;
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j <= i; j++)
            add_pair(p, chunk, i, j);
}

static void add_parts(const extended_product *p) {
    p->out->known = true;
    for (int64_t i = 0; i < p->n * p->t; i++) {
        long double sum = 0, wrong = 0;
        for (int64_t s = 0; s < p->strips; s++) {
            sum += part_of(p, s, 0)[i].value;
            wrong += part_of(p, s, 0)[i].error;
        }
        p->out->value[i] = sum;
        p->out->error[i] = 1.01 * (double)wrong + DBL_MIN;
        p->out->known &= isfinite(p->out->error[i]) != 0;
    }
}

mercer_status mc_extended_product_open(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *x, int64_t t,
                                       const double *V, mc_extended_product *out) {
    extended_product p = {.root = kernel->root, .view = {.d = x->d}, .n = x->n, .t = t, .V = V, .out = out};
    MC_TRY(mc_work_lay(ctx, &out->work, lay_out_product, &p));
    for (int64_t i = 0; i < x->n; i++)
        mc_data_values(x, i, p.x + i * x->d);
    const mercer_status status = mc_for(ctx, x->n, STRIP, multiply_strip, &p);
    if (status)
        mc_extended_product_close(out);
    else
        add_parts(&p);
    return status;
}

void mc_extended_product_close(mc_extended_product *again) {
    mc_work_close(&again->work);
}

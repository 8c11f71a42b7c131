/* precondition.c: the inverse of P = F F' + lambda I by the identity of Woodbury,

       P^-1 V = (V - F (G + lambda I)^-1 F' V) / lambda,   G = F'F,

   with F stored as floats and every product of it computed in double. That is what makes the identity safe: F is then
   an exact matrix, P an exactly positive definite one, and the subtraction loses no more than the last digits of double
   precision, as long as lambda is not below SAFE |F|^2; a smaller lambda is replaced by that. (In float arithmetic the
   subtraction would leave noise of 2^-24 |V| / lambda in the directions where P^-1 is smallest.)

   G costs n r^2 operations, its factor r^3/3, an application 4 n r t and one reading of F for each of its two products.
   Where there is a device that this is worth the way to, all of it is done there (precondition_device.c).

   G and F'V are sums over segments of rows (base/segments.h). Where ranks share F, each makes the sums of its own rows
   and its own rows of the result; G goes around one row of its blocks at a time. Everybody factors G. */
#include "iterative/precondition.h"
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include "backend/device.h"
#include "backend/dispatch.h"
#include "iterative/precondition_device.h"
#include "linalg/dense.h"
#include <math.h>
#include <string.h>

enum {
    ROWS = 256,  /* rows of a panel turned into doubles, or multiplied, at a time */
    GRAIN = 2048 /* rows of V laid out at a time */
};
static const double SAFE = 0x1p-44;

struct mc_precondition {
    const mc_lowrank *f;
    double shift;
    int64_t t;
    mc_work work;
    const mc_symv_f32_body *body;
    mc_device_woodbury *there; /* NULL: what follows is here */
    double *G;                 /* r x r */
    double *scratch;           /* per thread: see scratch_numbers */
    double *V;                 /* t planes of own rows; own rows of the result, where ranks share F */
    double *part;              /* per own segment, t planes of r */
    double *sum;               /* t planes of r */
    double *C;                 /* r x t, then t planes of r */
    double *blocks;            /* sums of a row of blocks of G: of own nodes, then of all; NULL: not shared */
    double *passed;            /* what mc_segments_sum works with */
};

typedef struct woodbury_size {
    const mc_segments *part;
    int64_t r, t;
    int threads;
} woodbury_size;

/* Numbers of a block of G. */
static int64_t block_numbers(int64_t rank) {
    return mc_min_count(rank, MC_PANEL) * mc_min_count(rank, MC_PANEL);
}

/* Two blocks of a panel while G is made, and a block of G for each level of the tree; then ROWS x t. */
static int64_t scratch_numbers(int64_t rank, int64_t t) {
    return mc_max_count(
        ROWS * mc_max_count(t, 2 * mc_min_count(rank, MC_PANEL)) + MC_SEGMENT_LEVELS * block_numbers(rank), 1);
}

static int64_t own_nodes(const mc_segments *part) {
    mc_segment_node node[MC_SEGMENT_NODES];
    return mc_segments_nodes(part, part->rank, node);
}

/* Numbers of a row of blocks of G, at most. */
static int64_t row_numbers(int64_t r) {
    return mc_chunk_count(r, MC_PANEL) * block_numbers(r);
}

static void lay_out_woodbury_workspace(mc_work *work, const woodbury_size *z, mc_precondition *s) {
    const mc_segments *part = z->part;
    const int64_t r = z->r, t = z->t, row = part->ranks > 1 ? row_numbers(r) : 0;
    s->G = mc_work_take(work, r * r, sizeof(double));
    s->scratch = mc_work_take(work, z->threads * scratch_numbers(r, t), sizeof(double));
    s->V = mc_work_take(work, part->rows * t, sizeof(double));
    s->part = mc_work_take(work, (part->end - part->first) * r * t, sizeof(double));
    s->sum = mc_work_take(work, r * t, sizeof(double));
    s->C = mc_work_take(work, 2 * r * t, sizeof(double));
    s->blocks = mc_work_take(work, (own_nodes(part) + 1) * row, sizeof(double));
    s->passed =
        mc_work_take(work, mc_max_count(mc_segments_work(part, row), mc_segments_work(part, r * t)), sizeof(double));
}

static size_t work_bytes(const woodbury_size *z) {
    mc_work counted = {0};
    lay_out_woodbury_workspace(&counted, z, &(mc_precondition){0});
    return counted.used;
}

/* What ranks hand around is more than a rank alone needs. */
size_t mc_precondition_bytes(mercer_ctx *ctx, int64_t n, int64_t rank, int64_t t) {
    const mc_segments whole = mc_segments_whole(n), shared = mc_segments_shared(ctx, n);
    woodbury_size z = {&whole, mc_min_count(rank, n), t, mercer_threads(ctx)};
    const size_t alone = work_bytes(&z);
    z.part = &shared;
    const size_t together = work_bytes(&z);
    return sizeof(mc_precondition) + (alone > together ? alone : together) + 4 * MC_ALIGN;
}

static int width_of(const mc_lowrank *f, int64_t panel) {
    const int64_t rest = f->rank - panel * MC_PANEL;
    return (int)(rest < MC_PANEL ? rest : MC_PANEL);
}

/* out (m x width, by columns) <- rows begin .. begin + m of a panel, as doubles. */
static void widen_panel(const mc_lowrank *f, int64_t panel, int64_t begin, int m, double *out) {
    const int width = width_of(f, panel);
    for (int k = 0; k < width; k++) {
        const float *column = f->panel[panel] + k * f->part.rows + begin;
        for (int i = 0; i < m; i++)
            out[i + k * m] = (double)column[i];
    }
}

/* What a thread makes a block of G with. */
typedef struct gram_scratch {
    double *left, *right, *level; /* of each level of the tree a block */
} gram_scratch;

static gram_scratch scratch_of(const mc_precondition *s, int thread) {
    double *at = s->scratch + thread * scratch_numbers(s->f->rank, s->t),
           *right = at + ROWS * mc_min_count(s->f->rank, MC_PANEL);
    return (gram_scratch){at, right, right + ROWS * mc_min_count(s->f->rank, MC_PANEL)};
}

/* out <- panel p against panel q over the rows of a segment. */
static void gram_of_segment(const mc_precondition *s, int64_t p, int64_t q, int64_t segment, const gram_scratch *c,
                            mc_dense out) {
    const mc_segments *part = &s->f->part;
    const int64_t end = mc_segment_begin(part, segment + 1) - part->begin;
    double *right = p == q ? c->left : c->right;
    double sum = 0;
    for (int64_t i = mc_segment_begin(part, segment) - part->begin; i < end; i += ROWS) {
        const int m = (int)mc_min_count(end - i, ROWS);
        widen_panel(s->f, p, i, m, c->left);
        if (p != q)
            widen_panel(s->f, q, i, m, right);
        mc_gemm(1, mc_row_major(c->left, width_of(s->f, p), m, m), mc_column_major(right, m, width_of(s->f, q), m), sum,
                out);
        sum = 1;
    }
}

static void add_block(const double *from, int64_t rows, int64_t columns, double *to, int64_t ld) {
    for (int64_t k = 0; k < columns; k++)
        for (int64_t i = 0; i < rows; i++)
            to[i + k * ld] += from[i + k * rows];
}

/* The same over the segments of a node; level: of what is below it, the first block. */
static void gram_of_node(const mc_precondition *s, int64_t p, int64_t q, mc_segment_node node, const gram_scratch *c,
                         double *out, int64_t ld) {
    const int64_t rows = width_of(s->f, p), columns = width_of(s->f, q);
    if (node.to - node.from == 1) {
        gram_of_segment(s, p, q, node.from, c, mc_column_major(out, rows, columns, ld));
        return;
    }
    const mc_segment_node left = mc_segment_left(node);
    const gram_scratch below = {c->left, c->right, c->level + rows * columns};
    gram_of_node(s, p, q, left, &below, out, ld);
    gram_of_node(s, p, q, (mc_segment_node){left.to, node.to}, &below, c->level, rows);
    add_block(c->level, rows, columns, out, ld);
}

/* One block of the lower half of G: panel p against panel q <= p, over all rows. */
static void gram_block(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_precondition *s = arg;
    int64_t p = 0, q = chunk;
    for (; q > p; p++)
        q -= p + 1;
    const gram_scratch c = scratch_of(s, thread);
    gram_of_node(s, p, q, (mc_segment_node){0, s->f->part.count}, &c, s->G + p * MC_PANEL + q * MC_PANEL * s->f->rank,
                 s->f->rank);
}

/* ---- Shared by ranks: one row of blocks of G at a time ---- */

typedef struct block_row {
    const mc_precondition *s;
    int64_t p, numbers; /* of all its blocks */
    int nodes;
    mc_segment_node node[MC_SEGMENT_NODES];
} block_row;

/* One block over one own node. */
static void row_block(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const block_row *b = arg;
    const mc_precondition *s = b->s;
    const int64_t q = chunk / b->nodes, node = chunk % b->nodes, rows = width_of(s->f, b->p);
    const gram_scratch c = scratch_of(s, thread);
    gram_of_node(s, b->p, q, b->node[node], &c, s->blocks + node * b->numbers + q * MC_PANEL * rows, rows);
}

static void put_row(const block_row *b, const double *sum) {
    const mc_precondition *s = b->s;
    const int64_t rows = width_of(s->f, b->p), columns = b->numbers / rows;
    for (int64_t k = 0; k < columns; k++)
        memcpy(s->G + b->p * MC_PANEL + k * s->f->rank, sum + k * rows, (size_t)rows * sizeof *sum);
}

static mercer_status share_block_row(mercer_ctx *ctx, mc_precondition *s, int64_t p) {
    const mc_segments *part = &s->f->part;
    block_row b = {.s = s, .p = p, .numbers = width_of(s->f, p) * (p * MC_PANEL + width_of(s->f, p))};
    b.nodes = mc_segments_nodes(part, part->rank, b.node);
    double *sum = s->blocks + b.nodes * b.numbers;
    const mercer_status status = mc_for(ctx, b.nodes * (p + 1), 1, row_block, &b);
    MC_TRY(mc_segments_sum(ctx, part, (uint64_t)p, status, s->blocks, b.numbers, s->passed, sum));
    put_row(&b, sum);
    return MERCER_OK;
}

static mercer_status make_gram(mercer_ctx *ctx, mc_precondition *s) {
    const int64_t panels = mc_chunk_count(s->f->rank, MC_PANEL);
    if (s->f->part.ranks == 1)
        return mc_for(ctx, panels * (panels + 1) / 2, 1, gram_block, s);
    for (int64_t p = 0; p < panels; p++)
        MC_TRY(share_block_row(ctx, s, p));
    return MERCER_OK;
}

/* G <- chol(F'F + shift I). */
static mercer_status factor_woodbury(mercer_ctx *ctx, mc_precondition *s, double lambda) {
    const int64_t r = s->f->rank;
    MC_TRY(make_gram(ctx, s));
    double trace = 0;
    for (int64_t k = 0; k < r; k++)
        trace += s->G[k * (r + 1)];
    s->shift = fmax(lambda, SAFE * trace);
    for (int64_t k = 0; k < r; k++)
        s->G[k * (r + 1)] += s->shift;
    int64_t bad = 0;
    MC_TRY(mc_potrf(ctx, mc_column_major(s->G, r, r, r), &bad));
    if (bad)
        return mc_fail(ctx, MERCER_NUMERIC, "the preconditioner broke down at column %lld of %lld; raise lambda",
                       (long long)bad, (long long)r);
    return MERCER_OK;
}

static mercer_status open_here(mercer_ctx *ctx, mc_precondition *s, double lambda) {
    const woodbury_size z = {&s->f->part, s->f->rank, s->t, mercer_threads(ctx)};
    MC_TRY(mc_work_open(ctx, &s->work, work_bytes(&z)));
    lay_out_woodbury_workspace(&s->work, &z, s);
    return s->f->rank ? factor_woodbury(ctx, s, lambda) : MERCER_OK;
}

static mercer_status open_there(mercer_ctx *ctx, mc_precondition *s) {
    mc_device *device = NULL;
    MC_TRY(mc_device_woodbury_place(ctx, s->f, s->t, &device));
    if (!device)
        return MERCER_OK;
    const mercer_status status = mc_device_woodbury_open(ctx, device, s->f, SAFE, s->t, &s->shift, &s->there);
    return !status || mc_device_leaves_it(ctx, device, status) ? MERCER_OK : status;
}

mercer_status mc_precondition_open(mercer_ctx *ctx, const mc_lowrank *f, double lambda, int64_t t,
                                   mc_precondition **out) {
    *out = NULL;
    mc_precondition *s = NULL;
    MC_TRY(MC_ALLOC(ctx, s, 1));
    *s = (mc_precondition){.f = f, .shift = lambda, .t = t, .body = mc_bodies_of(ctx->isa)->symv_f32};
    mercer_status status = open_there(ctx, s);
    if (!status && !s->there)
        status = open_here(ctx, s, lambda);
    if (status) {
        mc_precondition_close(s);
        return status;
    }
    *out = s;
    return MERCER_OK;
}

void mc_precondition_close(mc_precondition *s) {
    if (s) {
        mc_device_woodbury_close(s->there);
        mc_work_close(&s->work);
    }
    mc_free(s);
}

double mc_precondition_shift(const mc_precondition *s) {
    return s->shift;
}

/* shift^(n - r) det(F'F + shift I). */
double mc_precondition_log_det(const mc_precondition *s) {
    const int64_t r = s->f->rank;
    double sum = (double)(s->f->n - r) * log(s->shift);
    if (s->there)
        return sum + 2 * mc_device_woodbury_log_sum(s->there);
    for (int64_t k = 0; k < r; k++)
        sum += 2 * log(s->G[k * (r + 1)]);
    return sum;
}

typedef struct precondition_product {
    const mc_precondition *s;
    int64_t t;
    const double *V;
    double *Y;
} precondition_product;

/* Own rows of V, row-major, to planes. */
static void copy_to_planes(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const precondition_product *p = arg;
    const mc_segments *part = &p->s->f->part;
    for (int64_t i = begin; i < end; i++)
        for (int64_t k = 0; k < p->t; k++)
            p->s->V[k * part->rows + i] = p->V[(part->begin + i) * p->t + k];
}

/* part(segment, panel) <- F(segment, panel)' V(segment), chunk counting own segments. A panel by columns is the block A
   of backend/symv_f32.h by rows. */
static void project_segment(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const precondition_product *p = arg;
    const mc_lowrank *f = p->s->f;
    const int64_t panels = mc_chunk_count(f->rank, MC_PANEL), own = chunk / panels, panel = chunk % panels,
                  segment = f->part.first + own, stop = mc_segment_begin(&f->part, segment + 1) - f->part.begin;
    double *out = p->s->part + own * f->rank * p->t + panel * MC_PANEL;
    mc_symv_f32 w = {
        .ld = f->part.rows, .m = width_of(f, panel), .t = p->t, .vs = f->part.rows, .Y = out, .ys = f->rank};
    for (int64_t k = 0; k < p->t; k++)
        memset(out + k * f->rank, 0, (size_t)w.m * sizeof *out);
    for (int64_t i = mc_segment_begin(&f->part, segment) - f->part.begin; i < stop; i += ROWS) {
        w.A = f->panel[panel] + i;
        w.V = p->s->V + i;
        w.n = mc_min_count(stop - i, ROWS);
        p->s->body->rows(&w);
    }
}

static mercer_status project_on_factor(mercer_ctx *ctx, const precondition_product *p) {
    const mc_precondition *s = p->s;
    const mc_segments *part = &s->f->part;
    const int64_t r = s->f->rank, panels = mc_chunk_count(r, MC_PANEL);
    const mercer_status status = mc_for(ctx, (part->end - part->first) * panels, 1, project_segment, (void *)p);
    mc_segments_fold(part, r * p->t, s->part);
    return mc_segments_sum(ctx, part, 0, status, s->part, r * p->t, s->passed, s->sum);
}

/* C <- (G + shift I)^-1 F'V, then its negative in planes. */
static mercer_status solve_small(mercer_ctx *ctx, const mc_precondition *s, int64_t t) {
    const int64_t r = s->f->rank;
    for (int64_t i = 0; i < r * t; i++)
        s->C[i % r * t + i / r] = s->sum[i];
    MC_TRY(mc_potrs(ctx, mc_column_major(s->G, r, r, r), mc_row_major(s->C, r, t, t)));
    for (int64_t i = 0; i < r * t; i++)
        s->C[r * t + i % t * r + i / t] = -s->C[i];
    return MERCER_OK;
}

/* Y <- (V - F C) / shift on a chunk of own rows. */
static void subtract_projection(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk;
    const precondition_product *p = arg;
    const mc_lowrank *f = p->s->f;
    const int64_t t = p->t, m = end - begin;
    double *Z = p->s->scratch + thread * scratch_numbers(f->rank, p->s->t), *Y = p->Y + (f->part.begin + begin) * t;
    for (int64_t k = 0; k < t; k++)
        memcpy(Z + k * ROWS, p->s->V + k * f->part.rows + begin, (size_t)m * sizeof *Z);
    for (int64_t panel = 0; panel * MC_PANEL < f->rank; panel++) {
        const mc_symv_f32 w = {.A = f->panel[panel] + begin,
                               .ld = f->part.rows,
                               .m = width_of(f, panel),
                               .n = m,
                               .t = t,
                               .U = p->s->C + f->rank * t + panel * MC_PANEL,
                               .us = f->rank,
                               .Z = Z,
                               .zs = ROWS};
        p->s->body->columns(&w);
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < t; k++)
            Y[i * t + k] = Z[k * ROWS + i] / p->s->shift;
}

/* Y <- the rows of every rank, by way of V, whose rows have served. */
static mercer_status pass_rows(mercer_ctx *ctx, const precondition_product *p, mercer_status status) {
    const mc_segments *part = &p->s->f->part;
    if (part->ranks == 1)
        return status;
    memcpy(p->s->V, p->Y + part->begin * p->t, (size_t)(part->rows * p->t) * sizeof *p->Y);
    return mc_segments_gather(ctx, part, 1, status, p->s->V, p->t, p->Y);
}

static mercer_status apply_woodbury(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    const mc_precondition *s = self;
    const int64_t rows = s->f->part.rows;
    precondition_product p = {.s = s, .t = t, .V = V, .Y = Y};
    MC_TRY(mc_for(ctx, rows, GRAIN, copy_to_planes, &p));
    if (s->f->rank) {
        MC_TRY(project_on_factor(ctx, &p));
        MC_TRY(solve_small(ctx, s, t));
    }
    return pass_rows(ctx, &p, mc_for(ctx, rows, ROWS, subtract_projection, &p));
}

/* Under auto the processor takes over from a device that fails. */
static mercer_status apply_inverse(mercer_ctx *ctx, const void *self, int64_t t, const double *V, double *Y) {
    mc_precondition *s = (mc_precondition *)(uintptr_t)self;
    if (!s->there)
        return apply_woodbury(ctx, s, t, V, Y);
    const mercer_status status = mc_device_woodbury_apply(ctx, s->there, t, V, Y);
    if (!status || !mc_device_woodbury_leaves_it(ctx, s->there, status))
        return status;
    mc_device_woodbury_close(s->there);
    s->there = NULL;
    MC_TRY(open_here(ctx, s, s->shift));
    return apply_woodbury(ctx, s, t, V, Y);
}

mc_matrix mc_precondition_inverse(const mc_precondition *s) {
    return (mc_matrix){.n = s->f->n, .apply = apply_inverse, .self = s};
}

/* apply.c: Y <- K V without K.

   Rectangular: a task takes a block of rows against a range of columns; with few rows there are several ranges, whose
   sums are added in order.

   Symmetric: n is cut into blocks of rows, and a task takes a pair (I, J): the tile K_IJ is made once and gives y_I +=
   K_IJ w_J and y_J += K_IJ' w_I. Tasks come in the rounds of a tournament, in each of which every block plays once, so
   tasks in flight hardly ever meet. A task adds to block b in round r only when b has had its r earlier rounds: the
   sums have one order on any number of threads. Waiting cannot lock up: tasks are handed out in order and each waits
   for earlier ones only.

   V is scaled by powers of two, so that floats hold it.

   Several ranks share the tasks of either kind: share_product.c.

   A K of inner products of compressed rows is multiplied without looking at pairs: factored.c. */
#include "base/ctx.h"
#include "base/extremes.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/device/device_gram.h"
#include "gram/operator/entry_fault.h"
#include "gram/operator/factored.h"
#include "gram/operator/share_product.h"
#include "gram/tile/multiply.h"
#include <math.h>
#include <sched.h>
#include <string.h>

enum {
    BLOCKS = 32,         /* of a problem that is not small */
    TASK_WORK = 4 << 20, /* pairs times coordinates of a task */
    TASKS = 32,          /* of a rectangular product, at least; */
    MANY_TASKS = 96,     /* where they are worth starting, so many */
    COLUMNS = 8,         /* of a right-hand side that are looked at together */
    GRAIN = 1024         /* rows of a side that a thread goes over at a time */
};

static int64_t real_size(const mc_product *p) {
    return mc_real_size(p->g);
}

static mc_product_sums sums_of(const mc_product *p, int thread) {
    char *at = p->buffers + thread * p->buffer_bytes;
    const int64_t doubles = p->rows_each * p->t * (int64_t)sizeof(double);
    const int64_t reals = p->rows_each * mc_row_reals(p->g->ops, p->t) * real_size(p);
    return (mc_product_sums){.rows = (double *)(void *)at,
                             .columns = (double *)(void *)(at + doubles),
                             .rows_real = at + 2 * doubles,
                             .columns_real = at + 2 * doubles + reals};
}

/* ---- Rectangular ---- */

int64_t mc_product_block_rows(const mc_product *p, int64_t block) {
    const int64_t left = p->g->x->n - block * p->rows_each;
    return left < p->rows_each ? left : p->rows_each;
}

mc_product_sums mc_product_range_sums(const mc_product *p, int64_t task, int thread) {
    const int64_t block = task / p->ranges, range = task % p->ranges,
                  panels = mc_chunk_count(p->g->z->n, p->g->ops->columns), last = (range + 1) * p->range_panels;
    mc_product_task t = {.p = p,
                         .space = &p->space[thread],
                         .s = sums_of(p, thread),
                         .i0 = block * p->rows_each,
                         .count = mc_product_block_rows(p, block),
                         .p0 = range * p->range_panels,
                         .p1 = last < panels ? last : panels};
    mc_task_compute(&t, false);
    return t.s;
}

static void apply_rectangle(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_product *p = arg;
    const int64_t block = chunk / p->ranges, range = chunk % p->ranges, i0 = block * p->rows_each,
                  count = mc_product_block_rows(p, block);
    const mc_product_sums s = mc_product_range_sums(p, chunk, thread);
    double *out = p->partial ? p->partial + range * p->g->x->n * p->t : p->Y;
    const int64_t ld = p->partial ? p->t : p->ld;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < p->t; c++)
            out[(i0 + i) * ld + c] = s.rows[c * p->rows_each + i];
}

static void add_ranges(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_product *p = arg;
    const int64_t n = p->g->x->n;
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < p->t; c++) {
            double sum = 0;
            for (int64_t r = 0; r < p->ranges; r++)
                sum += p->partial[(r * n + i) * p->t + c];
            p->Y[i * p->ld + c] = sum;
        }
}

/* ---- Symmetric ---- */

/* Round 0 plays each block against itself, then the circle method. A pair may name a block that is not there: its
   partner is idle. */
mc_product_pair mc_product_pair_of(const mc_product *p, int64_t task) {
    if (task < p->blocks)
        return (mc_product_pair){0, task, task};
    const int64_t circle = p->rounds_of - 1, half = p->rounds_of / 2, at = task - p->blocks, r = at / half,
                  s = at % half;
    const int64_t I = s == 0 ? circle : (r + s) % circle, J = s == 0 ? r : (r + circle - s) % circle;
    return (mc_product_pair){r + 1, I < J ? I : J, I < J ? J : I};
}

static void take_turn(const mc_product *p, int64_t block, int64_t round, const double *sum) {
    while (atomic_load_explicit(&p->turn[block], memory_order_acquire) != round)
        sched_yield();
    const int64_t i0 = block * p->rows_each, count = mc_product_block_rows(p, block);
    for (int64_t i = 0; sum && i < count; i++)
        for (int64_t c = 0; c < p->t; c++)
            p->Y[(i0 + i) * p->ld + c] += sum[c * p->rows_each + i];
    atomic_store_explicit(&p->turn[block], round + 1, memory_order_release);
}

mc_product_sums mc_product_pair_sums(const mc_product *p, const mc_product_pair *pair, int thread) {
    const int64_t width = p->g->ops->columns, j0 = pair->J * p->rows_each;
    mc_product_task t = {.p = p,
                         .space = &p->space[thread],
                         .s = sums_of(p, thread),
                         .i0 = pair->I * p->rows_each,
                         .count = mc_product_block_rows(p, pair->I),
                         .p0 = j0 / width,
                         .p1 = mc_chunk_count(j0 + mc_product_block_rows(p, pair->J), width),
                         .symmetric = true};
    mc_task_compute(&t, pair->I == pair->J);
    if (pair->I == pair->J)
        for (int64_t k = 0; k < p->rows_each * p->t; k++)
            t.s.rows[k] += t.s.columns[k];
    return t.s;
}

static void apply_pair(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const mc_product *p = arg;
    const mc_product_pair pair = mc_product_pair_of(p, chunk);
    if (pair.J >= p->blocks) {
        take_turn(p, pair.I, pair.round, NULL);
        return;
    }
    const mc_product_sums s = mc_product_pair_sums(p, &pair, thread);
    take_turn(p, pair.I, pair.round, s.rows);
    if (pair.I != pair.J)
        take_turn(p, pair.J, pair.round, s.columns);
}

static void clear_result(const mc_product *p) {
    for (int64_t i = 0; i < p->g->x->n; i++)
        memset(p->Y + i * p->ld, 0, (size_t)p->t * sizeof(double));
}

/* ---- Shape of the work, from n, m and d alone ---- */

static int64_t dense_coordinates(const mc_gram *g) {
    int64_t d = 0;
    for (int i = 0; i < g->plan.parts; i++)
        d += g->plan.part[i].sparse ? 0 : g->plan.part[i].d;
    return d;
}

/* Rows of a block, whole panels: its packed points fit the cache, a task is worth starting (TASK_WORK operations), and
   a large problem has blocks enough for many threads. */
static int64_t block_rows(const mc_product_size *s) {
    const int64_t width = s->ops->columns, most = s->groups * s->ops->rows / width, all = mc_chunk_count(s->n, width);
    const int64_t cached = 4 * MC_BLOCK_CACHE / ((s->d ? s->d : 1) * width * s->real), many = s->n / (BLOCKS * width);
    const int64_t worthy = (int64_t)sqrt(TASK_WORK / (double)(s->d + 16)) / width;
    const int64_t panels = mc_min_count(mc_min_count(many > worthy ? many : worthy, cached), mc_min_count(most, all));
    return (panels > 1 ? panels : 1) * width;
}

static int64_t tasks_wanted(const mc_product_size *s) {
    const double worthy = (double)s->n * (double)s->m * (double)(s->d + 16) / TASK_WORK;
    return worthy < TASKS ? TASKS : worthy < MANY_TASKS ? (int64_t)worthy : MANY_TASKS;
}

mc_product_split mc_product_shape(const mc_product_size *s) {
    mc_product_split shape = {.rows_each = block_rows(s), .ranges = 1};
    shape.blocks = mc_chunk_count(s->n, shape.rows_each);
    const int64_t panels = mc_chunk_count(s->m, s->ops->columns),
                  wanted = shape.blocks ? mc_chunk_count(tasks_wanted(s), shape.blocks) : 1;
    shape.range_panels = mc_chunk_count(panels, wanted);
    shape.range_panels = shape.range_panels < MC_BLOCK_PANELS ? MC_BLOCK_PANELS : shape.range_panels;
    if (!s->symmetric && panels > shape.range_panels)
        shape.ranges = mc_chunk_count(panels, shape.range_panels);
    return shape;
}

static mc_product_split shape_of(const mc_gram *g, int64_t n, int64_t m) {
    const mc_product_size size = {.ops = g->ops,
                                  .real = mc_real_size(g),
                                  .n = n,
                                  .m = m,
                                  .d = dense_coordinates(g),
                                  .groups = mc_tile_workspace_groups(g),
                                  .symmetric = g->symmetric};
    return mc_product_shape(&size);
}

mc_product_split mc_product_shape_of(const mc_gram *gram, int64_t n) {
    return shape_of(gram, n, n);
}

static void shape_product(mc_product *p) {
    const mc_gram *g = p->g;
    const mc_product_split shape = shape_of(g, g->x->n, g->z->n);
    p->rows_each = shape.rows_each;
    p->blocks = shape.blocks;
    p->rounds_of = p->blocks + p->blocks % 2;
    p->range_panels = shape.range_panels;
    p->ranges = shape.ranges;
    p->length = mc_chunk_count(g->z->n, g->ops->columns) * g->ops->columns;
}

/* A sum of a row is flushed after MC_BLOCK_PANELS panels, of a block with itself at its end; lanes share it where
   right-hand sides are few, and a fused body adds what it has summed once for every run of panels. A sum of a column
   runs over the rows of its block at most. Sums in double: what is flushed within a task, rows and columns of a block
   with itself, then ranges or rounds. */
mc_product_depths mc_product_depth(const mc_gram *g, int64_t t) {
    mc_product p = {.g = g};
    if (g->factored.terms)
        return (mc_product_depths){.wide = mc_factored_depth(g)};
    shape_product(&p);
    const int64_t width = g->ops->columns, lanes = t > MC_SINGLES ? 1 : g->ops->lanes;
    const int64_t panels = g->symmetric ? mc_chunk_count(p.rows_each, width) : p.range_panels,
                  run = g->symmetric
                            ? panels
                            : mc_min_count(mc_min_count(panels, mc_chunk_count(g->z->n, width)), MC_BLOCK_PANELS);
    const int64_t row = run * width / lanes + run + lanes, column = g->symmetric ? p.rows_each : 0;
    const int64_t flushes =
        mc_chunk_count(panels, MC_BLOCK_PANELS) + mc_chunk_count(p.rows_each, g->ops->rows * MC_GROUPS_SUMMED);
    mc_product_depths depth = {.tile = row > column ? row : column,
                               .wide = flushes + 3 + (g->symmetric ? p.rounds_of + 1 : p.ranges)};
    if (g->there)
        mc_device_gram_deepen(g->there, &depth.tile, &depth.wide);
    return depth;
}

/* ---- Right-hand sides ---- */

/* A power of two that brings a column whose largest number is this near 1; 1 for zeros and for what is not finite. */
static double scale_for(double largest) {
    return largest > 0 && isfinite(largest) ? exp2(-fmin(fmax(ilogb(largest), -1000), 1000)) : 1;
}

/* The largest number of a column, in unscale. */
static void find_largest(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_product *p = arg;
    const unsigned kept = mc_keep_subnormals();
    for (int64_t c = begin; c < end; c++)
        p->unscale[c] = 0;
    for (int64_t j = 0; j < p->g->z->n; j++)
        for (int64_t c = begin; c < end; c++)
            p->unscale[c] = fmax(p->unscale[c], fabs(p->V[j * p->ld + c]));
    mc_restore_subnormals(kept);
}

static void load_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_product *p = arg;
    const unsigned kept = mc_keep_subnormals();
    for (int64_t j = begin; j < end; j++)
        for (int64_t c = 0; c < p->t; c++) {
            const int64_t at = p->many ? j * p->stride + c : c * p->length + j;
            const double v = p->V[j * p->ld + c] / p->unscale[c];
            if (p->g->precision == MERCER_F32)
                ((float *)(void *)p->w)[at] = (float)v;
            else
                ((double *)(void *)p->w)[at] = v;
        }
    mc_restore_subnormals(kept);
}

/* On all threads; of a product that ranks share on one, for a rank that is told to stop must go on to where all agree.
   */
static mercer_status go_over(mercer_ctx *ctx, mc_product *p, int64_t n, int64_t grain, mc_body *body) {
    if (!p->share)
        return mc_for(ctx, n, grain, body, p);
    body(p, 0, 0, n, 0);
    return MERCER_OK;
}

/* V, each column near 1, as the tiles want it. */
static mercer_status load_right(mercer_ctx *ctx, mc_product *p) {
    memset(p->w, 0, (size_t)(p->length * p->stride * real_size(p)));
    MC_TRY(go_over(ctx, p, p->t, COLUMNS, find_largest));
    for (int64_t c = 0; c < p->t; c++)
        p->unscale[c] = 1 / scale_for(p->unscale[c]);
    return go_over(ctx, p, p->g->z->n, GRAIN, load_rows);
}

static void unscale_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const mc_product *p = arg;
    const unsigned kept = mc_keep_subnormals();
    for (int64_t i = begin; i < end; i++)
        for (int64_t c = 0; c < p->t; c++)
            p->Y[i * p->ld + c] *= p->unscale[c];
    mc_restore_subnormals(kept);
}

int64_t mc_product_tasks(const mc_product *p) {
    if (!p->g->symmetric)
        return p->blocks * p->ranges;
    return p->blocks + (p->rounds_of > 0 ? (p->rounds_of - 1) * (p->rounds_of / 2) : 0);
}

static mercer_status compute_product(mercer_ctx *ctx, mc_product *p) {
    MC_TRY(load_right(ctx, p));
    if (p->share) {
        MC_TRY(mc_product_share(ctx, p));
    } else if (!p->g->symmetric) {
        MC_TRY(mc_for(ctx, mc_product_tasks(p), 1, apply_rectangle, p));
        if (p->partial)
            MC_TRY(mc_for(ctx, p->g->x->n, GRAIN, add_ranges, p));
    } else {
        clear_result(p);
        for (int64_t b = 0; b < p->blocks; b++)
            atomic_init(&p->turn[b], 0);
        MC_TRY(mc_for(ctx, mc_product_tasks(p), 1, apply_pair, p));
    }
    MC_TRY(go_over(ctx, p, p->g->x->n, GRAIN, unscale_rows));
    return p->share ? MERCER_OK : mc_fault_report(ctx, p->g); /* of its tasks, which all ranks have heard of */
}

/* ---- The call ---- */

static void set_width(mc_product *p, int64_t t) {
    p->t = t;
    p->many = t > MC_SINGLES;
    p->stride = mc_rhs_stride(p->g->ops, t);
}

static int64_t partial_sums(const mc_product *p) {
    return p->ranges > 1 && !p->share ? p->ranges * p->g->x->n * p->t : 0;
}

static int64_t count_turns(const mc_product *p) {
    return p->g->symmetric && !p->share ? p->blocks : 0;
}

static int64_t buffer_bytes(const mc_product *p) {
    return mc_product_sums_bytes(p->g->ops, real_size(p), p->rows_each, p->t);
}

static void lay_out_product_workspace(mc_product *p, int threads, mc_work *work) {
    p->unscale = mc_work_take(work, p->t, sizeof(double));
    p->w = mc_work_take(work, p->length * p->stride, (size_t)real_size(p));
    p->partial = mc_work_take(work, partial_sums(p), sizeof(double));
    p->partial = partial_sums(p) ? p->partial : NULL;
    p->turn = mc_work_take(work, count_turns(p), sizeof *p->turn);
    p->buffer_bytes = buffer_bytes(p);
    p->buffers = mc_work_take(work, threads, (size_t)p->buffer_bytes);
}

static mercer_status open_product(mercer_ctx *ctx, mc_product *p, int threads, mc_work *spaces, mc_work *work) {
    MC_TRY(mc_tile_workspaces_open(ctx, p->g, threads, p->rows_each / p->g->ops->rows, spaces, &p->space));
    mc_work counted = {0};
    lay_out_product_workspace(p, threads, &counted);
    MC_TRY(mc_work_open(ctx, work, counted.used));
    lay_out_product_workspace(p, threads, work);
    return MERCER_OK;
}

static bool all_finite(const double *y, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(y[i]))
            return false;
    return true;
}

/* A value that is no number makes the sums it is in none: the tiles then say which it was. They also take over from a
   device that fails where it was not asked for by name. The device serves one thread. */
static mercer_status apply_on_device(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y,
                                     bool *done) {
    *done = false;
    if (!gram->there || ctx->job.whole || ctx->device.failed)
        return MERCER_OK;
    const mercer_status status = mc_device_gram_apply(ctx, gram->there, t, V, Y);
    if (status)
        return mc_device_gram_leaves_it(ctx, gram->there, status) ? MERCER_OK : status;
    *done = !gram->fault || all_finite(Y, gram->x->n * t);
    return MERCER_OK;
}

mercer_status mc_gram_apply(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y) {
    const int64_t most = MC_RHS_VECTORS * gram->ops->lanes;
    mc_product p = {.g = gram, .ld = t};
    mc_work spaces = {0}, work = {0};
    if (gram->factored.terms)
        return mc_factored_apply(ctx, gram, t, V, Y);
    bool done;
    MC_TRY(apply_on_device(ctx, gram, t, V, Y, &done));
    if (done)
        return MERCER_OK;
    shape_product(&p);
    p.share = mc_product_is_shared(ctx, &p);
    set_width(&p, t < most ? t : most);
    mercer_status status = open_product(ctx, &p, mc_for_threads(ctx, mc_product_tasks(&p)), &spaces, &work);
    p.V = V;
    if (p.share)
        status = mc_product_begin_shared(ctx, &p, status);
    for (int64_t c = 0; c < t && !status; c += most) {
        set_width(&p, t - c < most ? t - c : most);
        memset(p.buffers, 0, (size_t)mc_for_threads(ctx, mc_product_tasks(&p)) * (size_t)p.buffer_bytes);
        p.V = V + c;
        p.Y = Y + c;
        status = compute_product(ctx, &p);
    }
    mc_work_close(&work);
    mc_work_close(&spaces);
    return status;
}

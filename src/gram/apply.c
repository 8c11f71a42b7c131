/* apply.c: Y <- K V without K.

   Rectangular: a task takes a block of rows against a range of columns; with few rows there are several ranges, whose sums are added in
   order.

   Symmetric: n is cut into blocks of rows, and a task takes a pair (I, J): the tile K_IJ is made once and gives y_I += K_IJ w_J and
   y_J += K_IJ' w_I. Tasks come in the rounds of a tournament, in each of which every block plays once, so tasks in flight hardly ever meet.
   A task adds to block b in round r only when b has had its r earlier rounds: the sums have one order on any number of threads. Waiting
   cannot lock up: tasks are handed out in order and each waits for earlier ones only.

   Within a task sums are in the tile's precision over at most 480 rows and 1920 columns, then in double. V is scaled by powers of two, so
   that floats hold it. */
#include "base/ctx.h"
#include "base/parallel.h"
#include "base/status.h"
#include "gram/strip.h"
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    SINGLES = 4,               /* up to here each right-hand side is taken on its own */
    PANELS_MAX = 40,           /* columns of a block */
    GROUPS_SUMMED = 60,        /* groups of rows whose column sums stay in the tile's precision */
    BLOCKS = 16,               /* of a small problem */
    CACHE = 1 << 20,           /* bytes of packed rows of a block */
    TASKS = 32                 /* of a rectangular product, at least */
};

typedef struct product {
    const mc_gram *g;
    int64_t t, stride;         /* right-hand sides at a time, and how many reals apart rows of them are: SINGLES keep columns apart */
    bool many;
    int64_t ld;                /* of V and Y */
    const double *V;
    double *Y;
    double *unscale;           /* per right-hand side */
    char *w;                   /* V in the tile's precision: t vectors, or rows of `stride` reals */
    int64_t length;            /* of a vector */
    int64_t rows_each, blocks, rounds_of; /* rows of a block; blocks; blocks rounded up to even */
    int64_t ranges, range_panels;         /* rectangular: ranges of columns */
    double *partial;           /* rectangular with several ranges: ranges x n x t */
    atomic_llong *turn;        /* symmetric: rounds that each block has had */
    mc_space *space;           /* per thread */
    char *buffers;             /* per thread */
    int64_t buffer_bytes;
} product;

/* One thread's sums for one task. */
typedef struct sums {
    double *rows, *columns;    /* block x t */
    char *rows_real, *columns_real;
} sums;

static int64_t real_size(const product *p) {
    return mc_real_size(p->g);
}

/* ---- Tasks ---- */

/* Rows i0 .. i0 + count - 1 against panels p0 .. p1 - 1; y_columns too when symmetric; the block with itself when diagonal. */
typedef struct task {
    const product *p;
    mc_space *space;
    sums s;
    int64_t i0, count, p0, p1;
    bool symmetric;
} task;

static char *weights(const task *t, int64_t c, int64_t point) {
    const product *p = t->p;
    return p->w + (p->many ? point * p->stride : c * p->length + point) * real_size(p);
}

static mc_right right_of(const task *t, int64_t c, int64_t group, int64_t panel, bool symmetric) {
    const int64_t rows = t->p->g->ops->rows, width = t->p->g->ops->columns, block = t->p->rows_each;
    char *columns = t->s.columns_real + (c * block + (panel - t->p0) * width) * real_size(t->p);
    return (mc_right){.w_columns = weights(t, c, panel * width),
                      .w_rows = symmetric ? weights(t, c, t->i0 + group * rows) : NULL,
                      .y_rows = t->s.rows + c * block + group * rows,
                      .y_columns = symmetric ? columns : NULL};
}

typedef struct multiplied {
    const task *task;
    bool symmetric;
} multiplied;

static void multiply_strip(void *arg, const mc_strip *strip) {
    const multiplied *m = arg;
    const task *t = m->task;
    const product *p = t->p;
    const int64_t rows = p->g->ops->rows, width = p->g->ops->columns;
    if (!p->many) {
        for (int64_t c = 0; c < p->t; c++) {
            const mc_right right = right_of(t, c, strip->group, strip->panel, m->symmetric);
            p->g->ops->product(strip->panels, strip->values, &right);
        }
        return;
    }
    const int64_t line = p->stride * real_size(p);
    const mc_rights rights = {.t = p->stride,
                              .v_columns = weights(t, 0, strip->panel * width),
                              .v_rows = m->symmetric ? weights(t, 0, t->i0 + strip->group * rows) : NULL,
                              .y_rows = t->s.rows_real + strip->group * rows * line,
                              .y_columns = t->s.columns_real + (strip->panel - t->p0) * width * line};
    p->g->ops->products(strip->panels, strip->values, &rights);
}

static void walk(const task *t, int64_t g0, int64_t g1, int64_t p0, int64_t p1, bool symmetric) {
    multiplied m = {.task = t, .symmetric = symmetric};
    if (g0 < g1 && p0 < p1)
        mc_space_walk(t->p->g, t->space, g0, g1, p0, p1, multiply_strip, &m);
}

static bool fuses(const product *p) {
    return p->t == 1 && mc_gram_fuses(p->g);
}

/* Panels whose points fit the second cache beside the rows. */
static int64_t panels_cached(const mc_gram *g) {
    const int64_t bytes = g->plan.parts ? g->plan.part[0].d * g->ops->columns * mc_real_size(g) : 1;
    const int64_t fit = CACHE / 2 / (bytes ? bytes : 1);
    return fit < 1 ? 1 : fit < PANELS_MAX ? fit : PANELS_MAX;
}

static void fused_part(const task *t, int64_t g0, int64_t g1, int64_t p0, int64_t p1, bool symmetric) {
    const int64_t at_once = panels_cached(t->p->g);
    for (int64_t p = p0; p < p1; p += at_once)
        for (int64_t group = g0; group < g1; group++) {
            const mc_right right = right_of(t, 0, group, p, symmetric);
            mc_space_fused(t->p->g, t->space, group, p, p + at_once < p1 ? p + at_once : p1, &right);
        }
}

/* Sums in the tile's precision to double; then they start again from 0. */
static void flush(const product *p, char *real, double *out, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < p->t; c++) {
            const int64_t from = p->many ? i * p->stride + c : c * p->rows_each + i;
            out[c * p->rows_each + i] += p->g->precision == MERCER_F32 ? (double)((float *)real)[from] : ((double *)real)[from];
        }
    memset(real, 0, (size_t)(p->rows_each * p->stride * real_size(p)));
}

static void rectangle(const task *t, int64_t g0, int64_t g1) {
    const product *p = t->p;
    if (fuses(p)) {
        fused_part(t, g0, g1, t->p0, t->p1, t->symmetric);
        return;
    }
    for (int64_t q = t->p0; q < t->p1; q += PANELS_MAX) {
        walk(t, g0, g1, q, q + PANELS_MAX < t->p1 ? q + PANELS_MAX : t->p1, t->symmetric);
        if (p->many)
            flush(p, t->s.rows_real, t->s.rows, t->count);
    }
}

/* A block with itself: each group meets its own panel in full and the later panels once. */
static void triangle(const task *t) {
    const product *p = t->p;
    const int64_t each = p->g->ops->columns / p->g->ops->rows;
    for (int64_t q = t->p0; q < t->p1; q++) {
        const int64_t own = (q - t->p0) * each, end = own + each < t->space->groups ? own + each : t->space->groups;
        walk(t, own, end, q, q + 1, false);
        if (fuses(p))
            fused_part(t, own, end, q + 1, t->p1, true);
        else
            walk(t, 0, own, q, q + 1, true);
    }
    if (p->many)
        flush(p, t->s.rows_real, t->s.rows, t->count);
    flush(p, t->s.columns_real, t->s.columns, t->count);
}

static void clear(const product *p, sums *s) {
    memset(s->rows, 0, (size_t)(p->rows_each * p->t) * sizeof(double));
    memset(s->columns, 0, (size_t)(p->rows_each * p->t) * sizeof(double));
    memset(s->rows_real, 0, (size_t)(p->rows_each * p->stride * real_size(p)));
    memset(s->columns_real, 0, (size_t)(p->rows_each * p->stride * real_size(p)));
}

static void compute(task *t, int64_t columns, bool diagonal) {
    clear(t->p, &t->s);
    mc_space_rows(t->p->g, t->space, NULL, t->i0, t->count);
    if (diagonal) {
        triangle(t);
        return;
    }
    for (int64_t g0 = 0; g0 < t->space->groups; g0 += GROUPS_SUMMED) {
        rectangle(t, g0, g0 + GROUPS_SUMMED < t->space->groups ? g0 + GROUPS_SUMMED : t->space->groups);
        if (t->symmetric)
            flush(t->p, t->s.columns_real, t->s.columns, columns);
    }
}

static sums sums_of(const product *p, int thread) {
    char *at = p->buffers + thread * p->buffer_bytes;
    const int64_t doubles = p->rows_each * p->t * (int64_t)sizeof(double), reals = p->rows_each * p->stride * real_size(p);
    return (sums){.rows = (double *)(void *)at, .columns = (double *)(void *)(at + doubles), .rows_real = at + 2 * doubles,
                  .columns_real = at + 2 * doubles + reals};
}

/* ---- Rectangular ---- */

static void apply_rectangle(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const product *p = arg;
    const mc_gram *g = p->g;
    const int64_t block = chunk / p->ranges, range = chunk % p->ranges, panels = mc_chunks(g->z->n, g->ops->columns);
    const int64_t i0 = block * p->rows_each, last = (range + 1) * p->range_panels;
    task t = {.p = p, .space = &p->space[thread], .s = sums_of(p, thread), .i0 = i0,
              .count = i0 + p->rows_each < g->x->n ? p->rows_each : g->x->n - i0,
              .p0 = range * p->range_panels, .p1 = last < panels ? last : panels};
    compute(&t, 0, false);
    double *out = p->partial ? p->partial + range * g->x->n * p->t : p->Y;
    const int64_t ld = p->partial ? p->t : p->ld;
    for (int64_t i = 0; i < t.count; i++)
        for (int64_t c = 0; c < p->t; c++)
            out[(i0 + i) * ld + c] = t.s.rows[c * p->rows_each + i];
}

static void add_ranges(const product *p) {
    const int64_t n = p->g->x->n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < p->t; c++) {
            double sum = 0;
            for (int64_t r = 0; r < p->ranges; r++)
                sum += p->partial[(r * n + i) * p->t + c];
            p->Y[i * p->ld + c] = sum;
        }
}

/* ---- Symmetric ---- */

/* The pair that task c is: round 0 plays each block against itself, then the circle method. A pair may name a block that is not there:
   its partner rests. */
static void pair_of(const product *p, int64_t c, int64_t *round, int64_t *I, int64_t *J) {
    *round = 0, *I = *J = c;
    if (c < p->blocks)
        return;
    const int64_t circle = p->rounds_of - 1, half = p->rounds_of / 2, at = c - p->blocks, r = at / half, s = at % half;
    *round = r + 1;
    *I = s == 0 ? circle : (r + s) % circle;
    *J = s == 0 ? r : (r + circle - s) % circle;
    if (*I > *J) {
        const int64_t swap = *I;
        *I = *J, *J = swap;
    }
}

static void take_turn(const product *p, int64_t block, int64_t round, const double *sum) {
    while (atomic_load_explicit(&p->turn[block], memory_order_acquire) != round)
        sched_yield();
    const int64_t i0 = block * p->rows_each, n = p->g->x->n, count = i0 + p->rows_each < n ? p->rows_each : n - i0;
    for (int64_t i = 0; sum && i < count; i++)
        for (int64_t c = 0; c < p->t; c++)
            p->Y[(i0 + i) * p->ld + c] += sum[c * p->rows_each + i];
    atomic_store_explicit(&p->turn[block], round + 1, memory_order_release);
}

static void apply_pair(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end;
    const product *p = arg;
    const int64_t n = p->g->x->n, width = p->g->ops->columns;
    int64_t round, I, J;
    pair_of(p, chunk, &round, &I, &J);
    if (J >= p->blocks) {
        take_turn(p, I, round, NULL);
        return;
    }
    const int64_t i0 = I * p->rows_each, j0 = J * p->rows_each, columns = j0 + p->rows_each < n ? p->rows_each : n - j0;
    task t = {.p = p, .space = &p->space[thread], .s = sums_of(p, thread), .i0 = i0,
              .count = i0 + p->rows_each < n ? p->rows_each : n - i0,
              .p0 = j0 / width, .p1 = mc_chunks(j0 + columns, width), .symmetric = true};
    compute(&t, columns, I == J);
    if (I == J)
        for (int64_t k = 0; k < p->rows_each * p->t; k++)
            t.s.rows[k] += t.s.columns[k];
    take_turn(p, I, round, t.s.rows);
    if (I != J)
        take_turn(p, J, round, t.s.columns);
}

static void clear_result(const product *p) {
    for (int64_t i = 0; i < p->g->x->n; i++)
        memset(p->Y + i * p->ld, 0, (size_t)p->t * sizeof(double));
}

/* ---- Shape of the work, from n, m and d alone ---- */

static int64_t coordinates(const mc_gram *g) {
    int64_t d = 0;
    for (int i = 0; i < g->plan.parts; i++)
        d += g->plan.part[i].sparse ? 0 : g->plan.part[i].d;
    return d;
}

/* Rows of a block, whole panels: its packed points fit the cache, and there are enough blocks. */
static int64_t block_rows(const mc_gram *g) {
    const int64_t width = g->ops->columns, n = g->x->n, d = coordinates(g);
    int64_t panels = CACHE / ((d ? d : 1) * width * mc_real_size(g));
    const int64_t by_n = n / (BLOCKS * width), by_groups = mc_space_groups(g) * g->ops->rows / width;
    const int64_t most = d > 0 && by_groups * g->ops->rows < 480 ? (by_groups > 1 ? by_groups : 1) : PANELS_MAX;
    panels = panels < by_n ? panels : by_n;
    panels = panels < most ? panels : most;
    return (panels > 1 ? panels : 1) * width;
}

static void shape(product *p) {
    const mc_gram *g = p->g;
    p->rows_each = block_rows(g);
    p->blocks = mc_chunks(g->x->n, p->rows_each);
    p->rounds_of = p->blocks + p->blocks % 2;
    const int64_t panels = mc_chunks(g->z->n, g->ops->columns), wanted = p->blocks ? mc_chunks(TASKS, p->blocks) : 1;
    p->range_panels = mc_chunks(panels, wanted);
    p->range_panels = p->range_panels < PANELS_MAX ? PANELS_MAX : p->range_panels;
    p->ranges = g->symmetric ? 1 : mc_chunks(panels, p->range_panels);
    p->ranges = p->ranges < 1 ? 1 : p->ranges;
    const int64_t sides = p->g->z->n > p->g->x->n && g->symmetric ? g->x->n : g->z->n;
    p->length = mc_chunks(sides, g->ops->columns) * g->ops->columns;
}

/* ---- Right-hand sides ---- */

/* A power of two that brings the column near 1; 1 for zeros and for what is not finite. */
static double scale_of(const product *p, int64_t c) {
    double largest = 0;
    for (int64_t j = 0; j < p->g->z->n; j++)
        largest = fmax(largest, fabs(p->V[j * p->ld + c]));
    return largest > 0 && isfinite(largest) ? exp2(-fmin(fmax(ilogb(largest), -1000), 1000)) : 1;
}

static void load_right(product *p, int64_t c) {
    const double scale = scale_of(p, c);
    p->unscale[c] = 1 / scale;
    for (int64_t j = 0; j < p->g->z->n; j++) {
        const int64_t at = p->many ? j * p->stride + c : c * p->length + j;
        const double v = p->V[j * p->ld + c] * scale;
        if (p->g->precision == MERCER_F32)
            ((float *)(void *)p->w)[at] = (float)v;
        else
            ((double *)(void *)p->w)[at] = v;
    }
}

static void unscale(const product *p) {
    for (int64_t i = 0; i < p->g->x->n; i++)
        for (int64_t c = 0; c < p->t; c++)
            p->Y[i * p->ld + c] *= p->unscale[c];
}

static mercer_status run(mercer_ctx *ctx, product *p) {
    memset(p->w, 0, (size_t)(p->length * p->stride * real_size(p)));
    for (int64_t c = 0; c < p->t; c++)
        load_right(p, c);
    if (!p->g->symmetric) {
        MC_TRY(mc_for(ctx, p->blocks * p->ranges, 1, apply_rectangle, p));
        if (p->partial)
            add_ranges(p);
    } else {
        clear_result(p);
        for (int64_t b = 0; b < p->blocks; b++)
            atomic_init(&p->turn[b], 0);
        const int64_t tasks = p->blocks + (p->rounds_of > 0 ? (p->rounds_of - 1) * (p->rounds_of / 2) : 0);
        MC_TRY(mc_for(ctx, tasks, 1, apply_pair, p));
    }
    unscale(p);
    return MERCER_OK;
}

/* ---- The call ---- */

static void set_width(product *p, int64_t t) {
    const int64_t lanes = p->g->ops->lanes;
    p->t = t;
    p->many = t > SINGLES;
    p->stride = p->many ? mc_chunks(t, lanes) * lanes : t;
}

static int64_t partial_sums(const product *p) {
    return p->ranges > 1 ? p->ranges * p->g->x->n * p->t : 0;
}

static int64_t turns(const product *p) {
    return p->g->symmetric ? p->blocks : 0;
}

static int64_t buffer_bytes(const product *p) {
    return 2 * p->rows_each * (p->t * (int64_t)sizeof(double) + p->stride * real_size(p));
}

static size_t work_bytes(const product *p, int threads) {
    return mc_work_need(p->t, sizeof(double)) + mc_work_need(p->length * p->stride, (size_t)real_size(p))
           + mc_work_need(partial_sums(p), sizeof(double)) + mc_work_need(turns(p), sizeof *p->turn)
           + mc_work_need(threads, (size_t)buffer_bytes(p));
}

static mercer_status open_product(mercer_ctx *ctx, product *p, mc_work *spaces, mc_work *work) {
    MC_TRY(mc_spaces_open(ctx, p->g, p->rows_each / p->g->ops->rows, spaces, &p->space));
    MC_TRY(mc_work_open(ctx, work, work_bytes(p, ctx->threads)));
    p->unscale = mc_work_take(work, p->t, sizeof(double));
    p->w = mc_work_take(work, p->length * p->stride, (size_t)real_size(p));
    p->partial = mc_work_take(work, partial_sums(p), sizeof(double));
    p->partial = partial_sums(p) ? p->partial : NULL;
    p->turn = mc_work_take(work, turns(p), sizeof *p->turn);
    p->buffer_bytes = buffer_bytes(p);
    p->buffers = mc_work_take(work, ctx->threads, (size_t)p->buffer_bytes);
    return MERCER_OK;
}

mercer_status mc_gram_apply(mercer_ctx *ctx, const mc_gram *gram, int64_t t, const double *V, double *Y) {
    const int64_t most = 6 * gram->ops->lanes;
    product p = {.g = gram, .ld = t};
    mc_work spaces = {0}, work = {0};
    shape(&p);
    set_width(&p, t < most ? t : most);
    mercer_status status = open_product(ctx, &p, &spaces, &work);
    for (int64_t c = 0; c < t && !status; c += most) {
        set_width(&p, t - c < most ? t - c : most);
        p.V = V + c;
        p.Y = Y + c;
        status = run(ctx, &p);
    }
    mc_work_close(&work);
    mc_work_close(&spaces);
    return status;
}

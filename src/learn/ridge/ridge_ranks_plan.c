/* ridge_ranks_plan.c: what ridge would take on many processes, of which nobody has the rows yet.

   The work of each solver is counted as for a fit (ridge_cost.c), and priced by the speed of this machine on random
   rows (plan/speed.c). What ranks share is divided by their number, with the remainder of tasks; what each does itself
   is not. To that come the messages of products: a rank sends two parts of every task to the ranks that own their
   blocks of rows, and hears of all rows at the end (gram/operator/share_product.c). */
#include "base/cgroup.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/print.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/lowrank/lowrank.h"
#include "gram/operator/gram.h"
#include "gram/tile/multiply.h"
#include "kernel/language/kernel.h"
#include "learn/ridge/ridge_cost.h"
#include "plan/speed.h"
#include <math.h>
#include <string.h>

enum {
    SAMPLE = 2048, /* random rows, at most */
    VECTORS = 16,  /* of as many numbers as there are rows, that pcg and nystrom hold */
    BITS = 64,     /* of a number */
    NOTE = 48 * 8, /* bits of what ranks agree by */
    CALLS = 4,     /* of a product, beside two of each stage */
    LEAST_EACH = 16,
    PASSES = 16, /* over vectors, from a product to the next */
    PRODUCTS_NYSTROM = 16
};
static const double MEMORY_RATE = 5e9; /* bytes a second, of one thread */

void mercer_scale_of_fit_init(mercer_scale_of_fit *set, size_t size) {
    const mercer_scale_of_fit defaults = {
        .ranks = 1, .steps = 30, .rank = 1000, .landmarks = 10000, .bandwidth = 1e10, .latency = 3e-5};
    mc_sized_init(&defaults, sizeof defaults, set, size);
}

typedef struct scale_plan {
    mercer_scale_of_fit set;
    mc_problem sample;
    mc_gram *gram;
    mc_speed speed;
    mc_ridge_size size;
    size_t table; /* bytes of the rows as they were read */
} scale_plan;

static mercer_status check_scale(mercer_ctx *ctx, const mercer_scale_of_fit *s) {
    if (s->rows < 1 || s->columns < 1 || s->ranks < 1 || s->rows > INT64_C(1) << 48 || s->columns > 1 << 20)
        return mc_fail(ctx, MERCER_INVALID, "plan: %lld rows, %lld columns or %lld ranks are out of range",
                       (long long)s->rows, (long long)s->columns, (long long)s->ranks);
    if (s->steps < 1 || s->rank < 1 || s->landmarks < 1 || !(s->bandwidth > 0) || !(s->latency >= 0))
        return mc_fail(ctx, MERCER_INVALID, "plan: steps, rank, landmarks and bandwidth must be positive");
    return MERCER_OK;
}

/* ---- The sample, whose speed is measured ---- */

static mercer_status draw_rows(mercer_ctx *ctx, const mercer_scale_of_fit *s, mercer_data **out) {
    const int64_t n = s->rows < SAMPLE ? s->rows : SAMPLE;
    mc_rng rng = mc_rng_at(ctx->options.seed, MC_STREAM_SAMPLE, 0);
    double *values = mc_alloc_unset(ctx, n * s->columns, sizeof *values);
    MC_TRY(values ? MERCER_OK : MERCER_MEMORY);
    for (int64_t i = 0; i < n * s->columns; i++)
        values[i] = mc_rng_normal(&rng);
    const mercer_table table = {.size = sizeof table, .n = n, .d = s->columns, .dtype = MERCER_F64, .values = values};
    const mercer_status status = mercer_data_make(ctx, &table, out);
    mc_free(values);
    return status;
}

/* Threads that this machine has no processors for are taken to be as fast as those that it has; waves are priced for
   all of them as it is. */
static void speed_up(const mercer_ctx *ctx, mc_speed *speed) {
    const int here = mc_allowed_processors();
    if (ctx->threads <= here)
        return;
    const double share = (double)here / ctx->threads;
    speed->pair *= share;
    speed->fast *= share;
    speed->factor *= share;
    speed->eigen *= share;
}

static mercer_status open_sample(mercer_ctx *ctx, const mercer_kernel *kernel, scale_plan *p) {
    MC_TRY(draw_rows(ctx, &p->set, &p->sample.x));
    MC_TRY(mercer_kernel_bind(ctx, kernel, p->sample.x, &p->sample.kernel));
    p->sample.n = p->sample.x->n;
    p->sample.outputs = 1;
    MC_TRY(mc_gram_open(ctx, p->sample.kernel, p->sample.x, NULL, MERCER_F32, &p->gram));
    MC_TRY(mc_speed_measure(ctx, &p->sample, &p->speed));
    speed_up(ctx, &p->speed);
    return MERCER_OK;
}

/* ---- Bytes ---- */

static size_t operator_bytes(mercer_ctx *ctx, const scale_plan *p, int64_t n) {
    mercer_data many = *p->sample.x;
    many.n = n;
    return mc_gram_bytes(ctx, p->sample.kernel, &many, NULL, MERCER_F64, 1);
}

/* Parts of own tasks of a stage, as they go out and come in. */
static size_t stage_bytes(const scale_plan *p) {
    const mc_product_split split = mc_product_shape_of(p->gram, p->set.rows);
    const int64_t each = split.blocks > LEAST_EACH ? split.blocks : LEAST_EACH;
    return p->set.ranks > 1 ? (size_t)(4 * each * split.rows_each) * sizeof(double) : 0;
}

static void count_bytes(mercer_ctx *ctx, scale_plan *p) {
    const int64_t n = p->set.rows, own = mc_chunk_count(n, p->set.ranks), m = p->size.landmarks;
    const size_t vectors = (size_t)n * VECTORS * sizeof(double);
    p->table = (size_t)n * (size_t)(p->set.columns + 1) * sizeof(double);
    p->size.product_bytes = p->size.matrix_bytes = operator_bytes(ctx, p, n) + stage_bytes(p);
    p->size.pcg.bytes = p->size.product_bytes + mc_lowrank_bytes(ctx, own, p->size.rank) + vectors;
    p->size.nystrom = p->size.product_bytes + 3 * (size_t)(m * m) * sizeof(double) + vectors;
    p->size.fourier = 2 * (size_t)(m * m) * sizeof(double) + vectors;
    p->size.mixed = p->size.product_bytes + (size_t)n * (size_t)n / 2 * sizeof(float);
}

/* ---- Seconds ---- */

/* Of the tasks of a product each rank has the same number or one more. */
static double remainder_of(const scale_plan *p) {
    const double blocks = (double)mc_product_shape_of(p->gram, p->set.rows).blocks, tasks = blocks * (blocks + 1) / 2,
                 own = tasks / (double)p->set.ranks;
    return ceil(own) / own;
}

static double message_seconds(const scale_plan *p, double calls, double bits) {
    const double ranks = (double)p->set.ranks;
    return calls * ceil(log2(ranks)) * p->set.latency + bits / p->set.bandwidth * (ranks - 1) / ranks;
}

/* Of what every rank does with vectors beside a product. */
static double vector_seconds(const scale_plan *p) {
    return PASSES * (double)p->set.rows * sizeof(double) / MEMORY_RATE;
}

/* Of a symmetric product. */
static double product_messages(const scale_plan *p) {
    const mc_product_split split = mc_product_shape_of(p->gram, p->set.rows);
    const double n = (double)p->set.rows, ranks = (double)p->set.ranks, blocks = (double)split.blocks,
                 each = fmax(blocks, LEAST_EACH), stages = ceil(blocks * (blocks + 1) / 2 / (each * ranks)),
                 calls = CALLS + 2 * stages;
    return message_seconds(p, calls, 2 * n * (blocks + 1) / 2 / ranks * BITS + n * BITS + calls * ranks * NOTE);
}

/* Of a product that is not symmetric: rows are whole, and handed around once. */
static double gather_messages(const scale_plan *p) {
    return message_seconds(p, CALLS + 2, (double)p->set.rows * BITS);
}

static double products_of_pcg(const scale_plan *p) {
    return (double)p->set.steps + 2;
}

static double products_of_nystrom(const scale_plan *p) {
    (void)p;
    return PRODUCTS_NYSTROM;
}

/* What ranks share of a solver, and the messages that this takes; of the others each does everything. */
static const struct {
    const char *solver;
    bool factor; /* shared too */
    double (*products)(const scale_plan *p);
    double (*messages)(const scale_plan *p);
} shared[] = {{"pcg", true, products_of_pcg, product_messages},
              {"nystrom", false, products_of_nystrom, gather_messages}};

static double seconds_of(const scale_plan *p, const mc_solver_option *o) {
    for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) {
        if (strcmp(o->solver, shared[k].solver) != 0)
            continue;
        mc_solver_option own = *o;
        own.factor = shared[k].factor ? mc_factor_work((double)p->size.rank) : o->factor;
        mc_solver_option all = *o;
        all.factor -= own.factor;
        own.pairs = own.fast = own.eigen = own.fourier = 0;
        return mc_speed_seconds(&p->speed, &own)
               + mc_speed_seconds(&p->speed, &all) / (double)p->set.ranks * remainder_of(p)
               + shared[k].products(p) * (vector_seconds(p) + (p->set.ranks > 1 ? shared[k].messages(p) : 0));
    }
    return mc_speed_seconds(&p->speed, o);
}

/* ---- The plan ---- */

static mercer_choice choice_of(const mercer_ctx *ctx, const scale_plan *p, const mc_solver_option *o) {
    mercer_choice c = {o->solver, o->reason, o->bytes ? o->bytes + p->table : 0, seconds_of(p, o), o->possible};
    if (c.possible && c.memory_bytes > mc_memory_left(ctx)) {
        c.possible = false;
        c.reason = "every process holds all rows, which needs more memory than the limit leaves";
    }
    return c;
}

/* Exact solvers first, then approximations, each the shortest of those that are possible. */
static bool is_better(const mercer_choice *a, const mercer_choice *b) {
    const bool exact_a = strcmp(a->solver, "nystrom") != 0 && strcmp(a->solver, "fourier") != 0,
               exact_b = strcmp(b->solver, "nystrom") != 0 && strcmp(b->solver, "fourier") != 0;
    if (a->possible != b->possible)
        return a->possible;
    return exact_a != exact_b ? exact_a : a->seconds < b->seconds;
}

static void write_plan(const mercer_ctx *ctx, const scale_plan *p, const mc_solver_options *options, mercer_plan *out) {
    out->device = "cpu";
    out->device_reason = "ranks compute on their processors";
    out->card_seconds = NAN;
    for (int i = 0; i < options->count; i++) {
        if (strcmp(options->option[i].solver, "primal") == 0)
            continue;
        mercer_choice next = choice_of(ctx, p, &options->option[i]);
        if (i > 0 && is_better(&next, &out->chosen)) {
            const mercer_choice before = out->chosen;
            out->chosen = next;
            next = before;
        }
        if (i > 0)
            out->alternatives[out->alternative_count++] = next;
        else
            out->chosen = next;
    }
    out->cpu_seconds = out->chosen.seconds;
}

static mercer_status plan_scale(mercer_ctx *ctx, const mercer_kernel *kernel, scale_plan *p, mercer_plan *out) {
    MC_TRY(open_sample(ctx, kernel, p));
    const mercer_scale_of_fit *s = &p->set;
    p->size = (mc_ridge_size){.n = s->rows, .outputs = 1, .lambda = 1, .d = s->columns, .features = -1};
    p->size.rank = s->rank < s->rows ? s->rank : s->rows;
    p->size.steps = (double)s->steps;
    p->size.landmarks = p->size.frequencies = s->landmarks < s->rows ? s->landmarks : s->rows;
    p->size.frequencies = mc_chunk_count(p->size.frequencies, 2);
    p->size.tolerance = MC_RIDGE_CLOSE;
    p->size.row = (double)s->columns;
    p->size.proved = p->size.stationary = true;
    p->size.threads = ctx->threads;
    count_bytes(ctx, p);
    mc_solver_options options;
    mc_ridge_rank_solvers(ctx, &p->size, "auto", &options);
    write_plan(ctx, p, &options, out);
    return MERCER_OK;
}

mercer_status mercer_plan_ranks(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_scale_of_fit *set,
                                mercer_plan *out) {
    MC_NEED(ctx, kernel, out);
    mc_begin_call(ctx);
    scale_plan p = {.set = mercer_scale_of_fit_defaults()};
    MC_TRY(mc_sized_check(ctx, "mercer_plan", out));
    MC_TRY(mc_sized_read(ctx, "mercer_scale_of_fit", set, &p.set, sizeof p.set));
    MC_TRY(check_scale(ctx, &p.set));
    mercer_plan plan = {.size = sizeof plan};
    const mercer_status status = plan_scale(ctx, kernel, &p, &plan);
    mc_gram_close(p.gram);
    mercer_kernel_free(p.sample.kernel);
    mercer_data_free(p.sample.x);
    if (!status)
        mc_sized_write(&plan, sizeof plan, out);
    return status;
}

/* device_smo.c: see device_smo.h. A round is five kernels of device_smo.cu, started without waiting; every few
   rounds the host reads how far the programs have come. */
#include "qp/device_smo.h"
#include "backend/device.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/text.h"
#include "qp/smo_select.h"
#include <math.h>
#include <qp_sources.h>
#include <string.h>

enum { SET = 1024, BINS = 512, TILE = 32, THREADS = 256, LOOK = 8 };
enum { VIOLATION, STEPS, ROUNDS, DONE, STATE = 8 }; /* as device_smo.cu has them */
static const double INNER = 0.3;                    /* of the violation at the start of a round */
static const double CRAWL = 20;                     /* steps in a set per variable */

/* The argument of the kernels; device_smo.cu declares the same. */
typedef struct smo_argument {
    mc_address K, row, q, low, high, beta, f, mark, first, count;
    mc_address state, bin_value, bin_at, set, set_size, part, change, change_row, changes;
    int64_t ld, turn, n;
    double share, steps_most;
    mc_address tolerance, steps_max;
} smo_argument;

typedef struct device_smo {
    mc_device *device;
    void *source;
    mc_device_smo_program *programs;
    int64_t count, variables, largest;
    smo_argument a;
    mc_address at; /* one block of memory, of which all arrays are parts */
    size_t bytes;
    double *room;  /* variables: what goes there and comes back */
    double *state; /* count x STATE */
} device_smo;

/* ---- What lies there ---- */

/* A part of the block; while there is none yet its bytes are counted. */
static void take_part(device_smo *d, int64_t count, size_t each, mc_address *out) {
    *out = d->at + d->bytes;
    d->bytes += ((size_t)count * each + 255) / 256 * 256;
}

static void lay_out_arrays(device_smo *d) {
    mc_address *of_variables[] = {&d->a.row, &d->a.q, &d->a.low, &d->a.high, &d->a.beta, &d->a.f, &d->a.mark},
               *of_programs[] = {&d->a.first,   &d->a.count,     &d->a.set_size,
                                 &d->a.changes, &d->a.tolerance, &d->a.steps_max},
               *of_sets[] = {&d->a.set, &d->a.change, &d->a.change_row, &d->a.bin_value, &d->a.bin_at};
    d->bytes = 0;
    for (size_t i = 0; i < sizeof of_variables / sizeof *of_variables; i++)
        take_part(d, d->variables, sizeof(double), of_variables[i]);
    for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++)
        take_part(d, d->count, sizeof(double), of_programs[i]);
    for (size_t i = 0; i < sizeof of_sets / sizeof *of_sets; i++)
        take_part(d, d->count * SET, sizeof(double), of_sets[i]);
    take_part(d, d->count * STATE, sizeof(double), &d->a.state);
    take_part(d, d->count * SET, SET * sizeof(float), &d->a.part);
}

size_t mc_device_smo_bytes(int64_t count, int64_t variables) {
    device_smo d = {.count = count, .variables = variables};
    lay_out_arrays(&d);
    return d.bytes;
}

/* The row of K behind a variable. */
static int64_t row_of_variable(const mc_device_smo_program *p, int64_t t) {
    const int64_t i = mc_dual_row(&p->dual, t);
    return i < p->split ? p->first[0] + i : p->first[1] + i - p->split;
}

static mercer_status upload_all(mercer_ctx *ctx, const device_smo *d, mc_address to) {
    return mc_device_upload(ctx, d->device, to, d->room, (size_t)d->variables * sizeof(double));
}

static mercer_status upload_rows(mercer_ctx *ctx, const device_smo *d) {
    int64_t *row = (int64_t *)(void *)d->room;
    for (int64_t p = 0; p < d->count; p++)
        for (int64_t t = 0; t < d->programs[p].dual.m; t++)
            *row++ = row_of_variable(&d->programs[p], t);
    MC_TRY(upload_all(ctx, d, d->a.row));
    memset(d->room, 0, (size_t)d->variables * sizeof *d->room);
    return upload_all(ctx, d, d->a.mark);
}

/* f of every variable is that of its row. */
static mercer_status upload_slopes(mercer_ctx *ctx, const device_smo *d) {
    double *f = d->room;
    for (int64_t p = 0; p < d->count; p++)
        for (int64_t t = 0; t < d->programs[p].dual.m; t++)
            *f++ = d->programs[p].f[mc_dual_row(&d->programs[p].dual, t)];
    return upload_all(ctx, d, d->a.f);
}

static const double *array_of(const mc_device_smo_program *p, int which) {
    const double *const of[] = {p->dual.q, p->dual.low, p->dual.high, p->beta};
    return of[which];
}

static mercer_status upload_variables(mercer_ctx *ctx, const device_smo *d) {
    const mc_address to[] = {d->a.q, d->a.low, d->a.high, d->a.beta};
    for (int which = 0; which < 4; which++) {
        double *at = d->room;
        for (int64_t p = 0; p < d->count; at += d->programs[p++].dual.m)
            memcpy(at, array_of(&d->programs[p], which), (size_t)d->programs[p].dual.m * sizeof *at);
        MC_TRY(upload_all(ctx, d, to[which]));
    }
    MC_TRY(upload_slopes(ctx, d));
    return upload_rows(ctx, d);
}

/* Of every program: where its variables begin, how many, what is to be reached; no set so far. */
static mercer_status upload_programs(mercer_ctx *ctx, const device_smo *d) {
    const size_t bytes = (size_t)d->count * sizeof(double);
    double *tolerance = d->state, *steps_max = tolerance + d->count, *empty = steps_max + d->count;
    int64_t *first = (int64_t *)(void *)(empty + d->count), *count = first + d->count, before = 0;
    for (int64_t p = 0; p < d->count; before += d->programs[p++].dual.m) {
        first[p] = before;
        count[p] = d->programs[p].dual.m;
        tolerance[p] = d->programs[p].tolerance;
        steps_max[p] = (double)d->programs[p].steps_max;
        empty[p] = 0;
    }
    MC_TRY(mc_device_upload(ctx, d->device, d->a.tolerance, tolerance, bytes));
    MC_TRY(mc_device_upload(ctx, d->device, d->a.steps_max, steps_max, bytes));
    MC_TRY(mc_device_upload(ctx, d->device, d->a.set_size, empty, bytes));
    MC_TRY(mc_device_upload(ctx, d->device, d->a.changes, empty, bytes));
    MC_TRY(mc_device_upload(ctx, d->device, d->a.first, first, bytes));
    MC_TRY(mc_device_upload(ctx, d->device, d->a.count, count, bytes));
    memset(d->state, 0, STATE * bytes);
    return mc_device_upload(ctx, d->device, d->a.state, d->state, STATE * bytes);
}

mercer_status mc_device_smo_source(mercer_ctx *ctx, char **out) {
    mc_text t = mc_text_open(ctx);
    mc_text_add(&t, "#define SET %d\n#define BINS %d\n%s", SET, BINS, mc_source_device_smo);
    return mc_text_take(&t, out);
}

static mercer_status build_source(mercer_ctx *ctx, device_smo *d) {
    char *source = NULL;
    MC_TRY(mc_device_smo_source(ctx, &source));
    const mercer_status status = mc_device_build(ctx, d->device, source, &d->source);
    mc_free(source);
    return status;
}

static mercer_status open_there(mercer_ctx *ctx, device_smo *d) {
    MC_TRY(build_source(ctx, d));
    MC_TRY(MC_ALLOC(ctx, d->room, d->variables));
    MC_TRY(MC_ALLOC(ctx, d->state, d->count * STATE));
    lay_out_arrays(d);
    const size_t bytes = d->bytes;
    MC_TRY(mc_device_allocate(ctx, d->device, bytes, &d->at));
    lay_out_arrays(d);
    MC_TRY(upload_variables(ctx, d));
    return upload_programs(ctx, d);
}

static void close_there(device_smo *d) {
    mc_device_release(d->device, d->at, d->bytes);
    mc_free(d->room);
    mc_free(d->state);
}

/* ---- Rounds ---- */

static mercer_status launch_kernel(mercer_ctx *ctx, const device_smo *d, const char *kernel, int64_t wide,
                                   int64_t high) {
    const mc_launch shape = {.grid = {wide, high}, .threads = THREADS};
    return mc_device_launch(ctx, d->device, d->source, kernel, &shape, &d->a, sizeof d->a);
}

static mercer_status run_round(mercer_ctx *ctx, device_smo *d) {
    d->a.turn++;
    MC_TRY(launch_kernel(ctx, d, "choose", BINS / 32, d->count));
    MC_TRY(launch_kernel(ctx, d, "pick", 1, d->count));
    MC_TRY(launch_kernel(ctx, d, "gather", SET / (THREADS / 32), d->count));
    MC_TRY(launch_kernel(ctx, d, "smo", 1, d->count));
    return launch_kernel(ctx, d, "move", mc_chunk_count(d->largest, THREADS), d->count);
}

/* Downloads how far the programs are. *worst: the violation of those that go on; *done: there are none. */
static mercer_status look_at_programs(mercer_ctx *ctx, device_smo *d, double *worst, bool *done) {
    MC_TRY(mc_device_download(ctx, d->device, d->state, d->a.state, (size_t)(d->count * STATE) * sizeof *d->state));
    *worst = 0;
    *done = true;
    for (int64_t p = 0; p < d->count; p++) {
        *worst = fmax(*worst, d->state[p * STATE + VIOLATION]);
        *done = *done && d->state[p * STATE + DONE] != 0;
    }
    return MERCER_OK;
}

/* *stopped: the caller or the clock; what there is by then is an answer. */
static mercer_status run_rounds(mercer_ctx *ctx, device_smo *d, mercer_status *stopped) {
    const int64_t tiles = mc_chunk_count(d->a.n, TILE);
    double worst = INFINITY;
    *stopped = MERCER_OK;
    mc_progress_start(ctx);
    MC_TRY(launch_kernel(ctx, d, "mirror", tiles, tiles));
    for (bool done = false; !done && !*stopped;) {
        for (int i = 0; i < LOOK; i++)
            MC_TRY(run_round(ctx, d));
        MC_TRY(look_at_programs(ctx, d, &worst, &done));
        *stopped = mc_progress_step(ctx, -1, (mc_watch){"violation", worst, d->programs[0].tolerance});
    }
    return MERCER_OK;
}

/* ---- What comes back ---- */

/* The rows of K behind multipliers, and those, one for a row. */
static int64_t list_multipliers(const mc_device_smo_program *p, double *c, int64_t *row) {
    int64_t count = 0;
    for (int64_t t = 0; t < p->dual.m; t++)
        c[mc_dual_row(&p->dual, t)] = 0;
    for (int64_t t = 0; t < p->dual.m; t++)
        c[mc_dual_row(&p->dual, t)] += p->beta[t];
    for (int64_t t = 0; t < p->dual.m; t++) {
        const int64_t i = mc_dual_row(&p->dual, t);
        if (i == t && c[i] != 0) {
            row[count] = row_of_variable(p, t);
            c[count++] = c[i];
        }
    }
    return count;
}

/* f from nothing: sums of as many terms as there are multipliers, each rounded once. */
static mercer_status decide_all(mercer_ctx *ctx, const device_smo *d) {
    int64_t *row = NULL, *count = (int64_t *)(void *)d->state, at = 0;
    MC_TRY(MC_ALLOC(ctx, row, d->variables));
    for (int64_t p = 0; p < d->count; at += d->programs[p++].dual.m)
        count[p] = list_multipliers(&d->programs[p], d->room + at, row + at);
    mercer_status status = mc_device_upload(ctx, d->device, d->a.changes, count, (size_t)d->count * sizeof *count);
    MC_THEN(status, mc_device_upload(ctx, d->device, d->a.high, row, (size_t)d->variables * sizeof *row));
    MC_THEN(status, upload_all(ctx, d, d->a.low));
    MC_THEN(status, launch_kernel(ctx, d, "decide", mc_chunk_count(d->largest, THREADS), d->count));
    MC_THEN(status, mc_device_download(ctx, d->device, d->room, d->a.f, (size_t)d->variables * sizeof *d->room));
    mc_free(row);
    return status;
}

static void write_result(const device_smo *d, int64_t p, const double *f) {
    mc_device_smo_program *it = &d->programs[p];
    for (int64_t t = 0; t < it->dual.m; t++)
        it->f[mc_dual_row(&it->dual, t)] = f[t];
    mc_dual_optimality(&it->dual, it->beta, it->f, it->result);
    it->result->converged = it->result->violation <= it->tolerance;
}

static void write_counts(const device_smo *d, int64_t p) {
    const double *state = d->state + p * STATE;
    mc_smo_result *result = d->programs[p].result;
    *result = (mc_smo_result){.steps = (int64_t)state[STEPS], .rounds = (int64_t)state[ROUNDS]};
    result->updates = SET * result->steps;
}

static mercer_status take_answers(mercer_ctx *ctx, device_smo *d) {
    MC_TRY(mc_device_download(ctx, d->device, d->room, d->a.beta, (size_t)d->variables * sizeof *d->room));
    for (int64_t p = 0, at = 0; p < d->count; at += d->programs[p++].dual.m) {
        memcpy(d->programs[p].beta, d->room + at, (size_t)d->programs[p].dual.m * sizeof(double));
        write_counts(d, p);
    }
    MC_TRY(decide_all(ctx, d));
    for (int64_t p = 0, at = 0; p < d->count; at += d->programs[p++].dual.m)
        write_result(d, p, d->room + at);
    return MERCER_OK;
}

mercer_status mc_device_smo_solve(mercer_ctx *ctx, mc_dense K, mc_device_smo_program *programs, int64_t count) {
    device_smo d = {.device = K.device, .programs = programs, .count = count};
    d.a = (smo_argument){.K = (mc_address)(uintptr_t)K.a, .ld = K.ld, .n = K.rows, .share = INNER, .steps_most = CRAWL};
    mercer_status stopped = MERCER_OK;
    for (int64_t p = 0; p < count; p++) {
        d.variables += programs[p].dual.m;
        d.largest = programs[p].dual.m > d.largest ? programs[p].dual.m : d.largest;
    }
    mercer_status status = open_there(ctx, &d);
    MC_THEN(status, run_rounds(ctx, &d, &stopped));
    MC_THEN(status, take_answers(ctx, &d));
    close_there(&d);
    return status ? status : stopped;
}

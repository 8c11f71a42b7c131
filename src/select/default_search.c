/* default_search.c: the short search behind a fit for which nothing is given. rbf with seven to thirteen values of
   gamma around its default, and a few values of the setting that decides most, are measured on part of the rows: so few
   that all of it costs no more than about two fits of all rows, and no fewer than a number that any machine fits in no
   time. Where right and wrong are counted, on so few rows that chance decides among equals, a candidate is judged by
   its level, the mean with its neighbours on the grid, and of those within half a standard error of the best level the
   strongest penalty is taken.

   ridge has a second kernel to compare: columns differ in how fast the target changes along them. A Gaussian process
   with a Matern kernel and one length scale for every column takes twenty steps uphill on the evidence, from one scale
   for all: that finds which columns matter, and stops before it fits the noise. What it finds is measured as the rbf
   are, and taken where it is better by two standard errors of the difference, one of its own, or a tenth, beyond what
   as many parameters gain by themselves. The planner forecasts the same search (plan_tune.c). */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/status.h"
#include "data/table/data.h"
#include "data/table/folds.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parse.h"
#include "learn/common/machines.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>

enum { ROWS_OF_SCALES = 500, COLUMNS_MOST = 40, ROWS_A_SCALE = 10, STEPS_OF_SCALES = 20 };
#define LEAST_LAMBDA 1e-6 /* of the rule of ridge */
#define START_OF_SCALES "matern(nu=2.5)"
#define SMOOTHNESS_OF_SCALES 5 /* 2 nu */
enum { POINTS = 7, ROWS_FOR_A_CHOICE = 20, FEW_ROWS = 500, REPEATS = 3 };
/* Under a time limit: of the first search; and what one of all kernels and folds takes beside it, about. */
enum { ROWS_IN_A_HURRY = 200, FOLDS_IN_A_HURRY = 2, WHOLE_GRID = 12 };
static const double SHARE_OF_LIMIT = 1.0 / 3; /* the rest is for the fit */
static const double WORTH = 1.5;              /* times as many rows: fewer are not searched on anew */

/* share: of the rows, where few and many do not say otherwise. */
typedef struct rule {
    const char *machine, *range;
    bool folded; /* measured by folds, not in closed form */
    int64_t few, many;
    double share;
} rule;
static const rule rules[] = {
    {"ridge", "lambda={1e-6,3e-6,1e-5,3e-5,1e-4,3e-4,1e-3,3e-3,0.01,0.03,0.1,0.3,1,3,10,30,100}", false, 1000, 2000,
     0.24},
    {"svc", "C={0.1,0.5,2,10,50,250}", true, 600, 1500, 0.06},
    {"svr", "C={0.1,0.5,2,10,50,250}", true, 600, 1500, 0.18},
    {"logistic", "lambda={1e-3,0.01,0.1,1,10}", true, 300, 600, 0.04},
};

/* One of as many equal parts as bring the rows nearest to the number wanted; stratified by class, and a row at least
   of each. */
static mercer_status take_part(mercer_ctx *ctx, const mercer_data *data, int64_t wanted, mercer_data **out) {
    int64_t *fold = NULL, *rows = NULL, n = 0;
    const int64_t parts = (data->n + wanted / 2) / wanted;
    mercer_status status = MC_ALLOC(ctx, fold, data->n + data->classes);
    MC_THEN(status, MC_ALLOC(ctx, rows, data->n));
    if (!status && parts > 1)
        status = mc_data_folds(ctx, data, parts, NULL, ctx->options.seed, fold);
    for (int64_t i = 0; i < data->n && !status; i++)
        if (fold[i] == 0)
            rows[n++] = i;
    if (!status && data->class_of)
        n = mc_rows_of_every_class(data, fold, 0, fold + data->n, rows, n);
    MC_THEN(status, mc_data_take(ctx, data, rows, n, out));
    mc_free(fold);
    mc_free(rows);
    return status;
}

/* Values of gamma: closed forms on few rows allow more of them. */
static int64_t points_for(const mercer_data *part, bool folded) {
    return folded ? POINTS : part->n <= 300 ? 13 : part->n <= 1000 ? 9 : POINTS;
}

/* Without closed forms, for which the memory may be too little, ridge would take a fit for every candidate and fold. */
static bool can_be_measured(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                            const mercer_tune *set, const mercer_data *part) {
    if (strcmp(machine->name, "ridge") != 0)
        return true;
    return mc_engine_exact(ctx, machine, settings, set, part);
}

/* ---- One length scale for every column ---- */

static bool has_scales(const mercer_machine *machine, const mercer_data *part) {
    return strcmp(machine->name, "ridge") == 0 && part->target && !part->row_start && !part->reads_texts && part->d >= 2
           && part->d <= COLUMNS_MOST && part->n >= ROWS_A_SCALE * part->d;
}

static double factor_of(const mercer_kernel *kernel) {
    for (int64_t i = 0; i < kernel->slots; i++)
        if (kernel->slot[i].parameter < 0)
            return mercer_kernel_parameter(kernel, i);
    return 1;
}

/* Half the factor at which the rounding of K, 4 n 2^-52 times its largest eigenvalue, reaches the smallest lambda
   compared; n factor is above that eigenvalue. */
static double highest_factor(int64_t n) {
    return fmax(LEAST_LAMBDA / (8 * 0x1p-52 * (double)n * (double)n), 1);
}

/* Where the target is smooth, the evidence rises along ever longer scales and an ever larger factor, between which only
   the rough part of the kernel decides, a fifth power of distances over scales: what is beyond the factors and lambdas
   compared, but for a tenth of them, comes off the scales, at the same rough part. */
static double shorten_scales(double factor, double highest) {
    return pow(fmin(1, highest / (10 * LEAST_LAMBDA * factor)), 1.0 / SMOOTHNESS_OF_SCALES);
}

/* The kernel of the process over its noise, so that lambda = 1 is what the process has found, and the values of lambda
   that are compared lie on both sides of it whatever the unit of the target and however long the scales are; where
   there is next to no noise, as far over it as the rounding of K on n rows allows. Three digits are enough. */
static mercer_status read_scales(mercer_ctx *ctx, const mercer_model *process, int64_t n, mercer_kernel **out) {
    const mercer_kernel *kernel = process->f.kernel;
    const double found = factor_of(kernel) / process->f.report.lambda, highest = highest_factor(n);
    const double shorter = shorten_scales(found, highest);
    mc_text text = mc_text_open(ctx);
    char *words = NULL;
    mc_text_add(&text, "%.3g*matern(nu=2.5, length_scale=[", fmin(found, highest));
    for (int64_t i = 0, count = 0; i < kernel->slots; i++)
        if (kernel->slot[i].parameter >= 0)
            mc_text_add(&text, "%s%.3g", count++ ? ", " : "", shorter * mercer_kernel_parameter(kernel, i));
    mc_text_add(&text, "])");
    MC_TRY(mc_text_take(&text, &words));
    const mercer_status status = mc_kernel_parse(ctx, words, (mc_users){0}, out);
    mc_free(words);
    return status;
}

static mercer_gp process_for(const mercer_ridge *ridge) {
    mercer_gp gp = mercer_gp_defaults();
    gp.ard = true;
    gp.restarts = 0;
    gp.iterations = STEPS_OF_SCALES;
    gp.intercept = ridge->intercept;
    gp.scale = ridge->scale;
    return gp;
}

static mercer_status learn_scales(mercer_ctx *ctx, const mercer_ridge *ridge, const mercer_data *rows, int64_t n,
                                  mercer_kernel **out) {
    const mercer_gp gp = process_for(ridge);
    mercer_kernel *start = NULL;
    mercer_model *model = NULL;
    MC_TRY(mc_kernel_parse(ctx, START_OF_SCALES, (mc_users){0}, &start));
    mercer_status status = mc_model_fit(ctx, mercer_machine_find("gp"), &gp, start, rows, &model);
    MC_THEN(status, read_scales(ctx, model, n, out));
    mercer_model_free(model);
    mercer_kernel_free(start);
    return status;
}

/* n: rows of the fit. *out stays NULL where there is no such kernel. */
static mercer_status find_scales(mercer_ctx *ctx, const mercer_ridge *ridge, const mercer_data *part, int64_t n,
                                 mercer_kernel **out) {
    mercer_data *rows = NULL;
    MC_TRY(take_part(ctx, part, ROWS_OF_SCALES, &rows));
    const mercer_status status = learn_scales(ctx, ridge, rows, n, out);
    mercer_data_free(rows);
    if (status != MERCER_NUMERIC)
        return status;
    mc_clear_failure(ctx); /* the rbf are there */
    return MERCER_OK;
}

/* ---- The search ---- */

/* Part of the rows, and what is searched on it. kernels[1]: with a length scale for every column, where that is
   compared. */
typedef struct search_choice {
    mercer_data *part;
    mercer_tune set;
    const char *ranges[2];
    mercer_kernel *kernels[2];
} search_choice;

static void close_choice(search_choice *c) {
    mercer_data_free(c->part);
    mercer_kernel_free(c->kernels[0]);
    mercer_kernel_free(c->kernels[1]);
}

/* NULL: there is none. */
static const rule *find_rule(const mercer_machine *machine) {
    for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++)
        if (strcmp(rules[k].machine, machine->name) == 0)
            return &rules[k];
    return NULL;
}

static int64_t rows_by_rule(const rule *r, int64_t n) {
    const int64_t wanted = (int64_t)(r->share * (double)n);
    return wanted > r->many ? r->many : wanted < r->few ? r->few : wanted;
}

/* most: rows; 0: as many as the rule says. */
static mercer_status open_choice(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                 const mercer_data *data, int64_t most, search_choice *c) {
    *c = (search_choice){.set = mercer_tune_defaults()};
    const rule *r = find_rule(machine);
    if (!r || data->n < ROWS_FOR_A_CHOICE)
        return mc_fail(ctx, MERCER_INVALID, "there is no rule that chooses the parameters of %s on %lld rows",
                       machine->name, (long long)data->n);
    int64_t wanted = rows_by_rule(r, data->n);
    wanted = most > 0 && wanted > most ? most : wanted;
    c->ranges[0] = r->range;
    c->set.ranges = c->ranges;
    c->set.seed = ctx->options.seed;
    MC_TRY(take_part(ctx, data, wanted, &c->part));
    c->set.points = points_for(c->part, r->folded);
    c->set.repeats = r->folded && data->n < FEW_ROWS ? REPEATS : 1;
    if (!can_be_measured(ctx, machine, settings, &c->set, c->part))
        return mc_fail(ctx, MERCER_MEMORY, "there is no memory for the closed forms that choose the parameters of %s",
                       machine->name);
    return MERCER_OK;
}

/* With a second kernel, if there is one, the first must be given too. */
static mercer_status put_kernels(mercer_ctx *ctx, const mercer_machine *machine, const mercer_ridge *ridge,
                                 search_choice *c) {
    if (!c->kernels[1])
        return MERCER_OK;
    c->set.kernels = (const mercer_kernel *const *)c->kernels;
    c->set.kernel_count = 2;
    return mc_tune_kernel(ctx, machine, ridge, c->part, &c->kernels[0]);
}

static mercer_ridge ridge_of(const mercer_machine *machine, const void *settings) {
    return strcmp(machine->name, "ridge") == 0 ? *(const mercer_ridge *)settings : mercer_ridge_defaults();
}

/* *rows: those it was done on. */
static mercer_status search_default_kernels(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                            const mercer_data *data, int64_t most, int64_t *rows, mercer_search **out) {
    const mercer_ridge ridge = ridge_of(machine, settings);
    search_choice c;
    mercer_status status = open_choice(ctx, machine, settings, data, most, &c);
    *rows = c.part ? c.part->n : 0;
    if (!status && has_scales(machine, c.part))
        status = find_scales(ctx, &ridge, c.part, data->n, &c.kernels[1]);
    MC_THEN(status, put_kernels(ctx, machine, &ridge, &c));
    MC_THEN(status, mc_tune_run(ctx, machine, settings, &c.set, MC_LEVEL, c.part, out));
    close_choice(&c);
    return status;
}

/* ---- Under a time limit ---- */

static mercer_ridge ridge_like(const mercer_machine *machine, const void *settings) {
    mercer_ridge ridge = mercer_ridge_defaults();
    for (int i = 0; i < machine->count; i++) {
        const void *field = (const char *)settings + machine->settings[i].offset;
        if (strcmp(machine->settings[i].name, "scale") == 0)
            ridge.scale = *(const char *const *)field;
    }
    ridge.intercept = true;
    return ridge;
}

/* The kernel by the closed forms of ridge on these rows, which take no folds and no fits, whatever the classes are. */
static mercer_status choose_kernel_by_ridge(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                            const mercer_data *part, mercer_kernel **out) {
    const mercer_machine *closed = mercer_machine_find("ridge");
    const mercer_ridge ridge = ridge_like(machine, settings);
    mercer_search *search = NULL;
    search_choice c;
    mercer_status status = open_choice(ctx, closed, &ridge, part, part->n, &c);
    MC_THEN(status, mc_tune_run(ctx, closed, &ridge, &c.set, MC_LEVEL, c.part, &search));
    MC_THEN(status, mc_kernel_parse(ctx, mercer_kernel_text(search->winner), (mc_users){0}, out));
    mercer_search_free(search);
    close_choice(&c);
    return status;
}

/* As many as the default would be, where some class has too few rows for two. */
static int64_t folds_in_a_hurry(const mercer_data *part) {
    for (int32_t c = 0; c < part->classes; c++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < part->n; i++)
            rows += part->class_of[i] == c;
        if (rows < FOLDS_IN_A_HURRY)
            return 0;
    }
    return FOLDS_IN_A_HURRY;
}

/* Where a candidate takes fits: a kernel by closed forms, then the setting alone, on two folds. */
static mercer_status search_settings(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                     const mercer_data *data, int64_t *rows, mercer_search **out) {
    search_choice c;
    mercer_status status = open_choice(ctx, machine, settings, data, ROWS_IN_A_HURRY, &c);
    *rows = c.part ? c.part->n : 0;
    MC_THEN(status, choose_kernel_by_ridge(ctx, machine, settings, c.part, &c.kernels[0]));
    c.set.kernels = (const mercer_kernel *const *)c.kernels;
    c.set.kernel_count = 1;
    c.set.folds = c.part ? folds_in_a_hurry(c.part) : 0;
    c.set.repeats = 1;
    MC_THEN(status, mc_tune_run(ctx, machine, settings, &c.set, MC_LEVEL, c.part, out));
    close_choice(&c);
    return status;
}

/* On few rows whatever the clock says: some tenths of a second at most. */
static mercer_status search_in_a_hurry(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                       const mercer_data *data, int64_t *rows, mercer_search **out) {
    const mc_limit limit = mc_limit_lift(ctx);
    const mercer_status status = strcmp(machine->name, "ridge") == 0
                                     ? search_default_kernels(ctx, machine, settings, data, ROWS_IN_A_HURRY, rows, out)
                                     : search_settings(ctx, machine, settings, data, rows, out);
    mc_limit_close(ctx, limit);
    return status;
}

/* In place of the search so far, where it comes to its end; the clock may cut it short. */
static mercer_status search_wider(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                  const mercer_data *data, int64_t most, int64_t *rows, mercer_search **out) {
    mercer_search *wider = NULL;
    mercer_status status = search_default_kernels(ctx, machine, settings, data, most, rows, &wider);
    if (!status && strcmp(wider->report.stopped, "no") == 0) {
        mercer_search_free(*out);
        *out = wider;
        return MERCER_OK;
    }
    mercer_search_free(wider);
    *rows = data->n; /* there is no time for more */
    if (status != MERCER_CANCELLED)
        mc_clear_failure(ctx);
    return status == MERCER_CANCELLED ? status : MERCER_OK;
}

/* First in a hurry; then, as long as there is time, on as many rows as it allows, at the cube of the rows, by what the
   last one took. */
static mercer_status search_more_and_more(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                          const mercer_data *data, mercer_search **out) {
    const bool closed = strcmp(machine->name, "ridge") == 0;
    int64_t rows = 0, asked = ROWS_IN_A_HURRY;
    double began = mc_time_left(ctx), least = closed ? WORTH : 1;
    MC_TRY(search_in_a_hurry(ctx, machine, settings, data, &rows, out));
    const int64_t enough = rows_by_rule(find_rule(machine), data->n);
    double took = fmax(began - mc_time_left(ctx), 1e-6) * (closed ? 1 : WHOLE_GRID);
    for (bool more = asked < enough || !closed; more && rows < data->n + !closed; more = asked < enough) {
        const double factor = cbrt(mc_time_left(ctx) / took);
        if (!(factor >= least))
            break;
        asked = (int64_t)fmin((double)enough, factor * (double)rows);
        began = mc_time_left(ctx);
        MC_TRY(search_wider(ctx, machine, settings, data, asked, &rows, out));
        took = fmax(began - mc_time_left(ctx), 1e-6);
        least = WORTH;
    }
    return MERCER_OK;
}

static mercer_status search_in_time(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                    const mercer_data *data, mercer_search **out) {
    const mc_limit limit = mc_limit_open(ctx, SHARE_OF_LIMIT * mc_time_left(ctx));
    const mercer_status status = search_more_and_more(ctx, machine, settings, data, out);
    mc_limit_close(ctx, limit);
    return status;
}

mercer_status mercer_tune_default(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_data *data,
                                  mercer_search **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, machine, data, out);
    mc_begin_call(ctx);
    mc_settings whole;
    MC_TRY(mc_settings_read(ctx, machine, settings, &whole));
    int64_t rows;
    return ctx->options.time_limit > 0 ? search_in_time(ctx, whole.machine, whole.values, data, out)
                                       : search_default_kernels(ctx, whole.machine, whole.values, data, 0, &rows, out);
}

/* ---- What it would take ---- */

/* Any length scale stands for those that would be learned; learning them is a short fit of the process. */
static mercer_status plan_scales(mercer_ctx *ctx, const mercer_ridge *ridge, search_choice *c, mercer_plan *out) {
    const mercer_gp gp = process_for(ridge);
    mercer_data *rows = NULL;
    MC_TRY(mc_kernel_parse(ctx, START_OF_SCALES, (mc_users){0}, &c->kernels[1]));
    MC_TRY(take_part(ctx, c->part, ROWS_OF_SCALES, &rows));
    const mercer_status status = mc_plan_fit(ctx, mercer_machine_find("gp"), &gp, c->kernels[1], rows, out);
    mercer_data_free(rows);
    return status;
}

static mercer_status plan_choice(mercer_ctx *ctx, const mercer_machine *machine, const void *settings, search_choice *c,
                                 mercer_tune_plan *out) {
    const mercer_ridge ridge = ridge_of(machine, settings);
    mercer_plan scales = {0};
    if (has_scales(machine, c->part))
        MC_TRY(plan_scales(ctx, &ridge, c, &scales));
    MC_TRY(put_kernels(ctx, machine, &ridge, c));
    MC_TRY(mc_plan_search(ctx, machine, settings, &c->set, c->part, false, out));
    out->seconds += scales.chosen.seconds;
    out->memory_bytes = scales.chosen.memory_bytes > out->memory_bytes ? scales.chosen.memory_bytes : out->memory_bytes;
    return MERCER_OK;
}

static mercer_status plan_default_search(mercer_ctx *ctx, const mercer_machine *machine, const void *settings,
                                         const mercer_data *data, mercer_tune_plan *out) {
    const size_t before = mercer_memory_used(ctx);
    search_choice c;
    mercer_status status = open_choice(ctx, machine, settings, data, 0, &c);
    const size_t held = mercer_memory_used(ctx) - before;
    MC_THEN(status, plan_choice(ctx, machine, settings, &c, out));
    out->memory_bytes += held;
    close_choice(&c);
    return status;
}

mercer_status mercer_plan_default(mercer_ctx *ctx, const char *machine, const void *settings, const mercer_data *data,
                                  mercer_tune_plan *out) {
    MC_NEED(ctx, machine, data, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_tune_plan", out));
    mc_settings whole;
    mercer_tune_plan made = {.engine = ""};
    MC_TRY(mc_settings_read(ctx, machine, settings, &whole));
    mc_shield_from_stop(ctx, true); /* the time limit is that of the search */
    const mercer_status status = plan_default_search(ctx, whole.machine, whole.values, data, &made);
    mc_shield_from_stop(ctx, false);
    mc_sized_write(&made, sizeof made, out);
    return status;
}

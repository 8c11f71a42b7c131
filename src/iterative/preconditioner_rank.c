/* preconditioner_rank.c: a larger rank makes the steps fewer and its making dearer; grow while the steps saved cost
   more than the columns.

   E = K - F F' is what the preconditioner misses. A column drawn by its diagonal lowers the trace by tr(E^2)/tr(E) on
   average, the mean of E's eigenvalues weighted by themselves: f->gain. The steps to a reduction by tolerance are then
   close to

       1/2 sqrt(1 + gain/lambda) ln(2/tolerance),

   the classical bound with gain in place of the largest eigenvalue of E. It is an estimate, not a bound (the bound,
   with the trace, is some ten times larger), because conjugate gradients take care of the few eigenvalues above; they
   take as many steps or, where the spectrum falls fast, down to half as many. A larger rank also makes every step
   dearer, by reading F. Between ranks the gain follows a power of the rank, whose exponent the last doubling shows. */
#include "iterative/preconditioner_rank.h"
#include "base/progress.h"
#include "base/status.h"
#include <math.h>

enum { START = 64 };
static const double EXPONENTIAL = 30, /* operations of an entry beside its inner product */
    /* operations of a product of F in float; of one in F'F, in double from widened columns */
    COLUMNS = 2, SQUARES = 5,
                    /* operations in the time of reading a number of F twice: from memory, from a cache */
    READING = 250, NEAR = 80, CACHE = 4e6, /* numbers that stay in one */
    LIKELY = 0.7,                          /* of the steps estimated */
    /* of a step, at most, for the preconditioner: the optimum is flat, and memory better kept */
    SHARE = 0.33;

int64_t mc_rank_cap(int64_t n) {
    const int64_t cap = (int64_t)(10 * sqrt((double)n));
    return cap < n ? cap : n;
}

double mc_rank_entry(double d) {
    return 2 * d + EXPONENTIAL;
}

double mc_rank_step(int64_t n, double entry, int64_t t) {
    return (double)n * (double)n / 2 * (entry + 4 * (double)t);
}

double mc_rank_steps(double gain, double lambda, double tolerance) {
    return 0.5 * sqrt(1 + gain / lambda) * log(2 / tolerance);
}

/* Fewer, as a rule: conjugate gradients also learn the spectrum as they go. On the benchmark's rows they took between a
   half and all. */
double mc_rank_likely_steps(double gain, double lambda, double tolerance) {
    return ceil(LIKELY * mc_rank_steps(gain, lambda, tolerance));
}

/* Entries, products with the columns there are, and the r x r matrix of the preconditioner. */
double mc_rank_growth(int64_t n, double entry, int64_t from, int64_t to) {
    const double a = (double)from, b = (double)to;
    return (double)n * ((b - a) * entry + COLUMNS * (b * b - a * a) + SQUARES * b * b) + SQUARES * b * b * b / 3;
}

/* In every step the preconditioner reads F twice. */
static double cost_of_applying(int64_t n, int64_t rank) {
    const double numbers = (double)n * (double)rank;
    return (numbers < CACHE ? NEAR : READING) * numbers;
}

static int64_t rank_at_most(const mc_rank_rule *rule, int64_t n) {
    const double most = fmax(CACHE, SHARE * rule->step / READING) / (double)n;
    return most < (double)rule->most ? (int64_t)most : rule->most;
}

int64_t mc_rank_next(const mc_rank_rule *rule, int64_t n, int64_t rank, double before, double gain) {
    const int64_t most = rank_at_most(rule, n), next = 2 * rank < most ? 2 * rank : most;
    if (next <= rank || !(gain > 0))
        return rank;
    const double slope = fmax(0, log2(before / gain)); /* gain ~ rank^-slope */
    const double then = gain * pow((double)next / (double)rank, -slope);
    const double now = mc_rank_steps(gain, rule->lambda, rule->tolerance) * (rule->step + cost_of_applying(n, rank));
    const double later = mc_rank_steps(then, rule->lambda, rule->tolerance) * (rule->step + cost_of_applying(n, next));
    const double growth = mc_rank_growth(n, rule->entry, rank, next);
    return now - later > growth && growth < rule->most_work ? next : rank;
}

static mercer_status grow_by_rule(mercer_ctx *ctx, const mc_rank_rule *rule, mc_lowrank *f) {
    if (rule->asked)
        return mc_lowrank_grow(ctx, f, rule->asked < rule->most ? rule->asked : rule->most, 0);
    const int64_t half = START / 2 < rule->most ? START / 2 : rule->most;
    MC_TRY(mc_lowrank_grow(ctx, f, half, 0));
    double before = f->gain;
    MC_TRY(mc_lowrank_grow(ctx, f, 2 * half < rule->most ? 2 * half : rule->most, 0));
    for (int64_t next; !f->exhausted && (next = mc_rank_next(rule, f->n, f->rank, before, f->gain)) > f->rank;) {
        before = f->gain;
        MC_TRY(mc_lowrank_grow(ctx, f, next, 0));
    }
    return MERCER_OK;
}

mercer_status mc_rank_grow(mercer_ctx *ctx, const mc_rank_rule *rule, mc_lowrank *f) {
    const mercer_status status = grow_by_rule(ctx, rule, f);
    mc_lowrank_settle(f);
    return status;
}

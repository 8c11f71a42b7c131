/* ridge_certificate.c: the certificate of ridge regression. K is evaluated in double from the rows;
   nothing is taken from the solver. (A cached product is such an evaluation of K alpha, made earlier for the very same
   alpha.)

   One output. S = diag(sqrt w), s = S 1, M = S K S (positive semidefinite since k is proved to be a kernel), A = M +
   lambda I, alpha = S beta. The objective sum w (y - f - b)^2 + lambda |f|^2 is

       J(beta, b) = |S y - b s - M beta|^2 + lambda beta' M beta,     optimal where A beta* + b* s = S y and s' beta* =
   0.

   The check measures r = S y - b s - A beta and q = s' beta = sum alpha. With e = beta* - beta, c = b* - b:  A e + c s
   = r, s' e = -q. Write g = s' A^-1 s. J is quadratic and flat at its optimum, so

       J(beta, b) - J* = |M e + c s|^2 + lambda e' M e = |r - lambda e|^2 + lambda e' M e
                       = |r|^2 - lambda (r' A^-1 r - (s' A^-1 r)^2 / g) + lambda (2 q s' A^-1 r + q^2) / g
                      <= (|r| + sqrt(lambda / g) |q|)^2, (gap)

   because the first bracket is not negative (Cauchy-Schwarz) and |s' A^-1 r| <= sqrt(g) |r| / sqrt(lambda).
   For a prediction split e into the part e1 with q = 0 and e2 = -A^-1 s q / g. On the complement of s the first solves
   a system with the same lambda, and sqrt(t) / (t + lambda) <= 1 / (2 sqrt(lambda)), so the norm in H of the difference
   of the functions is at most |r| / (2 sqrt(lambda)) + |q| / sqrt(g); and |c| <= |r| / sqrt(lambda g) + |q| / g. With
   kappa^2 = max k(x_i, x_i):

       |f(x) + b - f*(x) - b*| <= (kappa/2 + 1/sqrt g) |r| / sqrt(lambda) + (kappa + 1/sqrt g) |q| / sqrt g (intercept)
       |f(x) - f*(x)|          <= kappa |r| / (2 sqrt(lambda))                                                    (none)

   for every x with k(x, x) <= kappa^2. By Jensen g >= |s|^4 / s' A s, and s' M s <= (sum w_i sqrt k_ii)^2.

   At any x the bound is a + c sqrt(k(x, x)) with c = |r| / (2 sqrt(lambda)) + |q| / sqrt g and a = |r| / sqrt(lambda g)
   + |q| / g: both are kept.

   Rounding. |computed (K alpha)_i - (K alpha)_i| <= (1 + sum) entry |alpha|_1 + sum sqrt(k_ii) sum_j sqrt(k_jj)
   |alpha_j|, entry being the operator's bound on one computed value, sum that of the additions made one after the other
   (n at most), and |K_ij| <= sqrt(k_ii k_jj). Where that is more than the residual itself, and entries are not
   negative, a product with |alpha| says how large the terms really are, and the operator's two terms bound the error by
   it. Where that still is most of the residual, a prediction is claimed to no better than 1e-6 of the target, and the
   rows are few, K alpha and r are computed once more in long double, with bounds of their own (extended_product.c); in
   double are then only the predictions themselves. The few operations after it add 4 u of each term. One per cent on
   top covers what is of second order, the bound's own rounding included.

   lambda = 0. J* >= 0 gives the gap |r|^2; no bound holds for predictions, which K may leave undetermined. What must
   vanish is the gradient: residual is then |M r| / max M_ii (and |s' r| / |s| with an intercept), in the unit of y as r
   is.

   Several outputs: residual and rounding are root sums of squares, the gap is the sum, the prediction bound is the
   worst. */
#include "certify/ridge_certificate.h"
#include "base/status.h"
#include "base/workspace.h"
#include "certify/certificate.h"
#include "certify/extended_product.h"
#include "data/table/data.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const double slack = MC_CERTIFY_SLACK;

typedef struct ridge_check {
    const mc_problem *p;
    const mc_gram *gram;             /* NULL: there is a cached product */
    const mc_cached_product *cached; /* of this alpha; NULL: none */
    const double *alpha, *b;
    double lambda;
    bool intercept;
    double entry, sum;                /* error of one computed entry of K, and of adding up */
    double *root;                     /* sqrt K_ii */
    double *KA;                       /* K alpha, without lambda then the scaled residual: n x outputs */
    double *scratch;                  /* n x columns_multiplied */
    double *both;                     /* as many: K [alpha |alpha|] */
    double *size;                     /* K |alpha| as computed: n x outputs, once filled */
    bool multiplied;                  /* size is filled */
    bool sized;                       /* and what it says is known */
    double relative, rest;            /* the error of K alpha in terms of it */
    const mc_extended_product *again; /* K alpha from long doubles; NULL: it is not known */
    mc_certify_column *columns;       /* outputs */
    double kappa;                     /* largest root */
    double inverse_root_g;
    double scale;  /* largest M_ii */
    double weight; /* their sum */
} ridge_check;

typedef mc_certify_column column;

/* kappa, the largest M_ii and 1 / sqrt(g), from the diagonal of K. */
static mercer_status measure_diagonal(mercer_ctx *ctx, ridge_check *c) {
    if (c->cached)
        memcpy(c->root, c->cached->diagonal, (size_t)c->p->n * sizeof *c->root);
    else
        MC_TRY(mc_gram_diagonal(ctx, c->gram, c->root));
    long double W = 0, reach = 0;
    for (int64_t i = 0; i < c->p->n; i++) {
        const double s = mc_problem_root(c->p, i);
        c->root[i] = sqrt(fmax(c->root[i], 0));
        c->kappa = fmax(c->kappa, c->root[i]);
        c->scale = fmax(c->scale, s * s * c->root[i] * c->root[i]);
        W += (long double)s * s;
        reach += (long double)s * s * c->root[i];
    }
    c->weight = (double)W;
    c->inverse_root_g = c->intercept ? (double)(sqrtl(reach * reach + (long double)c->lambda * W) / W) : 0;
    return MERCER_OK;
}

/* Sums over the rows that the bounds need. */
typedef struct alpha_sums {
    long double alpha, absolute, reach; /* sum alpha, sum |alpha|, sum sqrt(k_jj) |alpha_j| */
} alpha_sums;

static alpha_sums sum_column(const ridge_check *c, int64_t k) {
    alpha_sums t = {0};
    for (int64_t i = 0; i < c->p->n; i++) {
        const double a = c->alpha[i * c->p->outputs + k];
        t.alpha += a;
        t.absolute += fabs(a);
        t.reach += c->root[i] * fabs(a);
    }
    return t;
}

/* K alpha as well as it is known. */
static long double product_at(const ridge_check *c, int64_t at) {
    return c->again ? c->again->value[at] : c->KA[at];
}

/* S y - b s - A beta at row i: what the loss leaves, less what lambda makes of it. */
static double residual_at(const ridge_check *c, int64_t i, int64_t k, double *left) {
    const int64_t at = i * c->p->outputs + k;
    const double s = mc_problem_root(c->p, i);
    const long double rest = s * ((long double)c->p->Y[at] - c->b[k] - product_at(c, at));
    *left = (double)rest;
    return (double)(rest - (long double)c->lambda * c->alpha[at] / s);
}

/* What (K alpha)_i can be wrong by. */
static double product_error(const ridge_check *c, int64_t i, int64_t k, const alpha_sums *t) {
    const double mass = (double)t->absolute,
                 plain =
                     (1 + c->sum) * c->entry * mass + c->sum * c->root[i] * (double)t->reach + mc_flushed_share(c->sum);
    return c->sized ? fmin(plain, c->relative * fabs(c->size[i * c->p->outputs + k]) + c->rest * mass) : plain;
}

/* What y - b - (K alpha)_i can be wrong by. */
static double rest_error(const ridge_check *c, int64_t i, int64_t k, const alpha_sums *t) {
    const int64_t at = i * c->p->outputs + k;
    const double terms = fabs(c->p->Y[at]) + fabs(c->b[k]) + fabs(c->KA[at]);
    return c->again ? c->again->error[at] + 4 * (double)LDBL_EPSILON * terms
                    : product_error(c, i, k, t) + 2 * DBL_EPSILON * terms;
}

/* The bound on the rounding of r. */
static double rounding_column(const ridge_check *c, int64_t k, const alpha_sums *t) {
    const double u = DBL_EPSILON / 2;
    long double e2 = 0;
    for (int64_t i = 0; i < c->p->n; i++) {
        const int64_t at = i * c->p->outputs + k;
        const double s = mc_problem_root(c->p, i);
        const double e = s * rest_error(c, i, k, t) + 8 * u * c->lambda * fabs(c->alpha[at]) / s;
        e2 += (long double)e * e;
    }
    return slack * (double)sqrtl(e2);
}

/* |r|^2 and the parts of the objective. */
static void residual_column(const ridge_check *c, int64_t k, column *out) {
    const mc_problem *p = c->p;
    long double r2 = 0, y2 = 0, loss = 0, square = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t at = i * p->outputs + k;
        const double s = mc_problem_root(c->p, i), y = p->Y[at];
        double left;
        const double r = residual_at(c, i, k, &left);
        r2 += (long double)r * r;
        y2 += (long double)s * y * (s * y);
        loss += (long double)left * left;
        square += c->alpha[at] * product_at(c, at);
    }
    *out = (column){.residual = (double)sqrtl(r2), .target = (double)sqrtl(y2)};
    out->square_norm = fmax((double)square, 0);
    out->loss = (double)loss;
    out->objective = out->loss + c->lambda * out->square_norm;
}

/* What alpha' K alpha can be wrong by. */
static double square_error(const ridge_check *c, int64_t k, const alpha_sums *t) {
    long double error = 0;
    for (int64_t i = 0; i < c->p->n; i++) {
        const int64_t at = i * c->p->outputs + k;
        error += fabs(c->alpha[at])
                 * ((c->again ? c->again->error[at] : product_error(c, i, k, t)) + DBL_EPSILON * fabs(c->KA[at]));
    }
    return slack * (double)error;
}

/* The most that rounding can make of a prediction at a row like those of the fit. */
static double prediction_error(const ridge_check *c, int64_t k, const alpha_sums *t) {
    double worst = 0;
    for (int64_t i = 0; i < c->p->n; i++)
        worst = fmax(worst, product_error(c, i, k, t) + DBL_EPSILON * fabs(c->KA[i * c->p->outputs + k] + c->b[k]));
    return worst;
}

/* The bounds of the head comment from |r| and |q|. */
static void bound_column(const ridge_check *c, int64_t k, const alpha_sums *t, column *out) {
    const double h = c->inverse_root_g, R = out->residual + out->rounding;
    const double drift = (double)((long double)c->p->n * LDBL_EPSILON * t->absolute);
    const double q = c->intercept ? slack * (fabs((double)t->alpha) + drift) : 0;
    const double reach = R + sqrt(c->lambda) * h * q;
    out->gap = slack * reach * reach;
    out->slope = slack * (R / (2 * sqrt(c->lambda)) + q * h);
    out->constant = slack * (h * R / sqrt(c->lambda) + q * h * h);
    out->prediction = out->constant + c->kappa * out->slope + slack * prediction_error(c, k, t);
    if (c->lambda == 0 || !c->p->proved)
        out->prediction = out->slope = out->constant = INFINITY;
    if (c->lambda > 0 && !c->p->proved)
        out->gap = INFINITY;
}

/* lambda = 0, one output: |s' r| / |s|, and the rounding of the gradient: that of r through M, then that of the
 * product. */
static void prepare_gradient(const ridge_check *c, int64_t k, const double *scaled, column *out) {
    long double along = 0, length = 0, absolute = 0, reach = 0, trace = 0, e2 = 0;
    for (int64_t i = 0; i < c->p->n; i++) {
        const double s = mc_problem_root(c->p, i), v = scaled[i * c->p->outputs + k];
        along += v;
        length += (long double)s * s;
        absolute += fabs(v);
        reach += c->root[i] * fabs(v);
        trace += (long double)(s * c->root[i]) * (s * c->root[i]);
    }
    for (int64_t i = 0; i < c->p->n; i++)
        e2 += powl(mc_problem_root(c->p, i)
                       * ((1 + c->sum) * c->entry * absolute + c->sum * c->root[i] * reach + mc_flushed_share(c->sum)),
                   2);
    out->residual = c->intercept ? (double)(fabsl(along) / sqrtl(length)) : 0;
    if (c->scale > 0)
        out->rounding = slack * (double)((out->rounding * trace + sqrtl(e2)) / c->scale);
}

/* lambda = 0: the gradient M r in place of K alpha. */
static mercer_status bound_by_gradient(mercer_ctx *ctx, const ridge_check *c, column *columns) {
    const int64_t n = c->p->n, outputs = c->p->outputs;
    double *scaled = c->scratch, left;
    for (int64_t i = 0; i < n * outputs; i++)
        scaled[i] = mc_problem_root(c->p, i / outputs) * residual_at(c, i / outputs, i % outputs, &left);
    for (int64_t k = 0; k < outputs; k++)
        prepare_gradient(c, k, scaled, &columns[k]);
    MC_TRY(mc_gram_apply(ctx, c->gram, outputs, scaled, c->KA));
    for (int64_t k = 0; k < outputs; k++) {
        long double square = 0;
        for (int64_t i = 0; i < n; i++)
            square += powl((long double)mc_problem_root(c->p, i) * c->KA[i * outputs + k], 2);
        columns[k].residual = hypot(columns[k].residual, c->scale > 0 ? (double)sqrtl(square) / c->scale : 0);
    }
    return MERCER_OK;
}

/* Whether a product with |alpha| can make the bounds smaller. */
static bool is_rounding_all(const ridge_check *c, const column *columns) {
    double residual = 0, rounding = 0;
    for (int64_t k = 0; k < c->p->outputs; k++) {
        residual = hypot(residual, columns[k].residual);
        rounding = hypot(rounding, columns[k].rounding);
    }
    return rounding > residual && c->lambda > 0;
}

/* Columns of the first product: |alpha| beside alpha where a factorisation may have left rounding alone, and as long as
   making the entries of K is most of the work. */
static int64_t columns_multiplied(double lambda, int64_t outputs) {
    enum { FEW = 4 };
    return lambda > 0 && outputs <= FEW ? 2 * outputs : outputs;
}

/* K alpha and K |alpha| from one pass over K. */
static mercer_status multiply_both(mercer_ctx *ctx, ridge_check *c) {
    const int64_t t = c->p->outputs, cells = c->p->n * t;
    for (int64_t i = 0; i < cells; i++) {
        c->scratch[i / t * 2 * t + i % t] = c->alpha[i];
        c->scratch[i / t * 2 * t + t + i % t] = fabs(c->alpha[i]);
    }
    MC_TRY(mc_gram_apply(ctx, c->gram, 2 * t, c->scratch, c->both));
    for (int64_t i = 0; i < cells; i++) {
        c->KA[i] = c->both[i / t * 2 * t + i % t];
        c->size[i] = c->both[i / t * 2 * t + t + i % t];
    }
    c->multiplied = true;
    return MERCER_OK;
}

static mercer_status multiply_sizes(mercer_ctx *ctx, ridge_check *c, const mc_gram *gram) {
    for (int64_t i = 0; i < c->p->n * c->p->outputs; i++)
        c->scratch[i] = fabs(c->alpha[i]);
    return mc_gram_apply(ctx, gram, c->p->outputs, c->scratch, c->size);
}

/* What K |alpha| says of the error of K alpha: with T = sum_j K_ij |alpha_j| that is at most entry's two terms and
   `sum` of T, and T is known by the same terms of its own product. */
static mercer_status size_terms(mercer_ctx *ctx, ridge_check *c, const mc_gram *gram) {
    double relative, rest, known, doubt;
    mc_gram_entry_terms(gram, &relative, &rest);
    mc_gram_product_terms(gram, c->multiplied ? 2 * c->p->outputs : c->p->outputs, &known, &doubt);
    if (!(known > 0 && known < 0.5))
        return MERCER_OK;
    if (!c->multiplied)
        MC_TRY(multiply_sizes(ctx, c, gram));
    const double all = relative + c->sum + relative * c->sum, storing = c->entry - mc_gram_entry_error(gram);
    c->relative = slack * all * (1 + known);
    c->rest = slack * ((1 + c->sum) * (rest + storing) + all * doubt);
    c->sized = true;
    return MERCER_OK;
}

static mercer_status sharpen_rounding_bounds(mercer_ctx *ctx, ridge_check *c) {
    mc_gram *own = NULL;
    if (!c->gram)
        MC_TRY(mc_problem_gram_open(ctx, c->p, &own));
    const mercer_status status = size_terms(ctx, c, c->gram ? c->gram : own);
    if (own)
        mc_problem_gram_close(c->p, own);
    return status;
}

static void bound_columns(const ridge_check *c, column *columns) {
    for (int64_t k = 0; k < c->p->outputs; k++) {
        const alpha_sums t = sum_column(c, k);
        columns[k].rounding = rounding_column(c, k, &t);
        columns[k].square_error = square_error(c, k, &t);
        bound_column(c, k, &t, &columns[k]);
    }
}

static bool is_vague(const ridge_check *c, const column *columns) {
    bool vague = false;
    for (int64_t k = 0; k < c->p->outputs; k++)
        vague = vague || columns[k].prediction > 1e-6 * columns[k].target / sqrt(c->weight);
    return vague && c->p->proved;
}

int64_t mc_certify_columns_most(int64_t outputs) {
    return columns_multiplied(1, outputs);
}

static void measure_columns(const ridge_check *c, column *columns) {
    for (int64_t k = 0; k < c->p->outputs; k++)
        residual_column(c, k, &columns[k]);
    bound_columns(c, columns);
}

/* The columns again from long doubles, where these know the kernel. */
static mercer_status look_twice(mercer_ctx *ctx, ridge_check *c, column *columns) {
    mc_extended_product again;
    MC_TRY(mc_extended_product_open(ctx, c->p->kernel, c->p->x, c->p->outputs, c->alpha, &again));
    c->again = again.known ? &again : NULL;
    if (c->again)
        measure_columns(c, columns);
    c->again = NULL;
    mc_extended_product_close(&again);
    return MERCER_OK;
}

static mercer_status certify_columns(mercer_ctx *ctx, ridge_check *c, mc_residual_findings *out) {
    column *columns = c->columns;
    MC_TRY(measure_diagonal(ctx, c));
    if (c->cached)
        memcpy(c->KA, c->cached->KV, (size_t)(c->p->n * c->p->outputs) * sizeof *c->KA);
    else
        MC_TRY(columns_multiplied(c->lambda, c->p->outputs) > c->p->outputs
                   ? multiply_both(ctx, c)
                   : mc_gram_apply(ctx, c->gram, c->p->outputs, c->alpha, c->KA));
    measure_columns(c, columns);
    if (is_rounding_all(c, columns)) {
        MC_TRY(sharpen_rounding_bounds(ctx, c));
        bound_columns(c, columns);
    }
    if (is_rounding_all(c, columns) && is_vague(c, columns)
        && mc_extended_pays(ctx, c->p->kernel, c->p->x, c->p->outputs))
        MC_TRY(look_twice(ctx, c, columns));
    if (c->lambda == 0)
        MC_TRY(bound_by_gradient(ctx, c, columns));
    mc_certify_conclude(c->lambda > 0 ? "residual" : "gradient", c->p->outputs, columns, out);
    return MERCER_OK;
}

static void lay_out_check(mc_work *work, void *self) {
    ridge_check *c = self;
    const int64_t n = c->p->n, outputs = c->p->outputs, wide = columns_multiplied(1, outputs);
    c->root = mc_work_take(work, n, sizeof *c->root);
    c->KA = mc_work_take(work, n * outputs, sizeof *c->KA);
    c->scratch = mc_work_take(work, n * wide, sizeof *c->scratch);
    c->both = mc_work_take(work, n * wide, sizeof *c->both);
    c->size = mc_work_take(work, n * outputs, sizeof *c->size);
    c->columns = mc_work_take(work, outputs, sizeof *c->columns);
}

size_t mc_certify_bytes(int64_t n, int64_t outputs) {
    const mc_problem p = {.n = n, .outputs = outputs};
    return mc_slices_bytes(lay_out_check, &(ridge_check){.p = &p});
}

/* ---- The cached product ---- */

static bool has_product(const mc_cached_product *w, const mc_problem *p, const double *alpha) {
    return w && w->filled && w->n == p->n && w->outputs == p->outputs
           && memcmp(w->V, alpha, (size_t)(p->n * p->outputs) * sizeof *alpha) == 0;
}

/* ---- The whole ---- */

static mercer_status certify_with(mercer_ctx *ctx, ridge_check *c, mc_residual_findings *out) {
    mc_work work;
    MC_TRY(mc_work_lay(ctx, &work, lay_out_check, c));
    const mercer_status status = certify_columns(ctx, c, out);
    mc_work_close(&work);
    return status;
}

mercer_status mc_certify_with_product(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool intercept,
                                      const double *alpha, const double *b, const mc_cached_product *cached,
                                      mc_residual_findings *out) {
    ridge_check c = {.p = problem, .alpha = alpha, .b = b, .lambda = lambda, .intercept = intercept};
    if (lambda > 0 && has_product(cached, problem, alpha)) { /* without lambda a further product is needed */
        c.cached = cached;
        c.entry = cached->entry;
        c.sum = cached->sum;
        return certify_with(ctx, &c, out);
    }
    mc_gram *gram = NULL;
    MC_TRY(mc_problem_gram_open(ctx, problem, &gram));
    c.gram = gram;
    c.entry = mc_gram_entry_error(gram);
    c.sum = mc_gram_sum_error(gram, columns_multiplied(lambda, problem->outputs));
    const mercer_status status = certify_with(ctx, &c, out);
    mc_problem_gram_close(problem, gram);
    return status;
}

mercer_status mc_certify_squared_loss(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool intercept,
                                      const double *alpha, const double *b, mc_residual_findings *out) {
    return mc_certify_with_product(ctx, problem, lambda, intercept, alpha, b, NULL, out);
}

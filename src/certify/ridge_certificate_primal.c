/* ridge_certificate_primal.c: the certificate of ridge regression in explicit features: the normal equations, from the
   rows, in double, without K.

   One output. Z: the rows s_i phi(x_i), s_i = sqrt w_i; v the weights, rho = S y - b s - Z v. The objective is J(v, b)
   = |rho|^2 + lambda |v|^2 and half its gradient

       g = lambda v - Z' rho,     q = s' rho  (with an intercept only).

   J is quadratic. The best b for this v takes q^2 / W off it, W = s's, and moves b by q / W; what is left of the
   gradient in v is g' = g + m q, m = Z's / W being the mean of phi, |m| <= kappa = max |phi(x_i)|. The rest is strongly
   convex with modulus lambda:

       J(v, b) - J* <= q^2 / W + |g'|^2 / lambda,     |v - v*| <= |g'| / lambda,
       |f(x) + b - f*(x) - b*| <= |phi(x) - m| |v - v*| + |q| / W <= (sqrt(k(x, x)) + kappa) |g'| / lambda + |q| / W

   (sqrt(k(x, x)) |g| / lambda without) for every x; where lambda is so small that this says nothing, none is claimed.
   Where that is more than 1e-7 of the target and there are few features, the smallest eigenvalue mu of their own
   Gram matrix (feature_curvature.c) is added to lambda here. With an intercept the features that are the same
   everywhere are left out, of g' and of that matrix: less their mean they are 0, in every row and at every x.
   lambda = 0: J* >= 0 is all that is known, the gap is J, and no bound holds for predictions. residual is the gradient
   in the unit of y: |g| / max |z_i|, and |q| / |s|.

   Rounding. <v, phi> is right to mc_weights_error of |v| |phi|, a feature to that without a sum;
   the sums over the rows to gamma_n of the sum of |z_i| |rho_i|. */
#include "certify/ridge_certificate.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "certify/feature_curvature.h"
#include "data/table/data.h"
#include "linalg/dense.h"
#include "predict/feature_weights.h"
#include "problem/feature_panels.h"

enum { LANES = 2, TILE = 256, ROWS = 64 };
static const double MEANINGLESS = 1e6; /* a bound on |v - v*| that many times |v| says nothing */

typedef struct residual_sums {
    /* |rho|^2, |S y|^2, s'rho, s'|rho|, the rounding of g and of s'rho */
    long double loss, target, along, absolute, wrong, moved;
} residual_sums;

typedef struct primal_check {
    const mc_problem *p;
    mc_panels panels;
    double lambda;
    bool intercept;
    const double *V, *b;         /* outputs x D, outputs */
    double *g;                   /* D x outputs */
    double *rho, *size;          /* panel x outputs, panel: |z_i| */
    double *length;              /* outputs: |v| */
    bool *skip;                  /* D: features that an intercept makes idle */
    double curvature;            /* beside lambda, of the others */
    residual_sums *sums;         /* outputs */
    mc_certify_column *columns;  /* outputs */
    double kappa, scale, weight; /* largest |phi_i|, |z_i|; W */
} primal_check;

static double root_at(const primal_check *c, int64_t i) {
    return c->p->root ? c->p->root[c->panels.begin + i] : 1;
}

/* rho and |z| of some rows. */
static void residual_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const primal_check *c = arg;
    const int64_t t = c->p->outputs, D = c->panels.D;
    const double *Z = c->panels.Z + begin * c->panels.D, *Y = c->p->Y + c->panels.begin * t;
    for (int64_t i = begin; i < end; i++) {
        double square = 0;
        for (int64_t j = 0; j < D; j++)
            square += Z[(i - begin) * D + j] * Z[(i - begin) * D + j];
        c->size[i] = sqrt(square);
        for (int64_t k = 0; k < t; k++)
            c->rho[i * t + k] = root_at(c, i) * (Y[i * t + k] - c->b[k]);
    }
    mc_gemm(-1, mc_row_major(Z, end - begin, D, D), mc_column_major(c->V, D, t, D), 1,
            mc_row_major(c->rho + begin * t, end - begin, t, t));
}

/* g <- g - Z' rho for a range of features. */
static void add_gradient(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const primal_check *c = arg;
    const int64_t t = c->p->outputs, rows = c->panels.rows, m = end - begin;
    mc_gemm(-1, mc_column_major(c->panels.Z + begin, m, rows, c->panels.D), mc_row_major(c->rho, rows, t, t), 1,
            mc_row_major(c->g + begin * t, m, t, t));
}

static void add_row(const primal_check *c, int64_t i, int64_t k, residual_sums *out) {
    const int64_t t = c->p->outputs;
    const double u = DBL_EPSILON / 2, s = root_at(c, i), y = c->p->Y[(c->panels.begin + i) * t + k],
                 rho = c->rho[i * t + k];
    const double feature = mc_weights_error(c->p->x->d, 0), value = c->size[i] * c->length[k];
    const double e =
        mc_weights_error(c->p->x->d, c->panels.D) * value + 4 * u * (s * (fabs(y) + fabs(c->b[k])) + value);
    out->loss += (long double)rho * rho;
    out->target += (long double)(s * y) * (s * y);
    out->along += (long double)s * rho;
    out->absolute += (long double)s * fabs(rho);
    out->wrong += (long double)c->size[i] * (e + (mc_rounding_gamma(c->p->n + 2) + feature) * fabs(rho));
    out->moved += (long double)s * e;
}

static void add_sums(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)begin, (void)end, (void)thread;
    primal_check *c = arg;
    for (int64_t i = 0; i < c->panels.rows; i++) {
        const double s = root_at(c, i);
        c->weight += s * s;
        c->scale = fmax(c->scale, c->size[i]);
        c->kappa = fmax(c->kappa, c->size[i] / s);
        for (int64_t k = 0; k < c->p->outputs; k++)
            add_row(c, i, k, &c->sums[k]);
    }
}

/* live: of the features that are not idle. */
static double gradient_length(const primal_check *c, int64_t k, bool live) {
    long double square = 0;
    for (int64_t j = 0; j < c->panels.D; j++) {
        if (live && c->skip[j])
            continue;
        const double g = c->g[j * c->p->outputs + k] + c->lambda * c->V[k * c->panels.D + j];
        square += (long double)g * g;
    }
    return (double)sqrtl(square);
}

static mc_certify_column column_of(const primal_check *c, int64_t k) {
    const residual_sums *t = &c->sums[k];
    const double slack = MC_CERTIFY_SLACK, length = gradient_length(c, k, false), v = c->length[k], W = c->weight;
    const double wrong = slack * ((double)t->wrong + DBL_EPSILON * c->lambda * v);
    const double drift = (double)(t->moved + (long double)c->p->n * LDBL_EPSILON * t->absolute);
    const double q = c->intercept ? fabs((double)t->along) : 0, far = c->intercept ? q + slack * drift : 0;
    const double moved = wrong + (c->intercept ? slack * c->kappa * far : 0), g = length + moved;
    const double live = gradient_length(c, k, true) + moved, bend = c->lambda + c->curvature;
    const double scale = c->scale > 0 ? c->scale : 1;
    mc_certify_column out = {.target = (double)sqrtl(t->target), .square_norm = v * v};
    out.residual = hypot(length / scale, q / sqrt(W));
    out.rounding = hypot(wrong / scale, (far - q) / sqrt(W));
    out.loss = (double)t->loss;
    out.objective = out.loss + c->lambda * v * v;
    out.gap = c->lambda > 0 ? slack * (far * far / W + g * g / c->lambda) : out.objective;
    const double step = c->lambda > 0 && live <= MEANINGLESS * bend * v ? slack * live / bend : INFINITY;
    out.slope = step;
    out.constant = isinf(step) ? INFINITY : (c->intercept ? c->kappa * step : 0) + slack * far / W;
    out.prediction = isinf(step)
                         ? INFINITY
                         : out.constant + c->kappa * (step + slack * mc_weights_error(c->p->x->d, c->panels.D) * v)
                               + DBL_EPSILON * fabs(c->b[k]);
    return out;
}

/* Whether what is claimed of predictions is more than 1e-7 of the target. */
static bool is_vague(const primal_check *c, const mc_certify_column *columns) {
    bool vague = false;
    for (int64_t k = 0; k < c->p->outputs; k++)
        vague = vague || columns[k].prediction > 1e-7 * columns[k].target / sqrt(c->weight);
    return vague && c->lambda > 0 && mc_curvature_pays(c->p->n, c->panels.D);
}

static void conclude_columns(const primal_check *c, mc_certify_column *columns) {
    for (int64_t k = 0; k < c->p->outputs; k++)
        columns[k] = column_of(c, k);
}

static mercer_status certify_normal_equations(mercer_ctx *ctx, primal_check *c, mc_certify_column *columns,
                                              mc_residual_findings *out) {
    const mc_pass passes[] = {{residual_rows, 0, ROWS}, {add_gradient, c->panels.D, TILE}, {add_sums, 1, 1}};
    for (int64_t k = 0; k < c->p->outputs; k++) {
        long double square = 0;
        for (int64_t j = 0; j < c->panels.D; j++)
            square += (long double)c->V[k * c->panels.D + j] * c->V[k * c->panels.D + j];
        c->length[k] = (double)sqrtl(square);
    }
    MC_TRY(mc_panels_run(ctx, &c->panels, passes, 3, c));
    if (c->intercept)
        MC_TRY(mc_constant_features(ctx, &c->panels, c->skip));
    conclude_columns(c, columns);
    if (is_vague(c, columns)) {
        MC_TRY(mc_feature_curvature(ctx, &c->panels, c->intercept ? c->skip : NULL, &c->curvature));
        conclude_columns(c, columns);
    }
    mc_certify_conclude("gradient", c->p->outputs, columns, out);
    return MERCER_OK;
}

static void lay_out_workspace(mc_work *work, void *self) {
    primal_check *c = self;
    const int64_t D = c->panels.D, outputs = c->p->outputs, height = c->panels.height;
    c->g = mc_work_take(work, D * outputs, 8);
    c->rho = mc_work_take(work, height * outputs, 8);
    c->size = mc_work_take(work, height, 8);
    c->length = mc_work_take(work, outputs, 8);
    c->skip = mc_work_take(work, D, sizeof *c->skip);
    c->sums = mc_work_take(work, outputs, sizeof *c->sums);
    c->columns = mc_work_take(work, outputs, sizeof *c->columns);
}

size_t mc_certify_weights_bytes(int64_t d, int64_t D, int64_t outputs, int threads, int64_t scratch) {
    primal_check c = {.p = &(mc_problem){.outputs = outputs}, .panels = {.D = D, .height = LANES * MC_LANE}};
    return mc_slices_bytes(lay_out_workspace, &c) + mc_curvature_bytes(D)
           + mc_panels_bytes(d, D, LANES, threads, scratch);
}

mercer_status mc_certify_weights(mercer_ctx *ctx, const mc_problem *problem, double lambda, bool intercept,
                                 const double *weights, const double *b, mc_residual_findings *out) {
    primal_check c = {.p = problem, .lambda = lambda, .intercept = intercept, .V = weights, .b = b};
    mc_work work = {0};
    MC_TRY(mc_panels_open(ctx, problem, LANES, &c.panels));
    mercer_status status = mc_work_lay(ctx, &work, lay_out_workspace, &c);
    MC_THEN(status, certify_normal_equations(ctx, &c, c.columns, out));
    mc_work_close(&work);
    mc_panels_close(&c.panels);
    return status;
}

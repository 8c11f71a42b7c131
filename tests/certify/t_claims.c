/* Every number of every certificate of squared and other losses, on random small problems at the extremes: tiny and
   huge lambda, columns and targets, equal rows, constant columns, one or two rows, weights of 0, rows far out. What a
   machine claims is held against K in long double, made by formulas of the test's own:

       ridge, gp       the optimum by elimination in long double: objective, residual, gap, predictions, evidence
       losses          primal and dual at the model's coefficients, made feasible exactly: their difference proves or
                       disproves the claim; decisions against those of a tight fit

   MERCER_CLAIMS sets how many problems are drawn. t_claims_svm.c has the other machines. */
#include "claims_of_test.h"

/* ---- Ridge: the optimum ---- */

/* A x = r by elimination with full pivots; rank deficits leave zeros. */
static void solve(int64_t m, truth *A, truth *r) {
    int64_t order[MOST + 1];
    for (int64_t k = 0; k < m; k++)
        order[k] = k;
    for (int64_t k = 0; k < m; k++) {
        int64_t row = k, column = k;
        for (int64_t i = k; i < m; i++)
            for (int64_t j = k; j < m; j++)
                if (fabsl(A[i * m + j]) > fabsl(A[row * m + column]))
                    row = i, column = j;
        for (int64_t j = 0; j < m; j++) {
            const truth t = A[k * m + j];
            A[k * m + j] = A[row * m + j], A[row * m + j] = t;
        }
        for (int64_t i = 0; i < m; i++) {
            const truth t = A[i * m + k];
            A[i * m + k] = A[i * m + column], A[i * m + column] = t;
        }
        const truth t = r[k];
        r[k] = r[row], r[row] = t;
        const int64_t o = order[k];
        order[k] = order[column], order[column] = o;
        for (int64_t i = k + 1; i < m && A[k * m + k] != 0; i++) {
            const truth by = A[i * m + k] / A[k * m + k];
            for (int64_t j = k; j < m; j++)
                A[i * m + j] -= by * A[k * m + j];
            r[i] -= by * r[k];
        }
    }
    truth x[MOST + 1];
    for (int64_t k = m - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < m; j++)
            r[k] -= A[k * m + j] * r[j];
        r[k] = A[k * m + k] != 0 ? r[k] / A[k * m + k] : 0;
    }
    for (int64_t k = 0; k < m; k++)
        x[order[k]] = r[k];
    memcpy(r, x, (size_t)m * sizeof *x);
}

/* (K + lambda / w) alpha + b = y on rows of weight, sum alpha = 0; rows of no weight have alpha = 0. fixed: a part
   of b that is not asked for, the mean that gp takes off. */
static void optimum(const problem *p, truth lambda, bool intercept, truth fixed, truth *alpha, truth *b) {
    const int64_t m = p->n + 1;
    truth A[(MOST + 1) * (MOST + 1)] = {0}, r[MOST + 1] = {0};
    for (int64_t i = 0; i < p->n; i++) {
        for (int64_t j = 0; j < p->n && weight_of(p, i) > 0; j++)
            A[i * m + j] = weight_of(p, j) > 0 ? p->K[i * (p->n + NEW) + j] : 0;
        A[i * m + i] = weight_of(p, i) > 0 ? A[i * m + i] + lambda / weight_of(p, i) : 1;
        A[i * m + p->n] = A[p->n * m + i] = weight_of(p, i) > 0 && intercept ? 1 : 0;
        r[i] = weight_of(p, i) > 0 ? p->y[i] - fixed : 0;
    }
    A[p->n * m + p->n] = intercept ? 0 : 1;
    solve(m, A, r);
    memcpy(alpha, r, (size_t)p->n * sizeof *r);
    *b = r[p->n] + fixed;
}

static truth ridge_objective(const problem *p, truth lambda, const truth *alpha, truth b) {
    truth sum = lambda * square_norm(p, alpha);
    for (int64_t i = 0; i < p->n; i++)
        sum += weight_of(p, i) * powl(p->y[i] - b - value_at(p, alpha, i), 2);
    return sum;
}

/* How far the test's own optimum is off: by its equations. */
static truth doubt(const problem *p, truth lambda, const truth *alpha, truth b) {
    truth most = 0, size = 0;
    for (int64_t i = 0; i < p->n; i++) {
        if (weight_of(p, i) == 0)
            continue;
        most = fmaxl(most, fabsl(p->y[i] - b - value_at(p, alpha, i) - lambda * alpha[i] / weight_of(p, i))
                               * sqrtl(weight_of(p, i)));
        size = fmaxl(size, p->K[i * (p->n + NEW) + i]);
    }
    return most * sqrtl((truth)p->n) * (1 + sqrtl(size / lambda));
}

/* |r| and the norm, from the coefficients. */
static void check_residual(const problem *p, const mercer_model *model, const truth *alpha) {
    const mercer_report *r = mercer_model_report(model);
    const truth b = mercer_model_intercept(model, 0);
    truth square = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const truth w = weight_of(p, i);
        square += w > 0 ? w * powl(p->y[i] - b - value_at(p, alpha, i) - r->lambda * alpha[i] / w, 2) : 0;
    }
    claim(p, sqrtl(square) <= r->certificate.residual * (1 + 1e-9L), "the residual", sqrtl(square),
          r->certificate.residual);
}

static truth mass_of(const problem *p, const truth *alpha) {
    truth sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += fabsl(alpha[i]);
    return sum;
}

static truth heaviest(const problem *p) {
    truth most = 0;
    for (int64_t i = 0; i < p->n; i++)
        most = fmaxl(most, weight_of(p, i));
    return most;
}

static void check_ridge(mercer_ctx *ctx, const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const truth lambda = r->lambda;
    truth best[MOST], alpha[MOST], b = 0, top = 0;
    const bool intercept = p->intercept && strcmp(p->machine, "ridge") == 0;
    optimum(p, lambda, intercept, strcmp(p->machine, "gp") ? 0 : (truth)mercer_model_intercept(model, 0), best, &b);
    truth size = 0;
    for (int64_t i = 0; i < p->n; i++)
        size += weight_of(p, i) * p->y[i] * p->y[i];
    const truth off = doubt(p, lambda, best, b), least = ridge_objective(p, lambda, best, b);
    const bool rows = mercer_model_centres(model) > 0;
    coefficients(p, model, alpha);
    const truth here = rows ? ridge_objective(p, lambda, alpha, mercer_model_intercept(model, 0)) : (truth)r->objective;
    for (int64_t i = 0; i < p->n; i++)
        top = weight_of(p, i) > 0 ? fmaxl(top, p->K[i * (p->n + NEW) + i]) : top;
    /* of f here */
    const truth blur =
        4 * (truth)p->n * LDBL_EPSILON * top * (mass_of(p, alpha) + mass_of(p, best)) * sqrtl(heaviest(p));
    const truth noise = off * off + blur * (2 * sqrtl(here) + blur) + (rows ? 1e-17L : 1e-13L) * size;
    const truth slip = c->rounding * (2 * sqrtl(here) + c->rounding);
    claim(p, here - least <= c->objective_gap * (1 + 1e-12) + noise, "the gap", here - least, c->objective_gap);
    claim(p, fabsl(here - r->objective) <= 2 * slip + 1e-12L * size, "the objective", here, r->objective);
    double out[MOST + NEW], bound[MOST + NEW];
    decide(ctx, p, model, out, bound);
    check_bounds(p, model, bound);
    for (int64_t i = 0; i < p->n + NEW; i++) {
        const truth exact = value_at(p, best, i) + b, wrong = fabsl(out[i] - exact);
        const truth self = p->K[i * (p->n + NEW) + i], doubtful = off * fmaxl(1, sqrtl(self / fmaxl(top, LDBL_MIN)));
        claim(p, wrong <= bound[i] * (1 + 1e-9L) + doubtful, "a prediction's error at its row", wrong, bound[i]);
        if (self <= top)
            claim(p, wrong <= c->prediction_error_bound * (1 + 1e-9L) + off, "a prediction's error", wrong,
                  c->prediction_error_bound);
    }
    if (rows && strcmp(c->kind, "residual") == 0)
        check_residual(p, model, alpha);
}

/* ---- The evidence ---- */

/* log p(y) = -y'A^-1 y / 2 - log det A / 2 - n log(2 pi) / 2, by a Cholesky factor; NaN where A is too near singular.
   */
static truth evidence_of(const problem *p, truth noise, truth mean, truth *condition) {
    truth L[MOST * MOST] = {0}, z[MOST], sum = 0, most = 0, least = INFINITY;
    int64_t rows[MOST], m = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (weight_of(p, i) > 0)
            rows[m++] = i;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j <= i; j++) {
            truth v = p->K[rows[i] * (p->n + NEW) + rows[j]] + (i == j ? noise / weight_of(p, rows[i]) : 0);
            for (int64_t k = 0; k < j; k++)
                v -= L[i * MOST + k] * L[j * MOST + k];
            L[i * MOST + j] = i == j ? sqrtl(v) : v / L[j * MOST + j];
        }
        z[i] = p->y[rows[i]] - mean;
        for (int64_t k = 0; k < i; k++)
            z[i] -= L[i * MOST + k] * z[k];
        z[i] /= L[i * MOST + i];
        sum -= z[i] * z[i] / 2 + logl(L[i * MOST + i]) + logl(8 * atanl(1)) / 2;
        most = fmaxl(most, p->K[rows[i] * (p->n + NEW) + rows[i]] + noise / weight_of(p, rows[i]));
        least = fminl(least, noise / weight_of(p, rows[i]));
    }
    *condition = (truth)m * most / least;
    return sum;
}

static void check_evidence(const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    truth condition;
    const truth exact = evidence_of(p, r->lambda, mercer_model_intercept(model, 0), &condition),
                room = 64 * (truth)p->n * DBL_EPSILON * condition;
    if (room < 1e-3L)
        claim(p, fabsl(exact - r->log_evidence) <= room * (fabsl(exact) + (truth)p->n), "the evidence", exact,
              r->log_evidence);
}

/* ---- Gaps ---- */

typedef struct sides {
    truth primal, dual, rounding;
} sides;

static truth log1pexp(truth z) {
    return z > 0 ? z + log1pl(expl(-z)) : log1pl(expl(z));
}

static truth entropy(truth q) {
    return q > 0 ? q * logl(q) : 0;
}

/* Loss of row i and its conjugate at v, in the box of the loss. */
static truth loss_at(const problem *p, int64_t i, truth y, truth F) {
    const truth delta = p->parameter, r = fabsl(F - y);
    (void)i;
    if (!strcmp(p->machine, "logistic"))
        return log1pexp(-y * F);
    if (!strcmp(p->machine, "squared-hinge"))
        return powl(fmaxl(0, 1 - y * F), 2) / 2;
    if (!strcmp(p->machine, "huber"))
        return r <= delta ? r * r / 2 : delta * (r - delta / 2);
    if (!strcmp(p->machine, "quantile"))
        return fmaxl(delta * (y - F), (delta - 1) * (y - F));
    return r;
}

static truth conjugate_at(const problem *p, truth y, truth v) {
    if (!strcmp(p->machine, "logistic"))
        return entropy(-y * v) + (-y * v < 1 ? (1 + y * v) * log1pl(y * v) : 0);
    if (!strcmp(p->machine, "squared-hinge") || !strcmp(p->machine, "huber"))
        return v * v / 2 + y * v;
    return y * v;
}

static void box_of(const problem *p, truth y, truth *low, truth *high) {
    const truth t = p->parameter, sided = strcmp(p->machine, "logistic") ? INFINITY : 1;
    *low = y > 0 ? -sided : 0, *high = y > 0 ? 0 : sided;
    if (!strcmp(p->machine, "huber"))
        *low = -t, *high = t;
    if (!strcmp(p->machine, "quantile"))
        *low = -t, *high = 1 - t;
    if (!strcmp(p->machine, "absolute"))
        *low = -1, *high = 1;
}

static void check_loss(const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const bool balanced = p->intercept || !strcmp(p->machine, "quantile") || !strcmp(p->machine, "absolute");
    truth alpha[MOST], a[MOST], low[MOST] = {0}, high[MOST] = {0}, primal = 0, dual = 0;
    const truth b = mercer_model_intercept(model, 0), lambda = r->lambda;
    coefficients(p, model, alpha);
    for (int64_t i = 0; i < p->n; i++) {
        truth lo, hi;
        box_of(p, target_of(p, i), &lo, &hi);
        low[i] = weight_of(p, i) > 0 ? -hi * weight_of(p, i) / lambda : 0;
        high[i] = weight_of(p, i) > 0 ? -lo * weight_of(p, i) / lambda : 0;
        primal += weight_of(p, i) > 0 ? weight_of(p, i) * loss_at(p, i, target_of(p, i), value_at(p, alpha, i) + b) : 0;
    }
    memcpy(a, alpha, sizeof a);
    make_feasible(p->n, low, high, balanced, 0, a);
    primal += lambda / 2 * square_norm(p, alpha);
    dual = -lambda / 2 * square_norm(p, a);
    for (int64_t i = 0; i < p->n; i++)
        dual -= weight_of(p, i) > 0
                    ? weight_of(p, i) * conjugate_at(p, target_of(p, i), -lambda * a[i] / weight_of(p, i))
                    : 0;
    check_sides(p, r, primal, square_norm(p, alpha));
    claim(p, isfinite(c->gap), "the gap", primal - dual, c->gap);
    claim(p, primal - dual <= c->gap * (1 + 1e-9L) + 1e-18L * fabsl(primal), "the gap", primal - dual, c->gap);
    claim(p, c->gap_relative >= 0 && (c->gap_relative <= 1 || c->gap > 1e-9 * fabs(c->primal)), "gap_relative",
          c->gap_relative, c->gap);
}

/* ---- Everything ---- */

static void check(mercer_ctx *ctx, problem *p) {
    mercer_model *model = NULL;
    const mercer_status status = fit(ctx, p, p->tolerance, &model);
    if (status != MERCER_OK) {
        claim(p, status == MERCER_DATA || status == MERCER_NUMERIC || status == MERCER_INVALID, "the status", status,
              0);
        if (getenv("MERCER_CLAIMS_SAY"))
            print_message("# %s: %s\n", p->words, mercer_message(ctx));
        return;
    }
    const mercer_report *r = mercer_model_report(model);
    if (!strcmp(p->machine, "ridge") || !strcmp(p->machine, "gp")) {
        check_ridge(ctx, p, model);
    } else {
        check_loss(p, model);
        check_against_a_tight_fit(ctx, p, model);
    }
    if (!strcmp(p->machine, "gp"))
        check_evidence(p, model);
    claim(p, isfinite(r->objective) && isfinite(r->norm), "objective or norm", r->objective, r->norm);
    mercer_model_free(model);
}

static void test_claims_of_certificates_hold_at_the_extremes(void **state) {
    (void)state;
    static const char *const machines[] = {"ridge", "logistic", "squared-hinge", "huber", "quantile", "absolute", "gp"};
    check_claims(machines, (int)(sizeof machines / sizeof *machines), 1400, check);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims_of_certificates_hold_at_the_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Every number of the certificates of support vector machines and of principal components, on the problems of
   claims_of_test.h:

       svc, svr, nu-svc, nu-svr, one-class    primal and dual in long double at the model's coefficients, made feasible
                                              exactly; decisions at all rows against those of a tight fit
       pca                                    eigenvalues by Jacobi rotations in long double

   MERCER_CLAIMS sets how many problems are drawn. */
#include "claims_of_test.h"

static bool is_machine(const problem *p, const char *name) {
    return strcmp(p->machine, name) == 0;
}

static bool counts_classes(const problem *p) {
    return is_machine(p, "svc") || is_machine(p, "nu-svc");
}

/* ---- Primal and dual ---- */

static truth loss_at(const problem *p, int64_t i, truth epsilon, truth F) {
    if (counts_classes(p))
        return fmaxl(0, 1 - target_of(p, i) * F);
    return is_machine(p, "one-class") ? fmaxl(0, -F) : fmaxl(0, fabsl(p->y[i] - F) - epsilon);
}

static truth gain_of(const problem *p, int64_t i, truth epsilon, truth c) {
    if (counts_classes(p))
        return fabsl(c);
    return is_machine(p, "one-class") ? 0 : p->y[i] * c - epsilon * fabsl(c);
}

/* The coefficients a row may have. */
static void box_of(const problem *p, int64_t i, truth C, truth *low, truth *high) {
    const truth most = C * weight_of(p, i);
    const bool one = is_machine(p, "one-class"), two = !counts_classes(p) && !one;
    *low = two || (counts_classes(p) && target_of(p, i) < 0) ? -most : 0;
    *high = two || one || (counts_classes(p) && target_of(p, i) > 0) ? most : 0;
}

static void check_gap(const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    const mercer_certificate *c = &r->certificate;
    const mercer_svm_box box = mercer_model_box(model, 0);
    const bool one = is_machine(p, "one-class");
    truth alpha[MOST], a[MOST], low[MOST], high[MOST], weight = 0, primal = 0, dual = 0;
    coefficients(p, model, alpha);
    for (int64_t i = 0; i < p->n; i++) {
        box_of(p, i, box.C, &low[i], &high[i]);
        weight += box.C * weight_of(p, i);
        primal += box.C * weight_of(p, i)
                  * loss_at(p, i, box.epsilon, value_at(p, alpha, i) + mercer_model_intercept(model, 0));
    }
    const truth total = one ? p->parameter * weight : 0;
    memcpy(a, alpha, sizeof a);
    make_feasible(p->n, low, high, true, total, a);
    primal += square_norm(p, alpha) / 2 + (one ? mercer_model_intercept(model, 0) * total : 0);
    for (int64_t i = 0; i < p->n; i++)
        dual += gain_of(p, i, box.epsilon, a[i]);
    dual -= square_norm(p, a) / 2;
    check_sides(p, r, primal, square_norm(p, alpha));
    claim(p, primal - dual <= c->gap * (1 + 1e-9L) + 1e-18L * (fabsl(primal) + fabsl(dual)), "the gap", primal - dual,
          c->gap);
    claim(p, fabsl(square_norm(p, alpha) - powl(r->norm, 2)) <= 2 * c->rounding + 1e-13L * square_norm(p, alpha),
          "the square of the norm", square_norm(p, alpha), powl(r->norm, 2));
    claim(p, c->distance >= 0 || (isnan(c->distance) && is_machine(p, "nu-svc")), "the distance", 0, c->distance);
}

/* ---- Principal components ---- */

/* P S K S P over the rows of weight. */
static int64_t centred(const problem *p, truth *M) {
    truth mean[MOST] = {0}, whole = 0, W = 0, root[MOST];
    int64_t rows[MOST], m = 0;
    for (int64_t i = 0; i < p->n; i++)
        if (weight_of(p, i) > 0)
            rows[m++] = i;
    for (int64_t i = 0; i < m; i++) {
        root[i] = sqrtl(weight_of(p, rows[i]));
        W += root[i] * root[i];
        for (int64_t j = 0; j < m; j++)
            mean[i] += weight_of(p, rows[j]) * p->K[rows[i] * (p->n + NEW) + rows[j]];
        whole += root[i] * root[i] * mean[i];
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++)
            M[i * MOST + j] = root[i] * root[j]
                              * (p->K[rows[i] * (p->n + NEW) + rows[j]] - mean[i] / W - mean[j] / W + whole / W / W);
    return m;
}

static void rotate(int64_t m, truth *M, int64_t i, int64_t j) {
    if (M[i * MOST + j] == 0)
        return;
    const truth t = (M[j * MOST + j] - M[i * MOST + i]) / (2 * M[i * MOST + j]),
                tangent = (t >= 0 ? 1 : -1) / (fabsl(t) + sqrtl(t * t + 1)), cosine = 1 / sqrtl(tangent * tangent + 1),
                sine = tangent * cosine;
    for (int64_t k = 0; k < m; k++) {
        const truth a = M[k * MOST + i], b = M[k * MOST + j];
        M[k * MOST + i] = cosine * a - sine * b;
        M[k * MOST + j] = sine * a + cosine * b;
    }
    for (int64_t k = 0; k < m; k++) {
        const truth a = M[i * MOST + k], b = M[j * MOST + k];
        M[i * MOST + k] = cosine * a - sine * b;
        M[j * MOST + k] = sine * a + cosine * b;
    }
}

static void check_components(const problem *p, const mercer_model *model) {
    const mercer_report *r = mercer_model_report(model);
    truth M[MOST * MOST], trace = 0, top = 0;
    const int64_t m = centred(p, M);
    for (int sweep = 0; sweep < 40; sweep++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = i + 1; j < m; j++)
                rotate(m, M, i, j);
    for (int64_t i = 0; i < m; i++) {
        trace += M[i * MOST + i];
        top = fmaxl(top, M[i * MOST + i]);
    }
    for (int64_t k = 0; k < mercer_model_outputs(model); k++) {
        const mercer_component one = mercer_model_component(model, k);
        truth near = INFINITY;
        for (int64_t i = 0; i < m; i++)
            near = fminl(near, fabsl(M[i * MOST + i] - one.eigenvalue));
        claim(p, near <= one.bound * (1 + 1e-9L) + 1e-17L * top, "the distance to an eigenvalue", near, one.bound);
        claim(p, one.bound <= r->certificate.residual, "the largest bound", one.bound, r->certificate.residual);
    }
    claim(p, fabsl(trace - r->variance) <= (truth)m * r->certificate.residual + 1e-12L * trace, "the variance", trace,
          r->variance);
}

/* ---- Everything ---- */

static void check(mercer_ctx *ctx, problem *p) {
    mercer_model *model = NULL;
    const mercer_status status = fit(ctx, p, p->tolerance, &model);
    if (status != MERCER_OK) {
        claim(p, status == MERCER_DATA || status == MERCER_NUMERIC || status == MERCER_INVALID, "the status", status,
              0);
        return;
    }
    if (is_machine(p, "pca")) {
        check_components(p, model);
    } else {
        check_gap(p, model);
        check_against_a_tight_fit(ctx, p, model);
    }
    mercer_model_free(model);
}

static void test_claims_of_margins_and_components_hold_at_the_extremes(void **state) {
    (void)state;
    static const char *const machines[] = {"svc", "svr", "nu-svc", "nu-svr", "one-class", "pca"};
    check_claims(machines, (int)(sizeof machines / sizeof *machines), 1200, check);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims_of_margins_and_components_hold_at_the_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

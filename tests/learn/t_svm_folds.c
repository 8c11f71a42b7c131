/* Many splits and values of C over one K against quadratic programs of the rows learned from, written out here with
   values of the reference evaluator and solved one by one. */
#include "svm_of_test.h"
#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "learn/svm/svm_folds.h"
#include "predict/fitted.h"
#include "qp/smo.h"

enum { SPLITS = 3, COSTS = 3 };
static const double costs[COSTS] = {0.1, 1, 20};
static const double TIGHT = 1e-9;

typedef struct setting {
    mc_svm_kind kind;
    const mercer_data *data;
    mercer_kernel *kernel;
    mercer_svm set;
    const table *t;
} setting;

static double value(const setting *s, int64_t i, int64_t j) {
    return mc_eval_kernel(s->kernel->root, s->t->x + i * D, s->t->x + j * D, D);
}

static double weight(const setting *s, int64_t i) {
    return s->t->weighted ? s->t->w[i] : 1;
}

/* ---- One quadratic program ---- */

/* Of rows id[0 .. n): y = +1 or -1 of a pair of classes, or the number of a regression. */
typedef struct program {
    int64_t n;
    int64_t id[MOST];
    double y[MOST], beta[MOST], intercept;
} program;

static void write_out(const setting *s, const program *p, double C, bool number, double *K, double *q, double *low,
                      double *high, int64_t *row) {
    for (int64_t t = 0; t < (number ? 2 : 1) * p->n; t++) {
        const int64_t i = t % p->n;
        const bool up = number ? t < p->n : p->y[i] > 0;
        const double bound = C * weight(s, p->id[i]);
        row[t] = i;
        q[t] = -p->y[i] + (number ? (up ? s->set.epsilon : -s->set.epsilon) : 0);
        low[t] = up ? 0 : -bound;
        high[t] = up ? bound : 0;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->n; j++)
            K[i * p->n + j] = value(s, p->id[i], p->id[j]);
}

/* beta: of each row. */
static void solve(mercer_ctx *ctx, const setting *s, program *p, double C) {
    static double q[2 * MOST], low[2 * MOST], high[2 * MOST], beta[2 * MOST], f[MOST], diagonal[MOST];
    static int64_t row[2 * MOST];
    const bool number = s->kind == MC_SVR;
    double *K = calloc((size_t)(p->n * p->n), sizeof *K);
    mc_smo_result result;
    write_out(s, p, C, number, K, q, low, high, row);
    for (int64_t i = 0; i < p->n; i++) {
        diagonal[i] = K[i * p->n + i];
        beta[i] = beta[p->n + i] = f[i] = 0;
    }
    const mc_smo_problem problem = {
        .dual = {.m = (number ? 2 : 1) * p->n, .row = row, .q = q, .low = low, .high = high},
        .rows = mc_matrix_square(p->n, MERCER_F64, K, p->n, diagonal),
        .tolerance = TIGHT,
        .steps_max = 100000000};
    assert_ok(ctx, mc_smo_solve(ctx, &problem, beta, f, &result));
    assert_true(result.converged);
    for (int64_t i = 0; i < p->n; i++)
        p->beta[i] = beta[i] + (number ? beta[p->n + i] : 0);
    p->intercept = result.intercept[0];
    free(K);
}

static double decision_at(const setting *s, const program *p, int64_t row) {
    double sum = p->intercept;
    for (int64_t i = 0; i < p->n; i++)
        sum += p->beta[i] * value(s, p->id[i], row);
    return sum;
}

/* ---- One split ---- */

static void take_rows(const setting *s, const mc_svm_split *split, int64_t a, int64_t b, program *p) {
    p->n = 0;
    for (int64_t k = 0; k < split->learned; k++) {
        const int64_t i = split->rows[k], class = s->kind == MC_SVC ? s->data->class_of[i] : a;
        if (class != a && class != b)
            continue;
        p->id[p->n] = i;
        p->y[p->n++] = s->kind == MC_SVR ? s->t->y[i] : class == a ? 1 : -1;
    }
}

/* Two optima of a program solved to within TIGHT differ by so much at a row of k(x, x) = 1: half the squared distance
   of the functions is at most the gap, and that at most the violation times the sum of the bounds. The intercept
   follows the function. */
static double allowed(const program *p, double C) {
    return 4 * sqrt(2 * TIGHT * 4 * C * (double)p->n);
}

static void check_numbers(mercer_ctx *ctx, const setting *s, const mc_svm_split *split, int64_t k) {
    static program p;
    const int64_t few = split->all - split->learned, outputs = s->kind == MC_SVC ? 2 : 1;
    take_rows(s, split, 0, 1, &p);
    solve(ctx, s, &p, costs[k]);
    for (int64_t h = 0; h < few; h++) {
        const double wanted = decision_at(s, &p, split->rows[split->learned + h]);
        const double *out = split->out + (k * few + h) * outputs;
        assert_close(out[0], wanted, allowed(&p, costs[k]));
        if (outputs == 2)
            assert_close(out[1], -out[0], 0);
    }
}

/* Votes of pairs: those that are not near 0 must be cast alike. */
static void check_votes(mercer_ctx *ctx, const setting *s, const mc_svm_split *split, int64_t k, int64_t classes) {
    static program p;
    const int64_t few = split->all - split->learned;
    double *votes = calloc((size_t)(few * classes), sizeof *votes);
    bool *unsure = calloc((size_t)few, sizeof *unsure);
    for (int64_t a = 0; a < classes; a++)
        for (int64_t b = a + 1; b < classes; b++) {
            take_rows(s, split, a, b, &p);
            solve(ctx, s, &p, costs[k]);
            for (int64_t h = 0; h < few; h++) {
                const double v = decision_at(s, &p, split->rows[split->learned + h]);
                votes[h * classes + (v > 0 ? a : b)]++;
                unsure[h] = unsure[h] || fabs(v) <= allowed(&p, costs[k]);
            }
        }
    for (int64_t h = 0; h < few; h++)
        for (int64_t c = 0; c < classes && !unsure[h]; c++)
            assert_true(split->out[(k * few + h) * classes + c] == votes[h * classes + c]);
    free(votes);
    free(unsure);
}

/* ---- The walk ---- */

/* Every row is left out once, in random order. */
static void draw_splits(int64_t n, mc_rng *rng, int64_t outputs, int64_t *rows, mc_svm_split *split) {
    for (int k = 0; k < SPLITS; k++) {
        int64_t *own = rows + k * n, learned = 0, last = n;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = (i * 7 + 3) % n; /* n is no multiple of 7 */
            if (at % SPLITS == k)
                own[--last] = at;
            else
                own[learned++] = at;
        }
        for (int64_t i = learned - 1; i > 0; i--) {
            const int64_t j = mc_rng_below(rng, i + 1), kept = own[i];
            own[i] = own[j];
            own[j] = kept;
        }
        split[k] = (mc_svm_split){own, learned, n, calloc((size_t)(COSTS * (n - learned) * outputs), sizeof(double))};
    }
}

static void check_walk(mercer_ctx *ctx, mc_svm_kind kind, const table *t, int64_t classes, uint64_t item) {
    setting s = {.kind = kind, .t = t, .set = plain(kind == MC_SVC ? "svc" : "svr", TIGHT)};
    mercer_data *data = data_of(ctx, t, kind == MC_SVC);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    mc_svm_buffers buffers = {0};
    mc_svm_folds *folds = NULL;
    mc_svm_split split[SPLITS];
    int64_t rows[SPLITS * MOST];
    s.data = data;
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &s.kernel));
    assert_ok(ctx, mc_svm_folds_open(ctx, kind, &s.set, s.kernel, data, SPLITS, &buffers, &folds));
    assert_non_null(folds);
    const int64_t outputs = mc_svm_folds_outputs(folds);
    assert_int_equal(outputs, kind == MC_SVC ? classes : 1);
    draw_splits(t->n, &rng, outputs, rows, split);
    assert_ok(ctx, mc_svm_folds_solve_path(ctx, folds, split, SPLITS, costs, COSTS));
    for (int a = 0; a < SPLITS; a++)
        for (int64_t k = 0; k < COSTS; k++)
            if (outputs > 2)
                check_votes(ctx, &s, &split[a], k, classes);
            else
                check_numbers(ctx, &s, &split[a], k);
    for (int k = 0; k < SPLITS; k++)
        free(split[k].out);
    mc_svm_folds_close(folds);
    mc_svm_buffers_close(&buffers);
    mercer_kernel_free(s.kernel);
    mercer_data_free(data);
}

static void test_rows_left_out_get_what_a_fit_of_the_others_says(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    for (int64_t classes = 1; classes <= 4; classes++)
        for (int weighted = 0; weighted < 2; weighted++) {
            table t = random_table(60 + 5 * classes + weighted, classes > 1 ? classes : 2, 500 + (uint64_t)classes);
            t.n -= t.n % 7 == 0;
            t.weighted = weighted;
            check_walk(ctx, classes > 1 ? MC_SVC : MC_SVR, &t, classes, 600 + (uint64_t)classes);
        }
    close_clean(ctx);
}

/* Equal rows are made one, within a class; of two classes they pull against each other. */
static void test_equal_rows_are_counted_as_often_as_they_are_there(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int64_t classes = 2; classes <= 3; classes++) {
        table t = random_table(61, classes, 700);
        for (int64_t i = 20; i < t.n; i++) {
            memcpy(t.x + i * D, t.x + (i % 20) * D, D * sizeof *t.x);
            t.class_of[i] = i % 5 ? t.class_of[i % 20] : (int)(i % classes);
        }
        t.weighted = true;
        check_walk(ctx, MC_SVC, &t, classes, 701);
    }
    close_clean(ctx);
}

/* The votes of a walk over four classes on so many threads, at a tolerance that leaves them open. */
static void vote_with(int threads, const table *t, double *out) {
    mercer_ctx *ctx = open_ctx(threads);
    const mercer_svm set = plain("svc", 0.05);
    mercer_data *data = data_of(ctx, t, true);
    mercer_kernel *kernel = NULL;
    mc_svm_buffers buffers = {0};
    mc_svm_folds *folds = NULL;
    mc_svm_split split[SPLITS];
    int64_t rows[SPLITS * MOST];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 801);
    assert_ok(ctx, mercer_kernel_parse(ctx, "rbf(gamma=0.4)", &kernel));
    assert_ok(ctx, mc_svm_folds_open(ctx, MC_SVC, &set, kernel, data, SPLITS, &buffers, &folds));
    draw_splits(t->n, &rng, 4, rows, split);
    assert_ok(ctx, mc_svm_folds_solve_path(ctx, folds, split, SPLITS, costs, COSTS));
    for (int k = 0; k < SPLITS; k++) {
        const int64_t count = COSTS * (split[k].all - split[k].learned) * 4;
        memcpy(out, split[k].out, (size_t)count * sizeof *out);
        out += count;
        free(split[k].out);
    }
    mc_svm_folds_close(folds);
    mc_svm_buffers_close(&buffers);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_votes_do_not_depend_on_threads(void **state) {
    (void)state;
    static double one[COSTS * MOST * 4], many[COSTS * MOST * 4];
    const table t = random_table(600, 4, 800);
    vote_with(1, &t, one);
    for (int threads = 2; threads <= 7; threads += 5) {
        vote_with(threads, &t, many);
        assert_memory_equal(one, many, sizeof one);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_left_out_get_what_a_fit_of_the_others_says),
        cmocka_unit_test(test_equal_rows_are_counted_as_often_as_they_are_there),
        cmocka_unit_test(test_votes_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

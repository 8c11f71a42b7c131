/* Two threads of one program, each with a context, over a BLAS with threads of its own, whose number is one setting for
   the whole process. That library is played here: its controls are this file's, and a product made while the setting is
   not 1 comes out with other bits, as sums split by the number of threads do. */
#include "support.h"
#include "base/parallel.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOST = 3, ROWS = 700, ROUNDS = 12, THREADS = 2 };

static atomic_int setting = HOST;
static atomic_llong products, split;

int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
typedef void gemm(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                  const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

int openblas_get_parallel(void) {
    return 1; /* threads of its own */
}

int openblas_get_num_threads(void) {
    return atomic_load(&setting);
}

/* While closed, who changes the setting stays inside. */
static atomic_bool closed, inside;

void openblas_set_num_threads(int threads) {
    atomic_store(&inside, true);
    while (atomic_load(&closed))
        sched_yield();
    atomic_store(&setting, threads);
}

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
            const int *ldc, size_t la, size_t lb) {
    gemm *real = NULL;
    void *found = dlsym(RTLD_NEXT, "dgemm_");
    memcpy(&real, &found, sizeof real);
    sched_yield(); /* the other thread's turn, whatever it does */
    real(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, la, lb);
    atomic_fetch_add(&products, 1);
    if (atomic_load(&setting) != 1) {
        atomic_fetch_add(&split, 1);
        c[0] *= 1 + 0x1p-52;
    }
}

static void test_a_region_that_ends_leaves_the_others_their_one_thread(void **state) {
    (void)state;
    const mc_region first = mc_blas_begin(), second = mc_blas_begin();
    assert_int_equal(openblas_get_num_threads(), 1);
    mc_blas_end(first);
    assert_int_equal(openblas_get_num_threads(), 1);
    const mc_region third = mc_blas_begin();
    mc_blas_end(second);
    assert_int_equal(openblas_get_num_threads(), 1);
    mc_blas_end(third);
    assert_int_equal(openblas_get_num_threads(), HOST);
}

/* The calling program's own choice, made in the meantime, is its choice. */
static void test_a_setting_made_meanwhile_stays(void **state) {
    (void)state;
    const mc_region region = mc_blas_begin();
    openblas_set_num_threads(HOST + 1);
    mc_blas_end(region);
    assert_int_equal(openblas_get_num_threads(), HOST + 1);
    openblas_set_num_threads(HOST);
}

typedef struct work {
    int64_t rounds;
    double values[ROWS], again[ROWS];
    bool same;
} work;

/* A fit by a factor of K and its predictions; false: something failed. */
static bool fit_once(mercer_ctx *ctx, double *values) {
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 1e-3;
    set.solver = "cholesky";
    const bool fine =
        !mercer_data_generate(ctx, "sinc", ROWS, 0.1, 7, &data) && !mercer_kernel_parse(ctx, "rbf(gamma=3)", &kernel)
        && !mercer_fit(ctx, "ridge", &set, kernel, data, &model) && !mercer_predict(ctx, model, data, values);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return fine;
}

static void *fit_often(void *arg) {
    work *w = arg;
    mercer_ctx *ctx = open_ctx(THREADS);
    w->same = true;
    for (int64_t round = 0; round < w->rounds && w->same; round++)
        w->same = fit_once(ctx, w->again) && !memcmp(w->values, w->again, sizeof w->values);
    close_clean(ctx);
    return NULL;
}

static void test_two_contexts_in_two_threads_give_the_bits_of_one(void **state) {
    (void)state;
    static work works[2];
    pthread_t threads[2];
    mercer_ctx *ctx = open_ctx(1);
    assert_true(fit_once(ctx, works[0].values));
    memcpy(works[1].values, works[0].values, sizeof works[0].values);
    close_clean(ctx);
    assert_true(products > 0);
    assert_int_equal(split, 0);
    for (int i = 0; i < 2; i++) {
        works[i].rounds = ROUNDS;
        assert_int_equal(pthread_create(&threads[i], NULL, fit_often, &works[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(split, 0);
    assert_true(works[0].same && works[1].same);
    assert_int_equal(openblas_get_num_threads(), HOST);
}

static void *open_region(void *arg) {
    (void)arg;
    mc_blas_end(mc_blas_begin());
    return NULL;
}

/* The thread that is changing the setting is not there in a child, and what it holds is held by nobody. */
static void test_a_child_of_fork_does_not_wait_for_a_thread_it_has_not_got(void **state) {
    (void)state;
    pthread_t other;
    int status = -1;
    atomic_store(&inside, false);
    atomic_store(&closed, true);
    assert_int_equal(pthread_create(&other, NULL, open_region, NULL), 0);
    while (!atomic_load(&inside))
        sched_yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        atomic_store(&closed, false);
        const mc_region region = mc_blas_begin();
        const int within = openblas_get_num_threads();
        mc_blas_end(region);
        _exit(within == 1 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    atomic_store(&closed, false);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(openblas_get_num_threads(), HOST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_child_of_fork_does_not_wait_for_a_thread_it_has_not_got),
        cmocka_unit_test(test_a_region_that_ends_leaves_the_others_their_one_thread),
        cmocka_unit_test(test_a_setting_made_meanwhile_stays),
        cmocka_unit_test(test_two_contexts_in_two_threads_give_the_bits_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

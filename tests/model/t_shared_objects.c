/* t_shared_objects.c: data, kernels, proofs, models, posteriors and searches are used by several threads at once, each
   with a context of its own, after the context that made them is closed: the bits of one thread, and nothing for
   ThreadSanitizer to say. */
#include "support.h"
#include <pthread.h>
#include <string.h>

enum { ROWS = 160, THREADS = 4 };

typedef struct shared {
    mercer_data *data;
    mercer_kernel *kernel;
    mercer_proof *proof;
    mercer_model *model, *process;
    mercer_posterior *posterior;
    mercer_search *search;
} shared;

/* What a thread learns from them. */
typedef struct answers {
    double predicted[ROWS], refitted[ROWS], deviation[ROWS];
    char words[400];
} answers;

typedef struct reader {
    pthread_t thread;
    const shared *of;
    answers made;
    mercer_status status;
} reader;

static mercer_status make_shared(mercer_ctx *ctx, shared *s) {
    mercer_tune set = mercer_tune_defaults();
    set.points = 3;
    mercer_status status = mercer_data_generate(ctx, "sinc", ROWS, 0.1, 5, &s->data);
    status = status ? status : mercer_kernel_parse(ctx, "rbf(gamma=2) + 0.1*linear", &s->kernel);
    status = status ? status : mercer_prove(ctx, s->kernel, 0, &s->proof);
    status = status ? status : mercer_fit(ctx, "ridge", NULL, s->kernel, s->data, &s->model);
    status = status ? status : mercer_fit(ctx, "gp", NULL, s->kernel, s->data, &s->process);
    status = status ? status : mercer_posterior_open(ctx, s->process, &s->posterior);
    return status ? status : mercer_tune_run(ctx, "ridge", NULL, &set, s->data, &s->search);
}

static void free_shared(shared *s) {
    mercer_search_free(s->search);
    mercer_posterior_free(s->posterior);
    mercer_model_free(s->process);
    mercer_model_free(s->model);
    mercer_proof_free(s->proof);
    mercer_kernel_free(s->kernel);
    mercer_data_free(s->data);
}

static mercer_status predict_refitted(mercer_ctx *ctx, const shared *s, double *out) {
    mercer_model *model = NULL;
    mercer_status status = mercer_search_fit(ctx, s->search, s->data, &model);
    status = status ? status : mercer_predict(ctx, model, s->data, out);
    mercer_model_free(model);
    return status;
}

static mercer_status read_shared(mercer_ctx *ctx, const shared *s, answers *out) {
    *out = (answers){0};
    mercer_status status = mercer_predict(ctx, s->model, s->data, out->predicted);
    status = status ? status : mercer_posterior_std(ctx, s->posterior, s->data, out->deviation);
    status = status ? status : predict_refitted(ctx, s, out->refitted);
    snprintf(out->words, sizeof out->words, "%s %s %.100s %lld %g", mercer_kernel_text(s->kernel),
             mercer_proof_text(s->proof), mercer_search_json(s->search), (long long)mercer_model_centres(s->model),
             mercer_model_report(s->model)->certificate.gap);
    return status;
}

static void *read_in_thread(void *arg) {
    reader *r = arg;
    mercer_ctx *ctx = open_ctx(1);
    r->status = MERCER_OK;
    for (int round = 0; round < 3 && !r->status; round++)
        r->status = read_shared(ctx, r->of, &r->made);
    close_clean(ctx);
    return NULL;
}

static void test_threads_share_what_never_changes(void **state) {
    (void)state;
    static answers wanted;
    static reader readers[THREADS];
    shared s = {0};
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(NULL, &ctx), MERCER_OK);
    assert_ok(ctx, make_shared(ctx, &s));
    assert_ok(ctx, read_shared(ctx, &s, &wanted));
    mercer_close(ctx);
    for (int i = 0; i < THREADS; i++) {
        readers[i].of = &s;
        assert_int_equal(pthread_create(&readers[i].thread, NULL, read_in_thread, &readers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(readers[i].status, MERCER_OK);
        assert_memory_equal(&readers[i].made, &wanted, sizeof wanted);
    }
    free_shared(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads_share_what_never_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The order of work that machines share: whatever moment of the check a fit is stopped at, its certificate is whole and
   that of the function it comes with. */
#include "base/ctx.h"
#include "loss_of_test.h"

/* Stops at the so-manieth look during a check; every look is shown. */
typedef struct watcher {
    mercer_ctx *ctx;
    int looks, stop;
} watcher;

static int watch(void *user, const mercer_progress *p) {
    watcher *w = user;
    w->ctx->next_progress = 0;
    return strcmp(p->phase, "check") == 0 && ++w->looks == w->stop;
}

typedef struct job {
    const char *machine;
    mercer_svm svm;
    mercer_loss loss;
    bool is_loss, classes, plain; /* plain: with the settings it has by itself */
} job;

static job job_of(const char *machine, bool is_loss) {
    return (job){.machine = machine,
                 .is_loss = is_loss,
                 .svm = plain(is_loss ? "svc" : machine, 1e-3),
                 .loss = settings(is_loss ? machine : "logistic", 0.1, 1e-3),
                 .classes = is_loss ? takes_classes(machine) : needs_classes(machine)};
}

static const void *settings_of(const job *j) {
    return j->plain ? NULL : j->is_loss ? (const void *)&j->loss : &j->svm;
}

static mercer_model *fit_watched(const job *j, const table *t, watcher *w) {
    mercer_options options = mercer_options_defaults();
    options.threads = 1;
    options.every_step = true; /* the first of them opens the eyes */
    options.progress = watch;
    options.progress_user = w;
    assert_int_equal(mercer_open(&options, &w->ctx), MERCER_OK);
    w->looks = 0;
    mercer_model *model = NULL;
    const mercer_status status =
        try_machine(w->ctx, j->machine, settings_of(j), j->classes, "rbf(gamma=0.5)", t, &model);
    /* nothing: stopped after the check, while the model is made ready for predictions */
    assert_true(status == (model ? MERCER_OK : MERCER_CANCELLED));
    return model;
}

static void close_watched(mercer_model *model, watcher *w) {
    mercer_model_free(model);
    mercer_close(w->ctx);
}

/* The solving was over: the answer is that of the fit that nobody stopped, and so is all that is claimed of it. */
static void assert_same_claims(const job *j, const watcher *w, const mercer_report *stopped,
                               const mercer_report *whole) {
    const mercer_certificate *a = &stopped->certificate, *b = &whole->certificate;
    const double claims[][2] = {{a->primal, b->primal},
                                {a->dual, b->dual},
                                {a->rounding, b->rounding},
                                {a->gap, b->gap},
                                {a->residual, b->residual},
                                {a->kkt_violation, b->kkt_violation},
                                {a->objective_gap, b->objective_gap},
                                {a->prediction_error_bound, b->prediction_error_bound},
                                {stopped->norm, whole->norm}};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++)
        if (claims[i][0] != claims[i][1] && !(isnan(claims[i][0]) && isnan(claims[i][1])))
            fail_msg("%s, stopped at look %d: claim %zu is %g, that of the whole fit %g", j->machine, w->stop, i,
                     claims[i][0], claims[i][1]);
}

static void stop_at_every_look(const job *j, const table *t) {
    watcher calm = {0};
    mercer_model *whole = fit_watched(j, t, &calm);
    double *expected = decide(calm.ctx, whole, t);
    int kept = 0;
    for (int stop = 1; stop <= calm.looks; stop++) {
        watcher w = {.stop = stop};
        mercer_model *model = fit_watched(j, t, &w);
        kept += model != NULL;
        if (!model) {
            mercer_close(w.ctx);
            continue;
        }
        double *values = decide(w.ctx, model, t);
        assert_string_equal(mercer_model_report(model)->stopped, "caller");
        assert_same_claims(j, &w, mercer_model_report(model), mercer_model_report(whole));
        assert_memory_equal(values, expected, (size_t)t->n * sizeof *values);
        free(values);
        close_watched(model, &w);
    }
    assert_true(kept > 0 || j->plain); /* those that solve in one go give nothing */
    free(expected);
    close_watched(whole, &calm);
}

static void test_a_fit_stopped_in_its_check_is_certified_whole(void **state) {
    (void)state;
    const table t = random_table(80, 2, 31);
    for (int i = 0; i < COUNT; i++) {
        const job j = job_of(LOSSES[i], true);
        stop_at_every_look(&j, &t);
    }
    for (size_t i = 0; i < sizeof MACHINES / sizeof *MACHINES; i++) {
        const job j = job_of(MACHINES[i], false);
        stop_at_every_look(&j, &t);
    }
    static const job others[] = {{.machine = "ridge", .plain = true},
                                 {.machine = "gp", .plain = true},
                                 {.machine = "pca", .plain = true},
                                 {.machine = "lms", .plain = true}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        stop_at_every_look(&others[i], &t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_fit_stopped_in_its_check_is_certified_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

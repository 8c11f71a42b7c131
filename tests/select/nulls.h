/* nulls.h: good arguments for the calls that nulls.py writes, one of them NULL in each. */
#ifndef TEST_NULLS_H
#define TEST_NULLS_H

#include "support.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    mercer_ctx *ctx;
    mercer_data *data;
    mercer_kernel *kernel;
    mercer_model *model;
    mercer_posterior *posterior;
    mercer_proof *proof;
    mercer_search *search;
    void *out; /* what a call makes */
    /* by the place of the argument, for anything it reads or fills: zeros */
    _Alignas(max_align_t) char room[10][1 << 15];
    _Alignas(max_align_t) char settings[2048];
    char path[32];
} f;

static inline int make(void **state) {
    (void)state;
    mercer_gp set = mercer_gp_defaults();
    mercer_tune tune = mercer_tune_defaults();
    set.learn = false;
    tune.points = 2;
    f.ctx = open_ctx(1);
    strcpy(f.path, "/tmp/mercer-nulls-XXXXXX");
    close(mkstemp(f.path));
    assert_ok(f.ctx, mercer_settings_init(f.ctx, "ridge", f.settings, sizeof(mercer_ridge)));
    return mercer_data_generate(f.ctx, "sinc", 40, 0.1, 1, &f.data)
           || mercer_kernel_parse(f.ctx, "rbf(gamma=1)", &f.kernel)
           || mercer_fit(f.ctx, "gp", &set, f.kernel, f.data, &f.model)
           || mercer_posterior_open(f.ctx, f.model, &f.posterior) || mercer_prove(f.ctx, f.kernel, 1, &f.proof)
           || mercer_tune_run(f.ctx, "ridge", NULL, &tune, f.data, &f.search);
}

static inline int unmake(void **state) {
    (void)state;
    unlink(f.path);
    mercer_search_free(f.search);
    mercer_proof_free(f.proof);
    mercer_posterior_free(f.posterior);
    mercer_model_free(f.model);
    mercer_kernel_free(f.kernel);
    mercer_data_free(f.data);
    close_clean(f.ctx);
    return 0;
}

/* The message says which argument of which call it was. */
static inline void assert_named(const char *function, const char *argument) {
    char wanted[128];
    snprintf(wanted, sizeof wanted, "%s: %s is NULL", function, argument);
    if (!strstr(mercer_message(f.ctx), wanted))
        fail_msg("wanted '%s', got '%s'", wanted, mercer_message(f.ctx));
}

#endif

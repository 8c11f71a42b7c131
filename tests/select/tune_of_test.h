/* tune_of_test.h: small searches that the tests of select share. */
#ifndef TEST_TUNE_H
#define TEST_TUNE_H

#include "../learn/machines_of_test.h"
#include "base/memory.h"
#include "select/tune.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 90 };

static inline mercer_data *moons(mercer_ctx *ctx) {
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "moons", MANY, 0.3, 3, &data));
    return data;
}

static inline mercer_data *friedman(mercer_ctx *ctx) {
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_generate(ctx, "friedman1", MANY, 0.5, 3, &data));
    return data;
}

/* A search of one kernel with one range of a setting; NULL: that which suits the machine. */
typedef struct wish {
    const char *machine, *kernel, *range;
    const void *settings;
    mercer_tune set;
} wish;

static inline mercer_status tune(mercer_ctx *ctx, const wish *w, const mercer_data *data, mercer_search **out) {
    const char *const ranges[] = {w->range, NULL};
    mercer_kernel *kernel = kernel_of(ctx, w->kernel);
    mercer_tune set = w->set;
    set.kernels = (const mercer_kernel *const *)&kernel;
    set.kernel_count = 1;
    set.ranges = w->range ? ranges : NULL;
    const mercer_status status = mercer_tune_run(ctx, w->machine, w->settings, &set, data, out);
    mercer_kernel_free(kernel);
    return status;
}

static inline wish wish_of(const char *machine, const char *kernel, const char *range) {
    return (wish){.machine = machine, .kernel = kernel, .range = range, .set = mercer_tune_defaults()};
}

static inline mercer_status refused(mercer_ctx *ctx, wish w, const mercer_data *data) {
    mercer_search *search = NULL;
    const mercer_status status = tune(ctx, &w, data, &search);
    assert_null(search);
    return status;
}

/* What a search of what make makes finds, as text to be freed. */
static inline char *json_of(const wish *w, int threads, mercer_data *(*make)(mercer_ctx *)) {
    mercer_ctx *ctx = open_ctx(threads);
    mercer_data *data = make(ctx);
    mercer_search *search = NULL;
    assert_ok(ctx, tune(ctx, w, data, &search));
    char *json = strdup(mercer_search_json(search));
    mercer_search_free(search);
    mercer_data_free(data);
    close_clean(ctx);
    return json;
}

/* What the progress of searches showed. */
typedef struct watched {
    double done, leap; /* the last, and the largest way between two */
    int calls, moves, back;
} watched;

static inline int watch(void *user, const mercer_progress *p) {
    watched *w = user;
    if (strcmp(p->phase, "tune") != 0)
        return 0;
    w->back += p->done < w->done;
    w->moves += p->done > w->done;
    w->leap = fmax(w->leap, p->done - w->done);
    w->done = p->done;
    w->calls++;
    return 0;
}

static inline mercer_ctx *open_watched(watched *seen) {
    mercer_ctx *ctx = NULL;
    mercer_options options = mercer_options_defaults();
    options.progress = watch;
    options.progress_user = seen;
    options.every_step = true;
    options.threads = 1;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    return ctx;
}

#endif

/* b_small.c: what a small fit and a small prediction take in C, in microseconds.

       b_small ROWS.csv KIND ROUNDS MACHINE KERNEL [NAME=VALUE ...]
       prints "fit,predict,allocations": two medians, and the calls of the memory hook of one fit

   KIND is number or class. A fit is what a program does for every model: parse, fit (its certificate included), free,
   in a context that stays open. A prediction is of all rows. small.py runs it beside Python and scikit-learn. */
#include "base/clock.h"
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETTINGS = 16, SETTINGS_BYTES = 1024 };

typedef struct job {
    mercer_ctx *ctx;
    mercer_data *data;
    const char *machine, *kernel;
    void *settings;
    mercer_model *model;
    double *out;
} job;

static int64_t allocations;

static void *counted(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    allocations++;
    if (new_size)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

static void need(const job *j, mercer_status status) {
    if (!status)
        return;
    fprintf(stderr, "b_small: %s\n", mercer_message(j->ctx));
    exit(1);
}

static void fit_once(job *j) {
    mercer_kernel *kernel = NULL;
    mercer_model_free(j->model);
    need(j, mercer_kernel_parse(j->ctx, j->kernel, &kernel));
    need(j, mercer_fit(j->ctx, j->machine, j->settings, kernel, j->data, &j->model));
    mercer_kernel_free(kernel);
}

static void predict_once(job *j) {
    need(j, mercer_predict(j->ctx, j->model, j->data, j->out));
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(job *j, void (*act)(job *), int rounds) {
    double *seconds = malloc((size_t)rounds * sizeof *seconds), median = 0;
    for (int i = 0; seconds && i < rounds; i++) {
        const double began = mc_clock_seconds();
        act(j);
        seconds[i] = mc_clock_seconds() - began;
    }
    if (seconds) {
        qsort(seconds, (size_t)rounds, sizeof *seconds, by_size);
        median = seconds[rounds / 2];
    }
    free(seconds);
    return 1e6 * median;
}

static void put_settings(job *j, char **words, int count) {
    need(j, mercer_settings_init(j->ctx, j->machine, j->settings, mercer_machine_find(j->machine)->size));
    for (int i = 0; i < count; i++) {
        char *value = strchr(words[i], '=');
        *value = '\0';
        need(j, mercer_settings_put(j->ctx, j->settings, words[i], value + 1));
    }
}

static mercer_ctx *open_context(bool counts) {
    mercer_options options = mercer_options_defaults();
    mercer_ctx *ctx = NULL;
    if (counts)
        options.memory = counted;
    return mercer_open(&options, &ctx) == MERCER_OK ? ctx : NULL;
}

static int64_t count_allocations(job j) {
    j.ctx = open_context(true);
    j.model = NULL;
    fit_once(&j);
    const int64_t before = allocations;
    fit_once(&j);
    const int64_t count = allocations - before;
    mercer_model_free(j.model);
    mercer_close(j.ctx);
    return count;
}

int main(int argc, char **argv) {
    double settings[SETTINGS_BYTES / sizeof(double)];
    if (argc < 6 || argc > 6 + MOST_SETTINGS || !mercer_machine_find(argv[4])) {
        fprintf(stderr, "b_small ROWS.csv number|class ROUNDS MACHINE KERNEL [NAME=VALUE ...]\n");
        return 2;
    }
    job j = {.ctx = open_context(false), .machine = argv[4], .kernel = argv[5], .settings = settings};
    mercer_read read = mercer_read_defaults();
    read.kind = strcmp(argv[2], "class") == 0 ? MERCER_TARGET_CLASS : MERCER_TARGET_NUMBER;
    need(&j, mercer_data_read(j.ctx, argv[1], &read, &j.data));
    put_settings(&j, argv + 6, argc - 6);
    const double fit = median_of(&j, fit_once, atoi(argv[3]));
    j.out = calloc((size_t)(mercer_data_rows(j.data) * mercer_model_outputs(j.model)), sizeof *j.out);
    const double predict = median_of(&j, predict_once, atoi(argv[3]));
    printf("%.1f,%.1f,%lld\n", fit, predict, (long long)count_allocations(j));
    free(j.out);
    mercer_model_free(j.model);
    mercer_data_free(j.data);
    mercer_close(j.ctx);
    return 0;
}

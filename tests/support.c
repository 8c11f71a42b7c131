#include "support.h"
#include <math.h>
#include <stdio.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* A memory hook that counts live blocks and can be told to fail from the k-th call on. */
typedef struct counter {
    long live, calls, fail_at;
} counter;

static void *counting_hook(void *user, void *block, size_t old_size, size_t new_size) {
    counter *c = user;
    (void)old_size;
    if (!new_size) {
        c->live -= block != NULL;
        free(block);
        return NULL;
    }
    if (++c->calls == c->fail_at)
        return NULL;
    void *fresh = realloc(block, new_size);
    c->live += fresh && !block;
    return fresh;
}

mercer_ctx *open_ctx(int threads) {
    mercer_options options = mercer_options_defaults();
    options.threads = threads;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    return ctx;
}

mercer_ctx *open_isa(const char *isa, int threads) {
    mercer_options options = mercer_options_defaults();
    options.isa = isa;
    options.threads = threads;
    mercer_ctx *ctx = NULL;
    if (mercer_open(&options, &ctx) != MERCER_OK) {
        mercer_close(ctx);
        return NULL;
    }
    return ctx;
}

void close_clean(mercer_ctx *ctx) {
    mercer_ctx *probe = ctx; /* the context's own block is all that may be left */
    assert_in_range(mercer_memory_used(probe), 1, 8192);
    mercer_close(ctx);
}

uint64_t test_seed(void) {
    static uint64_t seed;
    if (!seed) {
        const char *text = getenv("MERCER_TEST_SEED");
        seed = text ? strtoull(text, NULL, 10) : 20261115;
        printf("# seed %llu (set MERCER_TEST_SEED to repeat another)\n", (unsigned long long)seed);
    }
    return seed;
}

FILE *open_set(const char *name) {
    char path[4096];
    const char *tests = getenv("MERCER_TESTS");
    snprintf(path, sizeof path, "%s/sets/%s", tests ? tests : "tests", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no %s: run from the root of the sources, or set MERCER_TESTS to their folder tests", path);
    return file;
}

void assert_close_at(double a, double b, double tolerance, const char *file, int line) {
    const double scale = fmax(1.0, fmax(fabs(a), fabs(b)));
    if (!(fabs(a - b) <= tolerance * scale)) {
        print_error("%.17g and %.17g differ by more than %g\n", a, b, tolerance * scale);
        _fail(file, line);
    }
}

/* The next allocation to fail: all in turn, or about every k/sparse-th, which ones the seed decides. */
static long next_to_fail(long k, long sparse) {
    const long skip = sparse ? k / sparse : 0;
    return k + 1
           + (skip ? (long)((test_seed() * 2654435761u + (uint64_t)k * 40503u) >> 7 & 0xffffff) % (2 * skip + 1) : 0);
}

static void fail_in_turn(scenario *run, void *arg, long sparse) {
    for (long k = 1;; k = next_to_fail(k, sparse)) {
        counter c = {.fail_at = k};
        mercer_options options = mercer_options_defaults();
        options.memory = counting_hook;
        options.memory_user = &c;
        options.threads = 2;
        mercer_ctx *ctx = NULL;
        mercer_status status = mercer_open(&options, &ctx);
        if (!status)
            status = run(ctx, arg);
        const bool injected = c.calls >= k;
        if (injected && status != MERCER_MEMORY)
            fail_msg("allocation %ld failed but the call said %s: %s", k, mercer_status_name(status),
                     mercer_message(ctx));
        if (!injected)
            assert_int_equal(status, MERCER_OK);
        mercer_close(ctx);
        if (c.live)
            fail_msg("allocation %ld failed and %ld blocks were left behind", k, c.live);
        if (!injected)
            return;
    }
}

long test_sparse(void) {
    const char *text = getenv("MERCER_TEST_SPARSE");
    return text ? strtol(text, NULL, 10) : 0;
}

bool test_takes(int64_t item) {
    return item % (test_sparse() + 1) == 0;
}

void assert_survives_failing_memory(scenario *run, void *arg) {
    fail_in_turn(run, arg, test_sparse());
}

void assert_survives_some_failing_memory(scenario *run, void *arg) {
    fail_in_turn(run, arg, 4);
}

static bool has_comma(const char *name) {
    return setlocale(LC_ALL, name) && strcmp(localeconv()->decimal_point, ",") == 0;
}

/* Its source says nothing but the comma; localedef warns of all the rest and makes it all the same (-c). */
static void make_comma(const char *folder) {
    char command[512];
    snprintf(command, sizeof command,
             "cd '%s' && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND "
             "LC_NUMERIC\\n' > comma.txt "
             "&& localedef -c -i comma.txt -f ANSI_X3.4-1968 ./comma > /dev/null 2>&1",
             folder);
    if (system(command) >= 0) /* it says 1 for its warnings */
        setenv("LOCPATH", folder, 1);
}

static bool try_made(void) {
    char folder[] = "/tmp/mercer-locale-XXXXXX", command[64];
    if (!mkdtemp(folder))
        return false;
    make_comma(folder);
    const bool set = has_comma("comma");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 && set;
}

bool set_decimal_comma(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (has_comma(names[k]))
            return true;
    if (try_made())
        return true;
    setlocale(LC_ALL, "C");
    print_message("# skipped: no locale with a decimal comma is installed, and localedef makes none\n");
    return false;
}

void *settings_with(mercer_ctx *ctx, const mercer_machine *machine, const char *const wishes[][2]) {
    static _Alignas(max_align_t) char settings[1024];
    assert_true(machine->size <= sizeof settings);
    assert_ok(ctx, mercer_settings_init(ctx, machine->name, settings, machine->size));
    for (; wishes[0][0]; wishes++)
        for (int k = 0; k < machine->count; k++)
            if (strcmp(machine->settings[k].name, wishes[0][0]) == 0)
                assert_ok(ctx, mercer_settings_put(ctx, settings, wishes[0][0], wishes[0][1]));
    return settings;
}

mercer_model *fit_model(mercer_ctx *ctx, const char *machine, const void *set, const char *text,
                        const mercer_data *data) {
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_kernel_parse(ctx, text, &kernel));
    assert_ok(ctx, mercer_fit(ctx, machine, set, kernel, data, &model));
    mercer_kernel_free(kernel);
    return model;
}

mercer_status try_table(mercer_ctx *ctx, const char *machine, const void *set, const char *text,
                        const mercer_table *table) {
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_status status = mercer_data_make(ctx, table, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, text, &kernel);
    if (!status)
        status = mercer_fit(ctx, machine, set, kernel, data, &model);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

mercer_status fit_path(mercer_ctx *ctx, const char *machine, const mercer_kernel *kernel, const mercer_data *data,
                       const void *set, const double *values, int64_t count, const mercer_data *test,
                       const int64_t *fold, mercer_path_row *out) {
    mercer_path path = mercer_path_defaults();
    path.values = values;
    path.count = count;
    path.test = test;
    path.fold = fold;
    return mercer_fit_path(ctx, machine, set, kernel, data, &path, out);
}

mercer_status fit_own_loss(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                           const mercer_own_loss *loss, const mercer_loss *set, mercer_model **out) {
    mercer_loss chosen = set ? *set : mercer_loss_defaults("own-loss");
    chosen.machine = "own-loss";
    chosen.own = loss;
    return mercer_fit(ctx, "own-loss", &chosen, kernel, data, out);
}

mercer_shape shape_of(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d) {
    mercer_shape shape = {.size = sizeof shape};
    (void)ctx;
    assert_true(mercer_kernel_shape(kernel, d, &shape));
    return shape;
}

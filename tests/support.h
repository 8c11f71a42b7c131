/* support.h: what every test shares: cmocka with its headers in order, a context, random input that prints its seed,
   and memory that fails on purpose. */
#ifndef TEST_SUPPORT_H
#define TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <mercer.h>

/* Never fails; threads 0: the machine's. Close with close_clean, which asserts that no block is left. */
mercer_ctx *open_ctx(int threads);
void close_clean(mercer_ctx *ctx);
/* With this instruction set; NULL where the machine has not got it. */
mercer_ctx *open_isa(const char *isa, int threads);

/* $MERCER_TEST_SEED or a fixed one; printed by the first call so that a failure can be repeated. */
uint64_t test_seed(void);

/* A file of tests/sets, whose README names origin and licence; fails where it is absent. */
FILE *open_set(const char *name);

/* Ends the test as skipped. cmocka's own skip() prints "not ok ... # SKIP", which readers of TAP count as a failure;
   tools/test.py counts this line. */
#define skip_test(reason)                                                                                              \
    do {                                                                                                               \
        print_message("# skipped: %s\n", (reason));                                                                    \
        return;                                                                                                        \
    } while (0)

/* Set a locale with a decimal comma, one that is installed or else one made for the purpose by localedef; false with a
   line that says so where neither can be had. setlocale(LC_ALL, "C") ends it. */
bool set_decimal_comma(void);

#define assert_ok(ctx, call)                                                                                           \
    do {                                                                                                               \
        const mercer_status status_ = (call);                                                                          \
        if (status_ != MERCER_OK)                                                                                      \
            fail_msg("%s: %s", mercer_status_name(status_), mercer_message(ctx));                                      \
    } while (0)
/* The call fails with this status and its message contains text. */
#define assert_fails(ctx, call, expected, text)                                                                        \
    do {                                                                                                               \
        const mercer_status status_ = (call);                                                                          \
        if (status_ != (expected) || !strstr(mercer_message(ctx), (text)))                                             \
            fail_msg("wanted %s with '%s', got %s: %s", mercer_status_name(expected), (text),                          \
                     mercer_status_name(status_), mercer_message(ctx));                                                \
    } while (0)
#define assert_close(a, b, tolerance) assert_close_at((a), (b), (tolerance), __FILE__, __LINE__)
void assert_close_at(double a, double b, double tolerance, const char *file, int line);

/* $MERCER_TEST_SPARSE, 0 without: where a tool makes each run many times as slow (tools/test.py) the first of a
   long row of cases are tried, so many, and then every second, third, ... of the rest. */
long test_sparse(void);
/* Whether case number `item` of a long table is to be tried: each, or of $MERCER_TEST_SPARSE + 1 the first. */
bool test_takes(int64_t item);

/* Run the scenario with its 1st, 2nd, 3rd, ... allocation failing until it succeeds. It must return MERCER_MEMORY while
   allocations fail, leave no block behind each time, and free everything itself. */
typedef mercer_status scenario(mercer_ctx *ctx, void *arg);
void assert_survives_failing_memory(scenario *run, void *arg);
/* The same for the first few and then ever fewer of the allocations, where a run takes long. */
void assert_survives_some_failing_memory(scenario *run, void *arg);

/* The defaults of a machine and the wishes, {name, value} up to one without a name, among its settings; until the next
   call. */
void *settings_with(mercer_ctx *ctx, const mercer_machine *machine, const char *const wishes[][2]);
/* A fit that must work; one of a table that may fail, and of which nothing is left. */
mercer_model *fit_model(mercer_ctx *ctx, const char *machine, const void *set, const char *kernel,
                        const mercer_data *data);
mercer_status try_table(mercer_ctx *ctx, const char *machine, const void *set, const char *kernel,
                        const mercer_table *table);
/* mercer_fit_path with all its arguments in a row; mercer_fit with a loss of the test's own (set NULL: the defaults);
   the shape of a kernel. */
mercer_status fit_path(mercer_ctx *ctx, const char *machine, const mercer_kernel *kernel, const mercer_data *data,
                       const void *set, const double *values, int64_t count, const mercer_data *test,
                       const int64_t *fold, mercer_path_row *out);
mercer_status fit_own_loss(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                           const mercer_own_loss *loss, const mercer_loss *set, mercer_model **out);
mercer_shape shape_of(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d);

#endif

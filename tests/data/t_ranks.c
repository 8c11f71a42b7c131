/* Files that ranks read by parts: the table of one process, whatever the number of ranks, and its words where something
   is wrong. */
#include "support.h"
#include "base/checking_ranks.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "data/read/read.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 64, MOST = 1 << 20, RUNS = 4 };

typedef struct reading_case {
    char path[64];
    mercer_read set;
    mercer_data *wanted; /* NULL: it cannot be read */
    char message[512];
} reading_case;

static bool same_bytes(const void *a, const void *b, size_t bytes) {
    return !a == !b && (!a || memcmp(a, b, bytes) == 0);
}

static bool same_texts(char *const *a, char *const *b, int64_t count) {
    bool same = !a == !b;
    for (int64_t i = 0; a && same && i < count; i++)
        same = strcmp(a[i], b[i]) == 0;
    return same;
}

static bool same_data(const mercer_data *a, const mercer_data *b) {
    const size_t n = (size_t)a->n, size = a->dtype == MERCER_F32 ? 4 : 8;
    if (a->n != b->n || a->d != b->d || a->dtype != b->dtype || a->outputs != b->outputs || a->classes != b->classes
        || !a->row_start != !b->row_start || a->texts != b->texts || a->missing != b->missing || a->open != b->open)
        return false;
    const size_t stored = a->row_start ? (size_t)a->row_start[n] : n * (size_t)a->d;
    return same_bytes(a->row_start, b->row_start, (n + 1) * 8) && same_bytes(a->values, b->values, stored * size)
           && same_bytes(a->column, b->column, stored * 4)
           && same_bytes(a->target, b->target, n * (size_t)a->outputs * 8)
           && same_bytes(a->class_of, b->class_of, n * 4) && same_bytes(a->weight, b->weight, n * 8)
           && same_bytes(a->used, b->used, (size_t)a->d * 4) && same_texts(a->label, b->label, a->classes)
           && same_texts(a->name, b->name, a->d) && same_texts(a->target_name, b->target_name, a->outputs);
}

static mercer_status read_case(mercer_ctx *ctx, const reading_case *c, mercer_data **out) {
    return mc_data_read_as(ctx, c->path, &(mc_reading){.set = &c->set, .piece = PIECE}, out);
}

static mercer_status read_by_rank(mercer_ctx *ctx, int rank, void *arg) {
    const reading_case *c = arg;
    mercer_data *data = NULL;
    (void)rank;
    mercer_status status = read_case(ctx, c, &data);
    if (!status && (!c->wanted || !same_data(c->wanted, data)))
        status = mc_fail(ctx, MERCER_NUMERIC, "the table is another");
    mercer_data_free(data);
    return status;
}

/* How often it was read by parts: not where the head of the file is no table of numbers. */
static int check_case(const reading_case *c, uint64_t number) {
    int shared = 0;
    for (int count = 2; count <= 7; count += count < 4 ? 1 : 3) {
        checking_run run = checking_run_of(count, read_by_rank, (void *)c);
        checking_run_all(&run);
        for (int k = 0; k < count; k++) {
            const bool as_wanted = c->wanted ? !run.status[k] : strcmp(run.message[k], c->message) == 0;
            if (!as_wanted)
                fail_msg("file %d on %d ranks, rank %d: '%s' instead of '%s'", (int)number, count, k, run.message[k],
                         c->message);
        }
        assert_int_equal(run.left, 0);
        shared += run.calls > 4; /* joining is three calls, leaving one */
    }
    return shared;
}

/* ---- Files ---- */

typedef struct text {
    char *at;
    size_t size;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int put = vsnprintf(t->at + t->size, MOST - t->size, format, args);
    va_end(args);
    t->size += (size_t)put;
}

/* Some lines are much longer than others, some numbers are written long, some cells are missing in one file of four. */
static void write_csv(mc_rng *rng, text *t) {
    const int64_t n = 200 + mc_rng_below(rng, 300), d = 1 + mc_rng_below(rng, 6), odd = mc_rng_below(rng, 4);
    const char *end = mc_rng_below(rng, 2) ? "\r\n" : "\n";
    for (int64_t j = 0; mc_rng_below(rng, 2) && j <= d; j++)
        put(t, "name%d%s", (int)j, j < d ? "," : end);
    t->size = t->size && t->at[t->size - 1] != '\n' ? 0 : t->size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= d; j++) {
            const double value = mc_rng_normal(rng);
            const bool rare = mc_rng_below(rng, 200) == 0;
            if (rare && odd == 1)
                put(t, "%s", j < d ? "," : end); /* missing */
            else if (rare && odd == 2 && j < d)
                put(t, "%s,", "one more,"); /* a ragged record */
            else
                put(t, mc_rng_below(rng, 5) ? "%.3g%s" : "%.17g%s", value, j < d ? "," : i + 1 < n ? end : "");
        }
}

static void write_libsvm(mc_rng *rng, text *t) {
    const int64_t n = 200 + mc_rng_below(rng, 300), d = 2 + mc_rng_below(rng, 40), odd = mc_rng_below(rng, 4);
    const int64_t kept = 1 + mc_rng_below(rng, 10);
    for (int64_t i = 0; i < n; i++) {
        put(t, odd == 1 ? "%.0f" : "%.3f", 2 * mc_rng_normal(rng));
        for (int64_t j = 1; j <= d; j++)
            if (mc_rng_below(rng, kept) == 0)
                put(t, " %d:%.5g", (int)j, mc_rng_normal(rng));
        const bool rare = mc_rng_below(rng, 150) == 0;
        put(t, "%s\n", rare && odd == 2 ? " 3:x" : rare ? " # a comment 5:6\n# another" : "");
    }
}

static void write_npy(mc_rng *rng, text *t) {
    const int n = 80000 + (int)mc_rng_below(rng, 3000), d = 3, fortran = (int)mc_rng_below(rng, 2);
    const size_t head = 128;
    t->size = head;
    const int said = snprintf(t->at + 10, 118, "{'descr': '<f4', 'fortran_order': %s, 'shape': (%d, %d), }",
                              fortran ? "True" : "False", n, d);
    memset(t->at + 10 + said, ' ', head - 11 - (size_t)said);
    memcpy(t->at, "\x93NUMPY\x01\x00\x76\x00", 10);
    t->at[head - 1] = '\n';
    for (int i = 0; i < n * d; i++, t->size += 4) {
        const float value = mc_rng_below(rng, 20000) ? (float)mc_rng_normal(rng) : NAN;
        memcpy(t->at + t->size, &value, 4);
    }
}

static void store(const char *path, const text *t) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(t->at, 1, t->size, file), t->size);
    fclose(file);
}

/* Some allocation of one rank fails: nobody waits for ever, and nothing is left. */
static void check_failures(const reading_case *c, mc_rng *rng) {
    for (int round = 0; round < 3; round++) {
        checking_run run = checking_run_of(3, read_by_rank, (void *)c);
        run.memory_rank = (int)mc_rng_below(rng, 3);
        run.memory_after = 1 + (long)mc_rng_below(rng, 60);
        checking_run_all(&run);
        assert_int_equal(run.left, 0);
    }
}

static int run_case(uint64_t seed, uint64_t number) {
    static void (*const write[])(mc_rng *, text *) = {write_csv, write_libsvm, write_npy};
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, number);
    reading_case c = {.set = mercer_read_defaults()};
    text t = {.at = calloc(MOST, 1)};
    snprintf(c.path, sizeof c.path, "/tmp/mercer-ranks-XXXXXX");
    close(mkstemp(c.path));
    write[number % 3](&rng, &t);
    store(c.path, &t);
    c.set.dtype = mc_rng_below(&rng, 2) ? MERCER_F32 : MERCER_F64;
    c.set.missing = MERCER_MISSING_DROP;
    mercer_ctx *ctx = open_ctx(0);
    if (read_case(ctx, &c, &c.wanted))
        snprintf(c.message, sizeof c.message, "%s", mercer_message(ctx));
    const int shared = check_case(&c, number);
    check_failures(&c, &rng);
    mercer_data_free(c.wanted);
    close_clean(ctx);
    unlink(c.path);
    free(t.at);
    return shared;
}

static void tables_do_not_depend_on_ranks(void **state) {
    (void)state;
    int shared = 0;
    for (uint64_t number = 0; number < 24; number++)
        shared += test_takes((int64_t)number) ? run_case(test_seed(), number) : RUNS;
    assert_in_range(shared, 24 * RUNS / 2, 24 * RUNS);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_do_not_depend_on_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

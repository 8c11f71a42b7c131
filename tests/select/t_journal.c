/* A search goes on where it was stopped, from its journal; that of another search is refused. */
#include "tune_of_test.h"
#include <unistd.h>

static void cut(const char *path, long size) {
    assert_int_equal(truncate(path, size), 0);
}

static long size_of(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    return size;
}

/* Killed anywhere, within a line too, it comes to the same end. */
static void resume(mercer_ctx *ctx, wish *w, char *path, mercer_data *(*make)(mercer_ctx *), const mercer_data *data) {
    char *whole = json_of(w, 1, make);
    w->set.journal = path;
    char *first = json_of(w, 1, make);
    assert_string_equal(whole, first);
    const long size = size_of(path);
    static const double kept[] = {1, 0.7, 0.31, 0.02};
    for (int i = 0; i < 4; i++) {
        cut(path, (long)(kept[i] * (double)size));
        mercer_search *search = NULL;
        assert_ok(ctx, tune(ctx, w, data, &search));
        assert_string_equal(mercer_search_json(search), whole);
        assert_true(i == 3 || mercer_search_report(search)->resumed > 0);
        assert_true(size_of(path) >= size); /* what was measured anew stands there once more */
        mercer_search_free(search);
    }
    free(whole);
    free(first);
}

static void test_a_journal_takes_a_search_up_again(void **state) {
    (void)state;
    char path[] = "/tmp/mercer-journal-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = moons(ctx), *numbers = friedman(ctx), *other = NULL;
    wish w = wish_of("ridge", "rbf(gamma=0.1..10)", "lambda=0.01..100");
    w.set.search = "gradient";
    w.set.candidates = 2;
    resume(ctx, &w, path, friedman, numbers);
    w.range = "lambda=0.001..1000"; /* the same middle */
    w.set.candidates = 1;
    assert_fails(ctx, refused(ctx, w, numbers), MERCER_INVALID, "of another search");
    unlink(path);
    w = wish_of("svc", "rbf(gamma=0.1..10)", "C=1..100");
    w.set.points = 3;
    resume(ctx, &w, path, moons, data);
    assert_ok(ctx, mercer_data_generate(ctx, "moons", MANY, 0.3, 4, &other));
    assert_fails(ctx, refused(ctx, w, other), MERCER_INVALID, "of another search");
    w.set.folds = 4;
    assert_fails(ctx, refused(ctx, w, data), MERCER_INVALID, "of another search");
    FILE *file = fopen(path, "w");
    fputs("something else\n", file);
    fclose(file);
    assert_fails(ctx, refused(ctx, w, data), MERCER_FORMAT, "not a journal");
    unlink(path);
    mercer_data_free(data);
    mercer_data_free(numbers);
    mercer_data_free(other);
    close_clean(ctx);
}

enum { WORDS = 60 };

/* Rows that differ in nothing but what they say. */
static mercer_data *words(mercer_ctx *ctx, uint64_t item) {
    static const char *const word[] = {"alpha beta", "beta gamma", "gamma delta", "delta alpha"};
    const char *text[WORDS], *label[WORDS];
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, item);
    mercer_data *data = NULL;
    for (int i = 0; i < WORDS; i++) {
        text[i] = word[mc_rng_below(&rng, 4)];
        label[i] = i % 3 ? "few" : "many";
    }
    const mercer_table table = {
        .size = sizeof table, .n = WORDS, .dtype = MERCER_F64, .text = text, .texts = 1, .labels = label};
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    return data;
}

static void test_a_journal_knows_the_texts_it_was_measured_on(void **state) {
    (void)state;
    char path[] = "/tmp/mercer-journal-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *one = words(ctx, 71), *other = words(ctx, 72);
    mercer_search *search = NULL;
    wish w = wish_of("svc", "spectrum(p=3)[1]", "C={0.1, 1, 10}");
    w.set.journal = path;
    assert_ok(ctx, tune(ctx, &w, one, &search));
    mercer_search_free(search);
    assert_fails(ctx, refused(ctx, w, other), MERCER_INVALID, "of another search");
    unlink(path);
    mercer_data_free(one);
    mercer_data_free(other);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_journal_takes_a_search_up_again),
                                       cmocka_unit_test(test_a_journal_knows_the_texts_it_was_measured_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

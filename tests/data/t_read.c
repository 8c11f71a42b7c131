#include "data/table/data.h"
#include "data/table/means.h"
#include "data/read/read.h"
#include "support.h"
#include "data/npy/npy_write.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/mercer-test-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *write_file(const char *name, const void *bytes, size_t size) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    return path;
}

static const char *write_gzip(const char *name, const char *text, size_t size, const char *mode) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)size), (int)size);
    gzclose(file);
    return path;
}

static void test_formats_are_told_apart(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const struct {
        const char *name, *text;
        int d;
    } cases[] = {
        {"a", "1 1:2 3:4\n2 2:1\n", 3},
        {"a.csv", "1 1:2 3:4\n2 2:1\n", 3}, /* content before name */
        {"a.svm", "1\n2 2:1\n", 2},
        {"a.csv", "1,2,3\n4,5,6\n", 2},
        {"a", "1\t2\t3\n4\t5\t6\n", 2},
        {"a.tsv", "x,1\t2\n3\t4\n", 2},             /* text, then numbers */
        {"a.csv", "time,y\n12:30,1\n12:45,2\n", 2}, /* colons do not make it LIBSVM: text, one-hot */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = write_file(cases[i].name, cases[i].text, strlen(cases[i].text));
        mercer_data *data = NULL;
        assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
        if (mercer_data_columns(data) != cases[i].d)
            fail_msg("%s '%s' has %d columns", cases[i].name, cases[i].text, (int)mercer_data_columns(data));
        mercer_data_free(data);
        unlink(path);
    }
    close_clean(ctx);
}

static void test_gzip_of_each(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *csv = "a,b,y\n1,2,0.5\n3,4,1.5\n", *svm = "1 1:2 2:3\n2 2:1\n";
    const char *path = write_gzip("a.csv.gz", csv, strlen(csv), "wb");
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    assert_true(data->n == 2 && mc_data_value(data, 1, 1) == 4);
    mercer_data_free(data);
    write_gzip("a.csv.gz", "5,6,2.5\n", 8, "ab"); /* a second member follows */
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    assert_true(data->n == 3 && mc_data_value(data, 2, 1) == 6);
    mercer_data_free(data);
    unlink(path);
    path = write_gzip("b", svm, strlen(svm), "wb");
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    assert_true(data->n == 2 && data->d == 2);
    mercer_data_free(data);
    unlink(path);
    const double x[] = {1, 2, 3, 4};
    char plain[128];
    snprintf(plain, sizeof plain, "%s/c.npy", folder);
    assert_ok(ctx, mc_npy_write(ctx, plain, x, 2, 2));
    char bytes[512];
    FILE *file = fopen(plain, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    unlink(plain);
    path = write_gzip("c.npy.gz", bytes, size, "wb");
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    assert_true(data->n == 2 && data->d == 1 && mercer_data_target(data, 1, 0) == 4);
    mercer_data_free(data);
    unlink(path);
    close_clean(ctx);
}

static void test_damaged_gzip_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    char text[4000], bytes[4000];
    for (int i = 0; i < 1000; i++)
        memcpy(text + 4 * i, (char[]){(char)('0' + i * 7 % 10), ',', (char)('0' + i * i % 10), '\n'}, 4);
    const char *path = write_gzip("d.gz", text, sizeof text, "wb");
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    mercer_data *data = NULL;
    write_file("d.gz", bytes, size - 20);
    assert_fails(ctx, mercer_data_read(ctx, path, NULL, &data), MERCER_DATA, "cut off");
    bytes[size / 2] ^= 0x55;
    write_file("d.gz", bytes, size);
    assert_fails(ctx, mercer_data_read(ctx, path, NULL, &data), MERCER_DATA, "damaged");
    bytes[size / 2] ^= 0x55;
    memcpy(bytes + size, "extra", 5);
    write_file("d.gz", bytes, size + 5);
    assert_fails(ctx, mercer_data_read(ctx, path, NULL, &data), MERCER_DATA, "comes something else");
    memset(bytes + size, 0, 5);
    write_file("d.gz", bytes, size + 5); /* padding is fine */
    assert_ok(ctx, mercer_data_read(ctx, path, NULL, &data));
    assert_int_equal(mercer_data_rows(data), 1000);
    mercer_data_free(data);
    unlink(path);
    close_clean(ctx);
}

static void test_a_gzip_bomb_meets_the_memory_limit(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 16 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    enum { SIZE = 64 << 20 };
    char *zeros = test_calloc(1, SIZE);
    const char *path = write_gzip("bomb.gz", zeros, SIZE, "wb9");
    test_free(zeros);
    mercer_data *data = NULL;
    assert_fails(ctx, mercer_data_read(ctx, path, NULL, &data), MERCER_MEMORY, "once inflated");
    assert_true(mercer_memory_peak(ctx) <= 16 << 20);
    unlink(path);
    close_clean(ctx);
}

static void test_standard_input_and_pipes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const int keep = dup(STDIN_FILENO);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "a,b,y\n1,2,3.5\n4,5,6.5\n", 22), 22);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_read(ctx, "-", NULL, &data));
    assert_true(data->n == 2 && data->d == 2);
    mercer_data_free(data);
    assert_fails(ctx, mercer_data_read(ctx, "-", NULL, &data), MERCER_DATA, "standard input is empty");
    close(ends[0]);
    const char *path = write_file("in.csv", "skip,,\na,b,y\n1,2,3.5\n", 21);
    const int fd = open(path, O_RDONLY);
    lseek(fd, 7, SEEK_SET); /* a redirected file is read from where it stands */
    dup2(fd, STDIN_FILENO);
    assert_ok(ctx, mercer_data_read(ctx, "-", NULL, &data));
    assert_true(data->n == 1 && data->d == 2);
    mercer_data_free(data);
    close(fd);
    unlink(path);
    dup2(keep, STDIN_FILENO);
    close(keep);
    close_clean(ctx);
}

static void test_unreadable_files_are_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = NULL;
    assert_fails(ctx, mercer_data_read(ctx, "/nowhere/at/all.csv", NULL, &data), MERCER_IO,
                 "'/nowhere/at/all.csv': No such file");
    assert_fails(ctx, mercer_data_read(ctx, "/tmp", NULL, &data), MERCER_IO, "directory");
    assert_fails(ctx, mercer_data_read(ctx, "/dev/null", NULL, &data), MERCER_DATA, "empty");
    mercer_read set = mercer_read_defaults();
    set.missing = (mercer_missing)9;
    assert_fails(ctx, mercer_data_read(ctx, "/dev/null", &set, &data), MERCER_INVALID, "missing 9");
    close_clean(ctx);
}

/* ---- Large files ---- */

enum { LARGE = 9 << 19 }; /* above what is read in pieces */

/* Rows of four numbers and a whole-number class, up to size bytes; rows end with a newline, in other ways now and then.
   */
static char *large_text(size_t size, const char *other_end, size_t *length) {
    char *text = test_malloc(size + 200);
    size_t n = (size_t)sprintf(text, "a,b,c,d,y\n");
    for (int i = 0; n < size; i++)
        n += (size_t)sprintf(text + n, "%d,%.15g,-%d.25,%de-3,%d%s", i, i / 7.0, i % 1000, i * 13, i % 3,
                             i % 97 ? "\n" : other_end);
    *length = n;
    return text;
}

static void assert_same_data(const mercer_data *a, const mercer_data *b) {
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->d, b->d);
    assert_memory_equal(a->values, b->values, (size_t)(a->n * a->d) * sizeof(double));
    assert_int_equal(a->classes, b->classes);
    if (a->class_of)
        assert_memory_equal(a->class_of, b->class_of, (size_t)a->n * sizeof *a->class_of);
    if (a->target)
        assert_memory_equal(a->target, b->target, (size_t)(a->n * a->outputs) * sizeof *a->target);
    for (int64_t j = 0; j < a->d; j++)
        assert_string_equal(mercer_data_column_name(a, j), mercer_data_column_name(b, j));
    assert_int_equal(a->schema.count, b->schema.count);
}

typedef struct expectation {
    mercer_status status;
    const char *message;
    const mercer_data *data;
} expectation;

/* pieces of this size (0: the usual), so that the text is one batch or many. */
static size_t check_pieces(const char *path, int threads, int64_t piece, const expectation *expected) {
    mercer_ctx *ctx = open_ctx(threads);
    mercer_data *data = NULL;
    const mercer_read set = mercer_read_defaults();
    assert_int_equal(mc_data_read_as(ctx, path, &(mc_reading){.set = &set, .piece = piece}, &data), expected->status);
    assert_string_equal(mercer_message(ctx), expected->message);
    if (!expected->status)
        assert_same_data(expected->data, data);
    const size_t peak = mercer_memory_peak(ctx);
    mercer_data_free(data);
    close_clean(ctx);
    return peak;
}

/* From a file, in large and small pieces, on one to three threads; and from memory, the general way. */
static void check_large(const char *text, size_t length, bool fits_in_little) {
    static const int64_t piece[] = {0, 4000, 997};
    const char *path = write_file("large.csv", text, length);
    mercer_ctx *whole = open_ctx(2);
    mercer_data *data = NULL;
    const mercer_status status = mc_data_parse(whole, text, (int64_t)length, path, NULL, &data);
    const expectation expected = {.status = status, .message = mercer_message(whole), .data = data};
    for (size_t k = 0; k < sizeof piece / sizeof piece[0]; k++) {
        const size_t peak = check_pieces(path, 1 + (int)k, piece[k], &expected);
        if (fits_in_little && piece[k])
            assert_true(peak < length); /* the file was never held whole */
    }
    mercer_data_free(data);
    close_clean(whole);
    unlink(path);
}

static void test_large_files_read_in_pieces_give_the_same_data(void **state) {
    (void)state;
    static const char *const ends[] = {"\n", "\r\n", " \n", "\n\n"};
    size_t length;
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        char *text = large_text(k ? LARGE / 20 : LARGE, ends[k], &length);
        check_large(text, length, false);
        text[length - 1] = ' '; /* without the last newline */
        check_large(text, length, false);
        test_free(text);
    }
    char *text = test_malloc(LARGE + 4000); /* long numbers: the table is smaller than the text */
    length = (size_t)sprintf(text, "\xef\xbb\xbf");
    while (length < LARGE)
        length += (size_t)sprintf(text + length, "%.40f,%.300f\n", (double)length / 3, 1.0 / ((double)length + 7));
    check_large(text, length, true);
    test_free(text);
}

/* The first rows tell how many there will be; here they are wrong by a factor of ten, either way. */
static void test_rows_that_get_shorter_or_longer_are_all_read(void **state) {
    (void)state;
    for (int shorter = 0; shorter < 2; shorter++) {
        char *text = test_malloc(600000);
        size_t n = 0;
        for (int part = 0; part < 2; part++)
            for (const size_t stop = n + 250000; n < stop;)
                n +=
                    (size_t)sprintf(text + n, part == shorter ? "%zu,1\n" : "0.%060zu,2.000000000000000000000001\n", n);
        check_large(text, n, false);
        test_free(text);
    }
}

static void test_trouble_deep_in_a_large_file_is_named_all_the_same(void **state) {
    (void)state;
    static const char *const troubles[] = {"1,2,3,4\n",       "1,2,x,4,1\n",   "1,,3,4,1\n",    "1,2,3,4,5,6\n",
                                           "\"1\",2,3,4,1\n", "1,2,inf,4,1\n", "1,2,3,4,red\n", "1,2,3,4,\n\n"};
    size_t length;
    char *text = large_text(LARGE / 20, "\n", &length);
    for (size_t k = 0; k < sizeof troubles / sizeof troubles[0]; k++) {
        strcpy(text + length, troubles[k]);
        check_large(text, length + strlen(troubles[k]), false);
    }
    test_free(text);
    /* One line longer than any tail. */
    text = test_malloc(LARGE);
    memset(text, '1', LARGE);
    memcpy(text, "1,2\n3.", 6);
    memcpy(text + LARGE - 6, ",2\n4,5", 6);
    check_large(text, LARGE, false);
    test_free(text);
}

static mercer_status read_large(mercer_ctx *ctx, void *arg) {
    mercer_data *data = NULL;
    const mercer_status status = mercer_data_read(ctx, arg, NULL, &data);
    mercer_data_free(data);
    return status;
}

static void test_reading_in_pieces_survives_failing_memory(void **state) {
    (void)state;
    size_t length;
    char *text = large_text(LARGE, "\n", &length);
    const char *path = write_file("large.csv", text, length);
    assert_survives_failing_memory(read_large, (void *)(uintptr_t)path);
    test_free(text);
    unlink(path);
}

/* ---- Reading like earlier data ---- */

static mercer_data *train(mercer_ctx *ctx, const char *text) {
    mercer_data *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "train.csv", NULL, &data));
    assert_ok(ctx, mc_schema_means(ctx, data, &data->schema)); /* as a fit does */
    return data;
}

static mercer_status like(mercer_ctx *ctx, const mercer_data *model, const char *text, const mercer_read *set,
                          mercer_data **out) {
    return mc_data_parse_like(ctx, text, (int64_t)strlen(text), "new.csv", set, &model->schema, model->d,
                              model->classes, model->label, out);
}

static void assert_reads(mercer_ctx *ctx, const mercer_data *model, const char *text, const double *row,
                         int64_t class_of_first) {
    mercer_data *data = NULL;
    assert_ok(ctx, like(ctx, model, text, NULL, &data));
    assert_int_equal(data->d, model->d);
    for (int64_t j = 0; j < data->d; j++) {
        assert_true(mc_data_value(data, 0, j) == row[j]);
        assert_string_equal(mercer_data_column_name(data, j), mercer_data_column_name(model, j));
    }
    assert_int_equal(mercer_data_class(data, 0), class_of_first);
    mercer_data_free(data);
}

static void test_columns_are_found_by_name_in_any_order(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *model = train(ctx, "age,colour,income,y\n1,red,10,no\n2,blue,20,yes\n3,red,30,no\n");
    const double row[] = {7, 0, 1, 70};
    assert_reads(ctx, model, "age,colour,income,y\n7,red,70,yes\n", row, 1);
    assert_reads(ctx, model, "y,income,colour,age\nno,70,red,7\n", row, 0);
    assert_reads(ctx, model, "income,age,colour\n70,7,red\n", row, -1);
    assert_reads(ctx, model, "7,red,70,yes\n", row, 1); /* no header: by place */
    assert_reads(ctx, model, "7,red,70\n", row, -1);
    mercer_data *data = NULL;
    assert_fails(ctx, like(ctx, model, "age,colour\n7,red\n", NULL, &data), MERCER_DATA, "lacks column 'income'");
    assert_ok(ctx, like(ctx, model, "id,age,colour,more,income\nA3,7,red,,70\n", NULL, &data)); /* others are named */
    assert_string_equal(mercer_data_unused(data), "column 1 ('id'), column 4 ('more')");
    assert_true(data->d == 4 && mc_data_value(data, 0, 0) == 7 && mc_data_value(data, 0, 3) == 70);
    mercer_data_free(data);
    assert_fails(ctx, like(ctx, model, "age,colour,income\n7,green,70\n", NULL, &data), MERCER_DATA,
                 "line 2, column 2 ('colour'): 'green' is a value the model has not seen");
    assert_fails(ctx, like(ctx, model, "age,colour,income\n7,rad,70\n", NULL, &data), MERCER_DATA,
                 "did you mean 'red'?");
    assert_fails(ctx, like(ctx, model, "age,colour,income,y\n7,red,70,maybe\n", NULL, &data), MERCER_DATA,
                 "'maybe' is a class");
    assert_fails(ctx, like(ctx, model, "age,colour,income\nx,red,70\n", NULL, &data), MERCER_DATA,
                 "line 2, column 1 ('age'): expected a number");
    assert_fails(ctx, like(ctx, model, "7,red,70,yes,5\n", NULL, &data), MERCER_DATA,
                 "5 columns; the model was fitted on 4");
    mercer_read set = mercer_read_defaults();
    set.target = "";
    assert_ok(ctx,
              like(ctx, model, "age,colour,income,y\n7,red,70,maybe\n", &set, &data)); /* the target is not wanted */
    assert_int_equal(mercer_data_classes(data), 0);
    mercer_data_free(data);
    set = mercer_read_defaults();
    set.missing = MERCER_MISSING_MEAN;
    assert_ok(ctx, like(ctx, model, "age,colour,income\n,red,70\n7,,\n", &set, &data)); /* the means of training */
    assert_true(mc_data_value(data, 0, 0) == 2 && mc_data_value(data, 1, 3) == 20 && mc_data_value(data, 1, 2) == 0);
    mercer_data_free(data);
    set.missing = MERCER_MISSING_DROP; /* lines are counted in the file, whatever was dropped */
    assert_fails(ctx, like(ctx, model, "age,colour,income\n,green,70\n1,red,2\n2,green,3\n", &set, &data), MERCER_DATA,
                 "line 4, column 2 ('colour'): 'green'");
    mercer_data_free(model);
    close_clean(ctx);
}

/* Read afresh, by name and by place; read like data that never had them, with names or without. */
static void test_columns_are_dropped(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const char *const named = "id,age,note,y\n7,1,a b,0.5\n8,2,c,1.5\n9,3,?,2.5\n", *const bare = named + 14;
    mercer_read set = mercer_read_defaults();
    mercer_data *model = NULL, *data = NULL;
    set.drop = "note,1";
    assert_ok(ctx, mc_data_parse(ctx, named, (int64_t)strlen(named), "t", &set, &model));
    assert_true(model->d == 1 && mc_data_value(model, 2, 0) == 3 && mercer_data_target(model, 2, 0) == 2.5);
    assert_int_equal(model->schema.count, 2);
    assert_ok(ctx, like(ctx, model, named, NULL, &data)); /* by name */
    assert_true(data->d == 1 && mc_data_value(data, 1, 0) == 2);
    mercer_data_free(data);
    set.drop = "1,3";
    assert_ok(ctx, like(ctx, model, bare, &set, &data)); /* by place */
    assert_true(data->d == 1 && mc_data_value(data, 1, 0) == 2 && !mercer_data_unused(data));
    mercer_data_free(data);
    assert_fails(ctx, like(ctx, model, bare, NULL, &data), MERCER_DATA, "4 columns; the model was fitted on 2");
    set.drop = "nota";
    assert_fails(ctx, mc_data_parse(ctx, named, (int64_t)strlen(named), "t", &set, &data), MERCER_DATA,
                 "no column 'nota' for the columns to drop; did you mean 'note'?");
    set.drop = "y";
    set.target = "y";
    assert_fails(ctx, mc_data_parse(ctx, named, (int64_t)strlen(named), "t", &set, &data), MERCER_DATA,
                 "asked for twice");
    assert_fails(ctx, mc_data_parse(ctx, "1 1:1\n", 6, "t", &set, &data), MERCER_INVALID, "LIBSVM text");
    mercer_data_free(model);
    close_clean(ctx);
}

static void test_classes_keep_their_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *model =
        train(ctx, "1,1\n2,-1\n3,1\n4,7\n5,1\n6,1\n7,1\n8,1\n9,1\n10,1\n11,1\n12,1\n13,1\n14,1\n15,-1\n");
    assert_int_equal(mercer_data_classes(model), 3);
    const double row[] = {5};
    assert_reads(ctx, model, "5,7\n6,1\n", row, 2);
    assert_reads(ctx, model, "5,7.0\n", row, 2);
    assert_reads(ctx, model, "5,\"-1\"\n", row, 0);
    mercer_data *data = NULL;
    assert_fails(ctx, like(ctx, model, "5,7\n6,3\n", NULL, &data), MERCER_DATA,
                 "line 2, column 2: 3 is a class the model has not seen");
    mercer_data_free(model);
    close_clean(ctx);
}

static void test_formats_may_differ_between_fit_and_predict(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *svm = "1 1:1 3:2\n2 2:1\n";
    mercer_data *model = NULL, *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, svm, (int64_t)strlen(svm), "t", NULL, &model));
    assert_ok(ctx, like(ctx, model, "1 1:5 9:1\n", NULL, &data)); /* column 9 was 0 in training */
    assert_true(data->d == 9 && mc_data_value(data, 0, 8) == 1 && mc_data_value(data, 0, 0) == 5);
    mercer_data_free(data);
    assert_ok(ctx, like(ctx, model, "5,0,1,2\n", NULL, &data)); /* CSV: three columns and the target */
    assert_true(data->d == 3 && mc_data_value(data, 0, 2) == 1 && mercer_data_target(data, 0, 0) == 2);
    mercer_data_free(data);
    assert_ok(ctx, like(ctx, model, "5,0,1\n", NULL, &data));
    assert_int_equal(mercer_data_outputs(data), 0);
    mercer_data_free(data);
    assert_fails(ctx, like(ctx, model, "5,0\n", NULL, &data), MERCER_DATA, "2 columns; the model was fitted on 3");
    mercer_data_free(model);
    model = train(ctx, "a,b,y\n1,2,0.5\n3,4,1.5\n");
    assert_ok(ctx, like(ctx, model, "0.25 2:6\n", NULL, &data));
    assert_true(data->d == 2 && mc_data_value(data, 0, 1) == 6 && mercer_data_target(data, 0, 0) == 0.25);
    mercer_data_free(data);
    assert_fails(ctx, like(ctx, model, "0.25 2:6 3:1\n", NULL, &data), MERCER_DATA,
                 "has index 3, but the table that the model was fitted to has 2 columns");
    mercer_data_free(model);
    close_clean(ctx);
}

typedef struct pair {
    const char *train, *test;
} pair;

static mercer_status read_pair(mercer_ctx *ctx, void *arg) {
    const pair *p = arg;
    mercer_data *model = NULL, *data = NULL;
    mercer_status status = mc_data_parse(ctx, p->train, (int64_t)strlen(p->train), "train.csv", NULL, &model);
    if (!status)
        status = like(ctx, model, p->test, NULL, &data);
    mercer_data_free(data);
    mercer_data_free(model);
    return status;
}

static void test_reading_like_survives_failing_memory(void **state) {
    (void)state;
    pair text = {"a,c,y\n1,red,no\n2,blue,yes\n", "id,c,y,a\n4,blue,\"no\",1\n"};
    pair numbers = {"1 1:1\n1 1:2\n2 1:1\n1 1:1\n1 1:1\n2 1:1\n1 1:1\n1 1:1\n1 1:1\n1 1:1\n", "2 1:5\n"};
    assert_survives_failing_memory(read_pair, &text);
    assert_survives_failing_memory(read_pair, &numbers);
}

static mercer_status read_gzipped(mercer_ctx *ctx, void *arg) {
    mercer_data *data = NULL;
    const mercer_status status = mercer_data_read(ctx, arg, NULL, &data);
    mercer_data_free(data);
    return status;
}

static void test_reading_gzip_survives_failing_memory(void **state) {
    (void)state;
    const char *path = write_gzip("m.gz", "1,2\n3,4\n", 8, "wb");
    assert_survives_failing_memory(read_gzipped, (void *)(uintptr_t)path);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_are_told_apart),
        cmocka_unit_test(test_gzip_of_each),
        cmocka_unit_test(test_damaged_gzip_is_named),
        cmocka_unit_test(test_a_gzip_bomb_meets_the_memory_limit),
        cmocka_unit_test(test_standard_input_and_pipes),
        cmocka_unit_test(test_unreadable_files_are_named),
        cmocka_unit_test(test_large_files_read_in_pieces_give_the_same_data),
        cmocka_unit_test(test_rows_that_get_shorter_or_longer_are_all_read),
        cmocka_unit_test(test_trouble_deep_in_a_large_file_is_named_all_the_same),
        cmocka_unit_test(test_reading_in_pieces_survives_failing_memory),
        cmocka_unit_test(test_columns_are_found_by_name_in_any_order),
        cmocka_unit_test(test_columns_are_dropped),
        cmocka_unit_test(test_classes_keep_their_numbers),
        cmocka_unit_test(test_formats_may_differ_between_fit_and_predict),
        cmocka_unit_test(test_reading_like_survives_failing_memory),
        cmocka_unit_test(test_reading_gzip_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

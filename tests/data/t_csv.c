#include "support.h"
#include "base/rng.h"
#include "data/table/means.h"
#include "data/read/read.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mercer_data *parse(mercer_ctx *ctx, const char *text, const mercer_read *set) {
    mercer_data *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", set, &data));
    return data;
}

static mercer_read with_target(const char *target) {
    mercer_read set = mercer_read_defaults();
    set.target = target;
    return set;
}

static void assert_row(const mercer_data *data, int64_t row, int64_t d, const double *expected) {
    double seen[16];
    assert_int_equal(mercer_data_columns(data), d);
    mercer_data_row(data, row, seen);
    assert_memory_equal(seen, expected, (size_t)d * sizeof *seen);
}
#define ROW(data, row, ...)                                                                                            \
    assert_row(data, row, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void test_numbers_with_and_without_header(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const char *const same[] = {"1,2,3.5\n4,5,6.5\n",
                                       "1,2,3.5\n4,5,6.5",
                                       "1,2,3.5\r\n4,5,6.5\r\n",
                                       "1;2;3.5\n4;5;6.5\n",
                                       "1\t2\t3.5\n4\t5\t6.5\n",
                                       " 1 , 2 ,3.5 \n\n4,5,6.5\n\n  \n",
                                       ("\xef\xbb\xbf"
                                        "1,2,3.5\n4,5,6.5\n"),
                                       "\"1\",2,\"3.5\"\n4,\"5\",6.5\n"};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        mercer_data *data = parse(ctx, same[i], NULL);
        assert_int_equal(mercer_data_rows(data), 2);
        ROW(data, 0, 1, 2);
        ROW(data, 1, 4, 5);
        assert_true(mercer_data_target(data, 1, 0) == 6.5);
        assert_string_equal(mercer_data_column_name(data, 1), "x2");
        assert_string_equal(mercer_data_target_name(data, 0), "y");
        mercer_data_free(data);
    }
    mercer_data *data = parse(ctx, "age,\"a \"\"b\"\"\",y\n1,2,3.5\n4,5,6.5\n", NULL);
    assert_int_equal(mercer_data_rows(data), 2);
    assert_string_equal(mercer_data_column_name(data, 0), "age");
    assert_string_equal(mercer_data_column_name(data, 1), "a \"b\"");
    assert_string_equal(mercer_data_target_name(data, 0), "y");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_target_by_name_place_and_several(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *text = "a,b,c\n1,2,3.5\n4,5,6.5\n";
    mercer_read set = with_target("b");
    mercer_data *data = parse(ctx, text, &set);
    ROW(data, 0, 1, 3.5);
    assert_true(mercer_data_target(data, 0, 0) == 2);
    assert_string_equal(mercer_data_target_name(data, 0), "b");
    mercer_data_free(data);
    set = with_target("1");
    data = parse(ctx, text, &set);
    ROW(data, 1, 5, 6.5);
    mercer_data_free(data);
    set = with_target("c,1");
    data = parse(ctx, text, &set);
    assert_int_equal(mercer_data_outputs(data), 2);
    assert_true(mercer_data_target(data, 1, 0) == 4 && mercer_data_target(data, 1, 1) == 6.5);
    mercer_data_free(data);
    set = with_target("");
    data = parse(ctx, text, &set);
    ROW(data, 0, 1, 2, 3.5);
    assert_int_equal(mercer_data_outputs(data) + mercer_data_classes(data), 0);
    mercer_data_free(data);
    mercer_data *never = NULL;
    set = with_target("agf");
    assert_fails(ctx, mc_data_parse(ctx, "age,x\n1,2\n", 10, "t.csv", &set, &never), MERCER_DATA,
                 "did you mean 'age'?");
    set = with_target("4");
    assert_fails(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", &set, &never), MERCER_DATA,
                 "no column '4'");
    set = with_target("a,a");
    assert_fails(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", &set, &never), MERCER_DATA,
                 "asked for twice");
    assert_fails(ctx, mc_data_parse(ctx, "1\n2\n", 4, "t.csv", NULL, &never), MERCER_DATA, "no target");
    close_clean(ctx);
}

static void test_classes_from_text_and_from_few_whole_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = parse(ctx, "x,y\n1,b\n2,a\n3,b\n", NULL);
    assert_int_equal(mercer_data_classes(data), 2);
    assert_string_equal(mercer_data_label(data, 0), "a");
    assert_int_equal(mercer_data_class(data, 0), 1);
    mercer_data_free(data);
    const char *ten = "1,1.0\n2,-1\n3,1\n4,1\n5,-1\n6,1e0\n7,1\n8,-1\n9,1\n0,1\n";
    data = parse(ctx, ten, NULL);
    assert_int_equal(mercer_data_classes(data), 2);
    assert_string_equal(mercer_data_label(data, 0), "-1");
    assert_string_equal(mercer_data_label(data, 1), "1");
    assert_int_equal(mercer_data_class(data, 5), 1);
    mercer_data_free(data);
    mercer_read set = mercer_read_defaults();
    set.kind = MERCER_TARGET_NUMBER;
    data = parse(ctx, ten, &set);
    assert_int_equal(mercer_data_outputs(data), 1);
    mercer_data_free(data);
    set.kind = MERCER_TARGET_CLASS;
    data = parse(ctx, "1,2.5\n2,0.5\n3,2.5\n", &set);
    assert_int_equal(mercer_data_classes(data), 2);
    assert_string_equal(mercer_data_label(data, 1), "2.5");
    mercer_data_free(data);
    data = parse(ctx, "1,1\n2,2\n3,1\n", NULL); /* 2 distinct of 3 rows: numbers */
    assert_int_equal(mercer_data_outputs(data), 1);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_text_columns_become_one_hot(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = parse(ctx, "colour,size,y\nred,1,0.5\n\"gr,een\",2,1.5\nred,3,2.5\n", NULL);
    assert_string_equal(mercer_data_column_name(data, 0), "colour=gr,een");
    assert_string_equal(mercer_data_column_name(data, 1), "colour=red");
    assert_string_equal(mercer_data_column_name(data, 2), "size");
    ROW(data, 0, 0, 1, 1);
    ROW(data, 1, 1, 0, 2);
    assert_int_equal(data->schema.column[0].kind, MC_COLUMN_LEVELS);
    assert_int_equal(data->schema.column[0].levels, 2);
    assert_true(isnan(data->schema.column[1].mean)); /* found when it is asked for */
    assert_ok(ctx, mc_schema_means(ctx, data, &data->schema));
    assert_true(data->schema.column[1].mean == 2);
    mercer_data_free(data);
    data = parse(ctx, "red,1,0.5\nblue,2,1.5\nred,3,2.5\n", NULL); /* without a header */
    assert_string_equal(mercer_data_column_name(data, 0), "x1=blue");
    assert_string_equal(mercer_data_column_name(data, 2), "x2");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_text_can_be_kept_as_strings(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_read set = mercer_read_defaults();
    set.text = "dna";
    mercer_data *data = parse(ctx, "dna,x,y\nACGT,1,p\n\"A\"\"\nT\",2,q\n,3,p\nNA,4,q\n", &set);
    assert_int_equal(mercer_data_texts(data), 1);
    assert_int_equal(mercer_data_columns(data), 1);
    assert_string_equal(mercer_data_text(data, 0, 0), "ACGT");
    assert_string_equal(mercer_data_text(data, 1, 0), "A\"\nT");
    assert_string_equal(mercer_data_text(data, 2, 0), "");
    assert_string_equal(mercer_data_text(data, 3, 0), "NA");
    mercer_data *some = NULL;
    assert_ok(ctx, mercer_data_take(ctx, data, (int64_t[]){3, 0}, 2, &some));
    assert_string_equal(mercer_data_text(some, 1, 0), "ACGT");
    mercer_data_free(some);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Many values and one in ten rows are free text; few, or a target, are levels. */
static void test_free_text_is_found(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static char text[64 * 1024];
    mercer_read set = mercer_read_defaults();
    set.text = "*";
    for (int values = 50; values <= 51; values++) {
        char *at = text + sprintf(text, "colour,message,x,y\n");
        for (int i = 0; i < 400; i++)
            at += sprintf(at, "%s,  a message of %d,%d,name%d\n", i % 3 ? "red" : "blue", i % values, i, i);
        mercer_data *data = parse(ctx, text, &set), *some = NULL;
        assert_int_equal(mercer_data_texts(data), values > 50);
        assert_int_equal(mercer_data_columns(data), values > 50 ? 3 : 53);
        assert_int_equal(mercer_data_classes(data), 400);
        mercer_kernel *kernel = NULL;
        assert_ok(ctx, mercer_data_take(ctx, data, (int64_t[]){3, 0}, 2, &some));
        assert_ok(ctx, mercer_kernel_default(ctx, some, &kernel));
        assert_string_equal(mercer_kernel_text(kernel),
                            values > 50 ? "normalize(spectrum(p=3)[message]) + rbf" : "rbf");
        if (values > 50) /* nothing is trimmed */
            assert_string_equal(mercer_data_text(some, 0, 0), "  a message of 3");
        mercer_kernel_free(kernel);
        mercer_data_free(some);
        mercer_data_free(data);
    }
    mercer_data *levels = parse(ctx, text, NULL);
    assert_int_equal(mercer_data_texts(levels), 0);
    mercer_data_free(levels);
    close_clean(ctx);
}

static void test_header_rule(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const struct {
        const char *text;
        int rows;
    } cases[] = {
        {"a,b\n1,2\n3,4\n", 2},            /* text over numbers */
        {"p,x\np,y\nq,x\n", 3},            /* text alone whose first record recurs */
        {"class,shape\np,x\nq,x\n", 2},    /* text alone whose first record stands out */
        {"x,x\np,y\nq,z\n", 3},            /* not distinct */
        {",b\n1,2\n3,4\n", 2},             /* an empty name */
        {"NA,7\n1,2\n3,4\n", 3},           /* missing, not a name */
        {"a,1\nb,2\nc,3\n", 3},            /* a number in the first record */
        {"Al,Mg,2019\n1,2,3\n4,5,6\n", 2}, /* names but for a year */
    };
    mercer_read set = with_target("");
    set.missing = MERCER_MISSING_MEAN;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mercer_data *data = parse(ctx, cases[i].text, &set);
        if (mercer_data_rows(data) != cases[i].rows)
            fail_msg("'%s' read as %d rows", cases[i].text, (int)mercer_data_rows(data));
        mercer_data_free(data);
    }
    mercer_data *forced = NULL;
    static const char *const open = "Na,Mg,2019\n1,2,3\n4,5,6\n"; /* one name against one number: nobody can tell */
    assert_fails(ctx, mc_data_parse(ctx, open, (int64_t)strlen(open), "t", &set, &forced), MERCER_DATA, "--header yes");
    set.header = MERCER_HEADER_YES;
    forced = parse(ctx, "Na,7\n1,2\n3,4\n", &set);
    assert_int_equal(mercer_data_rows(forced), 2);
    assert_string_equal(mercer_data_column_name(forced, 0), "Na");
    assert_string_equal(mercer_data_column_name(forced, 1), "7");
    mercer_data_free(forced);
    set.header = MERCER_HEADER_NO;
    forced = parse(ctx, "p,x\nq,y\n", &set);
    assert_int_equal(mercer_data_rows(forced), 2);
    mercer_data_free(forced);
    mercer_read named = with_target("q");
    mercer_data *data = parse(ctx, "p,q\np,1\nr,x\n", &named); /* asked for by name: a header */
    assert_int_equal(mercer_data_rows(data), 2);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_missing_cells_are_named_filled_or_dropped(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    const char *text = "a,b,c,y\n1,NA,u,0.5\n3,4,?,1.5\n5,6,v,2.5\n";
    mercer_data *data = NULL;
    assert_fails(ctx, mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", NULL, &data), MERCER_DATA,
                 "t.csv, line 2, column 2 ('b'): the value is missing");
    assert_int_equal(mercer_message_offset(ctx), 2);
    mercer_read set = mercer_read_defaults();
    set.missing = MERCER_MISSING_MEAN;
    data = parse(ctx, text, &set);
    ROW(data, 0, 1, 5, 1, 0);
    ROW(data, 1, 3, 4, 0, 0); /* no level */
    assert_int_equal(mercer_data_missing(data), 2);
    mercer_data_free(data);
    set.missing = MERCER_MISSING_DROP;
    data = parse(ctx, text, &set);
    assert_int_equal(mercer_data_rows(data), 1);
    ROW(data, 0, 5, 6, 1); /* level u went with its row */
    assert_int_equal(mercer_data_missing(data), 2);
    mercer_data_free(data);
    static const char *const words[] = {"", "na", "NaN", "nan", "NULL", "?", "\"\"", " "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "a,b\n1,2\n%s,3\n", words[i]);
        assert_fails(ctx, mc_data_parse(ctx, line, (int64_t)strlen(line), "t.csv", NULL, &data), MERCER_DATA,
                     "line 3, column 1 ('a')");
    }
    mercer_read mean = set;
    mean.missing = MERCER_MISSING_MEAN;
    assert_fails(ctx, mc_data_parse(ctx, "a,b\n1,\n2,3\n", 11, "t.csv", &mean, &data), MERCER_DATA, "target");
    assert_fails(ctx, mc_data_parse(ctx, "a,b\n,1\n,2\n", 10, "t.csv", &mean, &data), MERCER_DATA,
                 "every value of column 1 ('a')");
    assert_fails(ctx, mc_data_parse(ctx, "a,b\n,1\n,2\n", 10, "t.csv", &set, &data), MERCER_DATA, "none is left");
    close_clean(ctx);
}

static void test_a_name_that_stands_twice_names_no_column(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = NULL;
    mercer_read set = mercer_read_defaults();
    set.target = "a";
    assert_fails(ctx, mc_data_parse(ctx, "a,a,b\n1,2,3\n", 12, "t.csv", &set, &data), MERCER_DATA,
                 "two columns named 'a' (1 and 2); give the target by place");
    set.target = "2";
    assert_ok(ctx, mc_data_parse(ctx, "a,a,b\n1,2,3\n", 12, "t.csv", &set, &data));
    assert_true(mercer_data_target(data, 0, 0) == 2);
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_numbers_with_commas_are_classes_when_asked_for(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_data *data = NULL;
    mercer_read set = mercer_read_defaults();
    set.kind = MERCER_TARGET_CLASS;
    assert_ok(ctx, mc_data_parse(ctx, "a;y\n1;1,5\n2;2,5\n", 16, "t.csv", &set, &data));
    assert_int_equal(mercer_data_classes(data), 2);
    assert_string_equal(mercer_data_label(data, 0), "1,5");
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_malformed_text_is_named(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    static const struct {
        const char *text, *message;
        int line;
    } cases[] = {
        {"a,b\n1,2\n3\n", "line 3: 1 field where the first record has 2", 3},
        {"a,b\n1,2\n3,4,5\n", "line 3: 3 fields where the first record has 2", 3},
        {"a,b\n1,2\n\"3,4\n", "line 3: the double quote that opens here is never closed", 3},
        {"a,b\n1,2\n3\",4\n", "line 3: a double quote stands inside", 3},
        {"a,b\n1,2\n\"3\"x,4\n", "line 3: text follows the closing double quote", 3},
        {"a,b\n1,2\n3,inf\n", "line 3, column 2 ('b'): the value is infinite", 3},
        {"a,b\n1,2\n3,1e999\n", "line 3, column 2 ('b'): the value is infinite", 3},
        {"a,b\n1,2\n2.5,3\n1.2.3,4\n7,8\n", "line 4, column 1 ('a'): expected a number, found '1.2.3'", 4},
        {"a,b\n\"1\n\n\",2\n3,4\nx\n", "line 6: 1 field", 6},
        {"1,2\r3,4\r5,6\r", "line 1: a carriage return stands inside a field", 1},
        {"a;b\n1,5;2\n2,5;3\n",
         "line 2, column 1 ('a'): expected a number, found '1,5'; write a decimal comma as a point", 2},
        {"a,b\n1,2\n\"1,234.5\",3\n", "line 3, column 1 ('a'): expected a number, found '1,234.5'; write", 3},
        {"# made by hand\na,b\n1,2\n", "line 2: 2 fields where the first record has 1; that one begins with #", 2},
        {"1 2 3\n4 5 6\n", "line 1: one field, '1 2 3'; commas, semicolons or tabs separate fields", 1},
        {"a,b,c\n", "a header and no rows", -1},
        {"\n \n", "is empty", -1},
        {"", "is empty", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mercer_data *data = NULL;
        assert_fails(ctx, mc_data_parse(ctx, cases[i].text, (int64_t)strlen(cases[i].text), "t.csv", NULL, &data),
                     MERCER_DATA, cases[i].message);
        assert_int_equal(mercer_message_offset(ctx), cases[i].line);
        assert_null(data);
    }
    mercer_data *data = NULL;
    assert_fails(ctx, mc_data_parse(ctx, "1,2\n3,\0\n", 8, "t.csv", NULL, &data), MERCER_DATA, "line 2: a zero byte");
    assert_fails(ctx,
                 mc_data_parse(ctx,
                               "\xff\xfe"
                               "1\0,\0",
                               6, "t.csv", NULL, &data),
                 MERCER_DATA, "is UTF-16 text; convert it");
    assert_fails(ctx, mc_data_parse(ctx, "PK\3\4\0\0", 6, "t.csv", NULL, &data), MERCER_DATA, "is a zip archive");
    mercer_read set = mercer_read_defaults();
    set.dtype = MERCER_F32;
    assert_fails(ctx, mc_data_parse(ctx, "1,2\n1e39,3\n", 11, "t.csv", &set, &data), MERCER_DATA,
                 "line 2, column 1: 1e+39 is out of the range");
    set.weights = "w";
    assert_fails(ctx, mc_data_parse(ctx, "w,x,y\n1,2,3\n-1,2,3\n", 19, "t.csv", &set, &data), MERCER_DATA,
                 "line 3, column 1 ('w')");
    close_clean(ctx);
}

static void test_mixed_columns(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    char text[4096] = "doors,y\n"; /* 2, 3, 4 and "5more": names of classes, some of which are numbers */
    for (int i = 0; i < 100; i++)
        sprintf(text + strlen(text), "%s,%d.5\n", i % 5 == 4 ? "5more" : i % 2 ? "2" : "3.0", i);
    mercer_data *data = parse(ctx, text, NULL);
    assert_int_equal(mercer_data_columns(data), 3);
    assert_string_equal(mercer_data_column_name(data, 1), "doors=3.0"); /* verbatim */
    mercer_data_free(data);
    close_clean(ctx);
}

/* A column that looks like numbers for two thousand rows and then shows text among few whole numbers: read again as
   text. */
static void test_text_far_down_is_found(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    char *text = test_malloc(1 << 16);
    strcpy(text, "doors,y\n");
    size_t n = strlen(text);
    for (int i = 0; i < 3000; i++)
        n += (size_t)sprintf(text + n, "%s,%d.5\n", i >= 2000 && i % 7 == 0 ? "many" : i % 2 ? "2" : "3", i);
    mercer_data *data = parse(ctx, text, NULL);
    assert_int_equal(mercer_data_columns(data), 3);
    assert_string_equal(mercer_data_column_name(data, 2), "doors=many");
    mercer_data_free(data);
    test_free(text);
    close_clean(ctx);
}

static void test_weights_come_apart(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(0);
    mercer_read set = mercer_read_defaults();
    set.weights = "w";
    mercer_data *data = parse(ctx, "x,w,y\n1,2,0.5\n3,0,1.5\n", &set);
    assert_int_equal(mercer_data_columns(data), 1);
    assert_true(data->weight[0] == 2 && data->weight[1] == 0);
    mercer_data_free(data);
    close_clean(ctx);
}

/* Random tables with quotes, CRLF and blank lines: the same values and the same bits on 1 to 4 threads. */
static char *random_text(mc_rng *rng, int rows, double *value, int *words) {
    char *text = test_malloc((size_t)rows * 80 + 100);
    size_t n = (size_t)sprintf(text, "a,word,b,y\n");
    static const char *const word[] = {"alpha", "\"be,ta\"", "\"ga\"\"mma\"", "\"del\nta\""};
    for (int i = 0; i < rows; i++) {
        words[i] = (int)mc_rng_below(rng, 4);
        value[3 * i] = mc_rng_normal(rng);
        value[3 * i + 1] = (double)mc_rng_below(rng, 1000);
        value[3 * i + 2] = mc_rng_normal(rng) * 1e-300;
        n += (size_t)sprintf(text + n, "%.17g,%s,%s%g%s,%.17g%s", value[3 * i], word[words[i]], i % 3 ? "" : "\"",
                             value[3 * i + 1], i % 3 ? "" : "\"", value[3 * i + 2],
                             i % 2   ? "\r\n"
                             : i % 5 ? "\n"
                                     : "\n\n");
    }
    return text;
}

static void test_large_text_reads_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    enum { N = 60000 };
    double *value = test_malloc(3 * N * sizeof *value);
    int *words = test_malloc(N * sizeof *words);
    mc_rng rng = mc_rng_at(test_seed(), MC_STREAM_TEST, 40);
    char *text = random_text(&rng, N, value, words);
    for (int threads = 1; threads <= 4; threads++) {
        mercer_ctx *ctx = open_ctx(threads);
        mercer_data *data = parse(ctx, text, NULL);
        assert_int_equal(mercer_data_rows(data), N);
        assert_int_equal(mercer_data_columns(data), 6);
        static const int place[] = {0, 1, 3, 2}; /* alpha, be,ta, ga"mma, del\nta among the sorted levels */
        for (int i = 0; i < N; i++) {
            double row[6];
            mercer_data_row(data, i, row);
            assert_true(row[0] == value[3 * i] && row[5] == value[3 * i + 1] && data->target[i] == value[3 * i + 2]);
            for (int k = 0; k < 4; k++)
                assert_true(row[1 + k] == (k == place[words[i]]));
        }
        mercer_data_free(data);
        close_clean(ctx);
    }
    test_free(text);
    test_free(words);
    test_free(value);
}

static void test_subnormals_survive(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    mercer_data *data = parse(ctx, "4.9e-324,1\n2.5e-310,2\n", NULL);
    const double expected[] = {4.9e-324, 2.5e-310};
    assert_memory_equal(data->values, expected, sizeof expected);
    mercer_data_free(data);
    close_clean(ctx);
}

/* A first record of many columns and many empty lines claims a table that its delimiters cannot fill. */
static void test_a_file_that_lies_costs_no_memory(void **state) {
    (void)state;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 64 << 20;
    mercer_ctx *ctx = NULL;
    assert_int_equal(mercer_open(&options, &ctx), MERCER_OK);
    enum { COMMAS = 1 << 20, LINES = 1 << 20 };
    char *text = test_malloc(COMMAS + 2 * LINES + 1);
    memset(text, ',', COMMAS);
    for (int i = 0; i < LINES; i++)
        memcpy(text + COMMAS + 2 * i, "\n1", 2);
    mercer_data *data = NULL;
    assert_fails(ctx, mc_data_parse(ctx, text, COMMAS + 2 * LINES, "t.csv", NULL, &data), MERCER_DATA,
                 "line 2: 1 field");
    assert_true(mercer_memory_peak(ctx) < 32 << 20);
    test_free(text);
    close_clean(ctx);
}

/* Long lines and long runs of blank lines must not make every piece of the text look through the rest of it. */
static void test_one_line_and_blank_lines_of_many_megabytes(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    enum { SIZE = 8 << 20 };
    char *text = test_malloc(SIZE);
    enum { CELL = 8192 }; /* 0.777..., */
    for (int i = 0; i < SIZE; i++)
        text[i] = "0.777777"[i % CELL < 8 ? i % CELL : 7];
    for (int i = CELL - 1; i < SIZE; i += CELL)
        text[i] = i == SIZE - 1 ? '\n' : ',';
    mercer_data *data = NULL;
    assert_ok(ctx, mc_data_parse(ctx, text, SIZE, "t.csv", NULL, &data));
    assert_int_equal(mercer_data_columns(data), SIZE / CELL - 1);
    mercer_data_free(data);
    memset(text, '\n', SIZE);
    memcpy(text + SIZE - 8, "1,2\n3,4\n", 8);
    memcpy(text, "5,6\n", 4);
    assert_ok(ctx, mc_data_parse(ctx, text, SIZE, "t.csv", NULL, &data));
    assert_int_equal(mercer_data_rows(data), 3);
    mercer_data_free(data);
    test_free(text);
    close_clean(ctx);
}

static mercer_status read_all(mercer_ctx *ctx, void *arg) {
    const char *text = arg;
    mercer_data *data = NULL;
    mercer_read set = mercer_read_defaults();
    set.missing = MERCER_MISSING_MEAN;
    set.text = "t";
    set.weights = "w";
    const mercer_status status = mc_data_parse(ctx, text, (int64_t)strlen(text), "t.csv", &set, &data);
    mercer_data_free(data);
    return status;
}

static void test_reading_survives_failing_memory(void **state) {
    (void)state;
    char text[] = "a,t,w,c,y\n1,\"x\"\"x\",1,red,p\n,y,2,\"b\"\"e\",q\n3,z,1,?,p\n";
    assert_survives_failing_memory(read_all, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_with_and_without_header),
        cmocka_unit_test(test_target_by_name_place_and_several),
        cmocka_unit_test(test_classes_from_text_and_from_few_whole_numbers),
        cmocka_unit_test(test_text_columns_become_one_hot),
        cmocka_unit_test(test_text_can_be_kept_as_strings),
        cmocka_unit_test(test_free_text_is_found),
        cmocka_unit_test(test_header_rule),
        cmocka_unit_test(test_missing_cells_are_named_filled_or_dropped),
        cmocka_unit_test(test_a_name_that_stands_twice_names_no_column),
        cmocka_unit_test(test_numbers_with_commas_are_classes_when_asked_for),
        cmocka_unit_test(test_malformed_text_is_named),
        cmocka_unit_test(test_mixed_columns),
        cmocka_unit_test(test_text_far_down_is_found),
        cmocka_unit_test(test_weights_come_apart),
        cmocka_unit_test(test_large_text_reads_the_same_on_any_number_of_threads),
        cmocka_unit_test(test_subnormals_survive),
        cmocka_unit_test(test_a_file_that_lies_costs_no_memory),
        cmocka_unit_test(test_one_line_and_blank_lines_of_many_megabytes),
        cmocka_unit_test(test_reading_survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

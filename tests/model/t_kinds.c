/* Fields of a model file that are right one by one and wrong together: each of these once reached a verb. The files are
   those of the fuzz target fuzz/structure, changed in the places named, with a right checksum. */
#include "../fuzz/structure/mutate.h"
#include "../fuzz/structure/zoo.h"
#include "model/model.h"
#include "support.h"
#include <stdlib.h>
#include <string.h>

static zoo animals;

static const specimen *find(const char *name) {
    for (int k = 0; k < animals.count; k++)
        if (strstr(animals.one[k].name, name))
            return &animals.one[k];
    fail_msg("there is no '%s'", name);
    return NULL;
}

/* "key=value key=value": words or numbers; "key" alone: the field goes. */
static void edit(parts *p, const char *edits) {
    char copy[256], *rest = copy;
    snprintf(copy, sizeof copy, "%s", edits);
    for (char *word; (word = strsep(&rest, ";"));) {
        char *value = strchr(word, '=');
        int k = 0;
        if (value)
            *value++ = '\0';
        while (k < p->fields && strcmp(p->field[k].key, word) != 0)
            k++;
        if (!value && k == p->fields)
            continue; /* it is not there as it is */
        if (!value) {
            p->fields--;
            memmove(&p->field[k], &p->field[k + 1], (size_t)(p->fields - k) * sizeof(field));
            continue;
        }
        p->fields += k == p->fields;
        snprintf(p->field[k].key, sizeof p->field[k].key, "%s", word);
        snprintf(p->field[k].value, sizeof p->field[k].value, "\"%s\"", value);
    }
}

static mercer_status load_edited(mercer_ctx *ctx, const char *name, const char *edits) {
    static parts p;
    static unsigned char bytes[FILE_MOST];
    const specimen *one = find(name);
    mercer_model *model = NULL;
    assert_true(parts_of(one->bytes, one->size, &p));
    edit(&p, edits);
    const mercer_status status = mercer_model_from_memory(ctx, bytes, parts_join(&p, bytes), &model);
    mercer_model_free(model);
    return status;
}

static void test_fields_that_do_not_go_together_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *edits, *why;
    } lies[] = {
        {"ridge rbf", "machine=logistic", "logistic by cholesky has classes"},
        {"ridge rbf", "machine=gp", "noise"},
        {"ridge rbf", "machine=*/ int evil; /*", "which Mercer does not have"},
        {"ridge rbf", "machine=ridge|gp", "which Mercer does not have"},
        {"ridge rbf", "solver=fourier", "does not have 11 centres"},
        {"ridge rbf", "solver=smo", "which Mercer does not have"},
        {"ridge rbf", "solver=primal;primal=kept;features=3", "centres"},
        {"ridge rbf", "form=pairs", "form"},
        {"ridge rbf", "form=neighbours;neighbors=2", "form"},
        {"ridge rbf", "labels=[\\\"a\\\"]", "classes"},
        {"ridge rbf", "weighting=distance", "neighbours"},
        {"of LIBSVM", "row=kept", "places of its centres"},
        {"ridge rbf", "row=lost", "not 'kept'"},
        {"ridge rbf", "rows=2", "keeps 11"},
        {"ridge rbf", "stopped=\\u001b[31m", "no meaning"},
        {"ridge rbf", "certificate.kind=*/", "no meaning"},
        {"svc rbf(gamma=0.5), C=1, data 2", "machine=ridge", "which Mercer does not have"},
        {"svc rbf(gamma=0.5), C=1, data 2", "machine=svr", "svr by smo has no classes"},
        {"svc rbf(gamma=0.5), C=1, data 2", "form=values", "form"},
        {"svc rbf(gamma=0.5), C=1, data 2", "labels", "has classes"},
        {"svc rbf(gamma=0.5), C=1, data 2", "labels=[\\\"a\\\",\\\"a\\\"]", "two of its classes"},
        {"svc linear", "kernel=rbf(gamma=1)", "weighs"},
        {"one-class", "labels=[\\\"in\\\",\\\"out\\\"]", "sides of its region"},
        {"logistic rbf(gamma=0.5), lambda=0.1 scale", "form=pairs", "form"},
        {"lms poly", "kernel=poly(degree=3)", "features"},
        {"ridge poly(degree=2, c=1)", "solver=cholesky", "weights of features"},
        {"knn linear", "neighbors=12", "12 neighbours among 11"},
        {"ridge rbf", "search=[1]", "no object of JSON"},
        {"ridge rbf", "search={", "'search', byte"},
        {"pca", "labels=[\\\"a\\\",\\\"b\\\"]", "has no classes"},
    };
    mercer_ctx *ctx = open_ctx(1);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const mercer_status status = load_edited(ctx, lies[i].name, lies[i].edits);
        if (status != MERCER_FORMAT || !strstr(mercer_message(ctx), lies[i].why))
            fail_msg("%s with %s: wanted '%s', got %s: %s", lies[i].name, lies[i].edits, lies[i].why,
                     mercer_status_name(status), mercer_message(ctx));
    }
    close_clean(ctx);
}

static void test_every_kind_of_model_is_one_that_loads(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    for (int k = 0; k < animals.count; k++) {
        mercer_model *model = NULL;
        const mercer_status status = mercer_model_from_memory(ctx, animals.one[k].bytes, animals.one[k].size, &model);
        if (status)
            fail_msg("%s: %s", animals.one[k].name, mercer_message(ctx));
        mercer_model_free(model);
    }
    close_clean(ctx);
}

/* ---- Exports ---- */

static mercer_model *load(mercer_ctx *ctx, const char *name, const char *edits) {
    static parts p;
    static unsigned char bytes[FILE_MOST];
    const specimen *one = find(name);
    mercer_model *model = NULL;
    assert_true(parts_of(one->bytes, one->size, &p));
    edit(&p, edits);
    assert_ok(ctx, mercer_model_from_memory(ctx, bytes, parts_join(&p, bytes), &model));
    return model;
}

static const char *exported(mercer_ctx *ctx, const mercer_model *model, const char *format) {
    static char text[1 << 16];
    assert_ok(ctx, mercer_model_export(ctx, model, format, "t_kinds.exported"));
    FILE *file = fopen("t_kinds.exported", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove("t_kinds.exported");
    return text;
}

/* Whatever a machine or a class is called. */
static void test_words_do_not_become_code(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = load(ctx, "logistic rbf(gamma=0.5), lambda=0.1, data 2",
                               "labels=[\\\"a\\\\\\\", evil1 = 1, //\\\",\\\"\\\\n?\?/\\\"]");
    model->f.report.machine = "*/ int evil2; /*\n#error \\"; /* a loader would refuse it */
    const char *text = exported(ctx, model, "c");
    assert_null(strstr(text, "*/ int"));
    assert_null(strstr(text, "\n#error"));
    assert_null(strstr(text, "\", evil1"));
    assert_null(strstr(text, "?\?/"));
    assert_non_null(strstr(text, "\"a\\042, evil1 = 1, //\""));
    assert_non_null(strstr(text, "\"\\012\\077\\077/\""));
    mercer_model_free(model);
    close_clean(ctx);
}

/* LIBSVM reads digits: 1e3 would be 1, and 1 and 1.0 are one label. */
static void test_labels_for_libsvm_are_written_as_numbers(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    mercer_model *model = load(ctx, "svc rbf(gamma=0.5), C=1, data 2", "labels=[\\\"-0\\\",\\\"1e3\\\"]");
    assert_non_null(strstr(exported(ctx, model, "libsvm"), "\nlabel 0 1000\n"));
    mercer_model_free(model);
    model = load(ctx, "svc rbf(gamma=0.5), C=1, data 2", "labels=[\\\"1\\\",\\\"1.0\\\"]");
    assert_fails(ctx, mercer_model_export(ctx, model, "libsvm", "t_kinds.exported"), MERCER_INVALID,
                 "one label of LIBSVM");
    mercer_model_free(model);
    close_clean(ctx);
}

static int set_up(void **state) {
    (void)state;
    mercer_ctx *ctx = zoo_context();
    zoo_open(ctx, &animals);
    mercer_close(ctx);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    zoo_close(&animals);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_that_do_not_go_together_are_refused),
        cmocka_unit_test(test_every_kind_of_model_is_one_that_loads),
        cmocka_unit_test(test_words_do_not_become_code),
        cmocka_unit_test(test_labels_for_libsvm_are_written_as_numbers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

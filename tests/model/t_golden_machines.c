/* A model file of every machine, form and solver, as versions before wrote it, in tests/golden/machines: each must
   load, predict what it always did, and be saved again byte for byte. golden.txt has a line for each: the file, the
   data it is asked about (fuzz/structure/zoo.h), and the values.

   `model_golden_machines write FOLDER` makes files and lines anew: for a new format, beside the old ones. */
#include "../fuzz/structure/zoo.h"
#include "support.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 11 * 12, LINE = 1 << 13 };

static const char *path_of(const char *folder, const char *name) {
    static char path[800];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *golden(void) {
    static char folder[500];
    const char *tests = getenv("MERCER_TESTS");
    snprintf(folder, sizeof folder, "%s/golden/machines", tests ? tests : "tests");
    return folder;
}

static int64_t predict(mercer_ctx *ctx, const mercer_model *model, int set, double *out) {
    mercer_data *data = zoo_data(ctx, set);
    const int64_t cells = mercer_data_rows(data) * mercer_model_outputs(model);
    assert_true(cells <= CELLS);
    assert_ok(ctx, mercer_predict(ctx, model, data, out));
    mercer_data_free(data);
    return cells;
}

/* ---- One file ---- */

static void check_values(mercer_ctx *ctx, const mercer_model *model, const char *name, int set, char *values) {
    double out[CELLS];
    const int64_t cells = predict(ctx, model, set, out);
    for (int64_t i = 0; i < cells; i++) {
        char *end;
        const double expected = strtod(values, &end);
        if (end == values || !(fabs(out[i] - expected) <= 1e-12 * (1 + fabs(expected))))
            fail_msg("%s, value %lld: %.17g instead of %.17g", name, (long long)i + 1, out[i], expected);
        values = end;
    }
    assert_int_equal(strspn(values, " \n"), strlen(values)); /* no value is left over */
}

static void check_bytes(mercer_ctx *ctx, const mercer_model *model, const char *name) {
    static unsigned char old[1 << 16], new[1 << 16];
    size_t size = 0;
    FILE *file = fopen(path_of(golden(), name), "rb");
    assert_non_null(file);
    const size_t length = fread(old, 1, sizeof old, file);
    fclose(file);
    assert_ok(ctx, mercer_model_to_memory(ctx, model, new, sizeof new, &size));
    if (size != length || memcmp(old, new, size) != 0)
        fail_msg("%s: saved again it is another file", name);
}

/* "FILE SET VALUES": the machine's name goes to machine. */
static void check_line(mercer_ctx *ctx, char *line, char *machine) {
    char name[200];
    int set, length;
    mercer_model *model = NULL;
    assert_int_equal(sscanf(line, "%199s %d%n", name, &set, &length), 2);
    assert_ok(ctx, mercer_model_load(ctx, path_of(golden(), name), &model));
    check_values(ctx, model, name, set, line + length);
    check_bytes(ctx, model, name);
    snprintf(machine, 24, "%s", mercer_model_report(model)->machine);
    mercer_model_free(model);
}

static void test_files_of_every_machine_stay_what_they_are(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(2);
    int count = 0;
    bool seen[64] = {false};
    char line[LINE], machine[24];
    FILE *file = fopen(path_of(golden(), "golden.txt"), "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); count++) {
        check_line(ctx, line, machine);
        for (int k = 0; mercer_machine_at(k); k++)
            seen[k] = seen[k] || strcmp(mercer_machine_at(k)->name, machine) == 0;
    }
    fclose(file);
    assert_true(count >= 60);
    for (int k = 0; mercer_machine_at(k); k++)
        if (!seen[k])
            fail_msg("the machine %s has no golden file", mercer_machine_at(k)->name);
    close_clean(ctx);
}

/* ---- Writing them ---- */

static void write_one(mercer_ctx *ctx, const specimen *one, int number, const char *folder, FILE *lines) {
    char name[64];
    double out[CELLS];
    mercer_model *model = NULL;
    assert_ok(ctx, mercer_model_from_memory(ctx, one->bytes, one->size, &model));
    snprintf(name, sizeof name, "%02d-%s.mercer", number, mercer_model_report(model)->machine);
    assert_ok(ctx, mercer_model_save(ctx, model, path_of(folder, name)));
    const int64_t cells = predict(ctx, model, one->set, out);
    fprintf(lines, "%s %d", name, one->set);
    for (int64_t i = 0; i < cells; i++)
        fprintf(lines, " %.17g", out[i]);
    fprintf(lines, "\n");
    mercer_model_free(model);
}

static int write_files(const char *folder) {
    static zoo animals;
    mercer_ctx *ctx = zoo_context();
    zoo_open(ctx, &animals);
    FILE *lines = fopen(path_of(folder, "golden.txt"), "w");
    assert_non_null(lines);
    for (int k = 0; k < animals.count; k++)
        if (strcmp(animals.one[k].name, "of LIBSVM") != 0) /* t_libsvm.c has their files */
            write_one(ctx, &animals.one[k], k + 1, folder, lines);
    fclose(lines);
    zoo_close(&animals);
    mercer_close(ctx);
    return 0;
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "write") == 0)
        return write_files(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_every_machine_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

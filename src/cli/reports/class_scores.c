/* class_scores.c: how good predictions are class by class: precision, recall and F1 of each, and which classes are
   taken for which. All of it is counted from one table, the confusion that mercer_score_classes fills. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 30, WORST_LISTED = 10 }; /* classes: all up to so many, beyond them the worst */

/* entry: (classes + 1) x classes; the last row is of labels that the model does not know. */
typedef struct confusion_table {
    int64_t classes;
    const double *entry;
} confusion_table;

static double right_of(const confusion_table *t, int64_t k) {
    return t->entry[k * (t->classes + 1)];
}

static double weight_of_row(const confusion_table *t, int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j < t->classes; j++)
        sum += t->entry[k * t->classes + j];
    return sum;
}

static double weight_of_column(const confusion_table *t, int64_t k) {
    double sum = 0;
    for (int64_t j = 0; j <= t->classes; j++)
        sum += t->entry[j * t->classes + k];
    return sum;
}

/* A class without rows has no recall, one that no row was given no precision. */
static json_t *json_class(const confusion_table *t, const mercer_model *model, int64_t k) {
    const double rows = weight_of_row(t, k), predicted = weight_of_column(t, k), right = right_of(t, k);
    json_t *object = json_object();
    json_put(object, "class", json_text(mercer_model_label(model, k)));
    json_put(object, "rows", json_value(rows));
    json_put(object, "predicted", json_value(predicted));
    json_put(object, "precision", json_value(right / predicted));
    json_put(object, "recall", json_value(right / rows));
    json_put(object, "f1", json_value(2 * right / (rows + predicted)));
    return object;
}

void json_put_class_scores(json_t *object, const mercer_model *model, const double *confusion) {
    const confusion_table t = {mercer_model_classes(model), confusion};
    json_t *list = json_array(), *table = json_array();
    for (int64_t k = 0; k < t.classes; k++) {
        json_array_append_new(list, json_class(&t, model, k));
        json_array_append_new(table, json_values(t.entry + k * t.classes, t.classes));
    }
    json_put(object, "classes", list);
    json_put(object, "confusion", table);
    if (weight_of_row(&t, t.classes) > 0)
        json_put(object, "unknown", json_values(t.entry + t.classes * t.classes, t.classes));
}

/* ---- For people ---- */

static const char *label_of(const json_t *class) {
    return json_string_value(json_object_get(class, "class"));
}

/* A class that was neither met nor predicted has no F1: nothing is wrong with it, it comes last. */
static double f1_of(const json_t *class) {
    const json_t *f1 = json_object_get(class, "f1");
    return json_is_number(f1) ? json_number_value(f1) : 2;
}

static int by_f1(const void *left, const void *right) {
    const json_t *a = *(json_t *const *)left, *b = *(json_t *const *)right;
    return f1_of(a) == f1_of(b) ? strcmp(label_of(a), label_of(b)) : f1_of(a) < f1_of(b) ? -1 : 1;
}

static int say_worst_classes(session *s, const json_t *list, const report_column *columns) {
    const size_t count = json_array_size(list);
    json_t **order = session_take(s, (int64_t)count, 1, sizeof(json_t *));
    if (!order)
        return EXIT_MEMORY;
    for (size_t k = 0; k < count; k++)
        order[k] = json_array_get(list, k);
    qsort(order, count, sizeof *order, by_f1);
    for (size_t k = 0; k < WORST_LISTED; k++)
        say_row(s, order[k], columns, "");
    say_text(s, "the %d of %zu classes with the lowest F1; --json has them all\n", WORST_LISTED, count);
    free(order);
    return EXIT_DONE;
}

int say_class_scores(session *s, const json_t *object) {
    static const report_column columns[] = {{"precision", "precision", 10, ".4f"},
                                            {"recall", "recall", 9, ".4f"},
                                            {"f1", "F1", 9, ".4f"},
                                            {"rows", "rows", 9, ".6g"},
                                            {"class", " class", -1, ""},
                                            {0}};
    const json_t *list = json_object_get(object, "classes");
    const size_t count = json_array_size(list);
    if (!prints_report(s) || count == 0)
        return EXIT_DONE;
    say_titles(s, columns);
    if (count > MOST_LISTED)
        return say_worst_classes(s, list, columns);
    for (size_t k = 0; k < count; k++)
        say_row(s, json_array_get(list, k), columns, "");
    return EXIT_DONE;
}

/* Of a column: the longest label, and counts up to a million. */
static int column_width(const json_t *list) {
    size_t width = 7;
    for (size_t j = 0; j < json_array_size(list); j++) {
        const size_t length = strlen(label_of(json_array_get(list, j)));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void say_confusion_row(session *s, const json_t *row, int width, const char *label) {
    for (size_t j = 0; j < json_array_size(row); j++)
        say_text(s, " %*.6g", width, json_number_value(json_array_get(row, j)));
    say_text(s, "  %s\n", label);
}

void say_confusion(session *s, const json_t *object) {
    const json_t *list = json_object_get(object, "classes"), *table = json_object_get(object, "confusion");
    const json_t *unknown = json_object_get(object, "unknown");
    if (!prints_report(s) || !list)
        return;
    const int width = column_width(list);
    say_text(s, "\npredicted:\n");
    for (size_t j = 0; j < json_array_size(list); j++)
        say_text(s, " %*s", width, label_of(json_array_get(list, j)));
    say_text(s, "  rows of class\n");
    for (size_t k = 0; k < json_array_size(list); k++)
        say_confusion_row(s, json_array_get(table, k), width, label_of(json_array_get(list, k)));
    if (unknown)
        say_confusion_row(s, unknown, width, "(classes that the model does not know)");
}

/* show_rows.c: mercer show MODEL --rows DATA: how a support vector machine stands with every row it was fitted to:
   margin, slack, multiplier, and whether the row is free, bounded or unused. One line for each row and decision it
   takes part in. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {[MERCER_VECTOR_ABSENT] = "absent",
                                     [MERCER_VECTOR_UNUSED] = "unused",
                                     [MERCER_VECTOR_FREE] = "free",
                                     [MERCER_VECTOR_BOUNDED] = "bounded"};

typedef struct shown_rows {
    mercer_model *model;
    mercer_data *data;
    mercer_svm_view *view; /* n x decisions */
    int64_t n, decisions;
} shown_rows;

/* What one decision adds up to. */
typedef struct total {
    int64_t count[4];
    double slack;
} total;

static total total_of(const shown_rows *r, int64_t k) {
    total t = {{0}, 0};
    for (int64_t i = 0; i < r->n; i++) {
        const mercer_svm_view *v = &r->view[i * r->decisions + k];
        t.count[v->state]++;
        t.slack += v->state == MERCER_VECTOR_ABSENT ? 0 : v->slack;
    }
    return t;
}

static bool has_numbers(const shown_rows *r) {
    return mercer_model_classes(r->model) == 0;
}

decision_name name_decision(const mercer_model *model, int64_t k) {
    decision_name name;
    int64_t first, second;
    mercer_model_decision(model, k, &first, &second);
    if (first < 0)
        snprintf(name.bytes, sizeof name.bytes, "%s", mercer_model_target_name(model, k));
    else
        snprintf(name.bytes, sizeof name.bytes, "%s%s%s", mercer_model_label(model, first), second < 0 ? "" : "_",
                 second < 0 ? "" : mercer_model_label(model, second));
    return name;
}

/* ---- CSV ---- */

static void write_lines(FILE *out, const void *arg) {
    const shown_rows *r = arg;
    char number[32];
    fprintf(out, "row,decision,%s,slack,alpha,state\n", has_numbers(r) ? "residual" : "margin");
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t k = 0; k < r->decisions; k++) {
            const mercer_svm_view *v = &r->view[i * r->decisions + k];
            if (v->state == MERCER_VECTOR_ABSENT)
                continue;
            fprintf(out, "%lld,", (long long)i + 1);
            csv_field(out, "", name_decision(r->model, k).bytes);
            fprintf(out, ",%s", mc_number_text(v->margin, number));
            fprintf(out, ",%s", mc_number_text(v->slack, number));
            fprintf(out, ",%s,%s\n", mc_number_text(v->alpha, number), states[v->state]);
        }
}

/* ---- JSON ---- */

static json_t *json_line(const shown_rows *r, int64_t i, int64_t k, const char *name) {
    const mercer_svm_view *v = &r->view[i * r->decisions + k];
    json_t *one = json_object();
    json_put(one, "row", json_integer(i + 1));
    json_put(one, "decision", json_text(name));
    json_put(one, has_numbers(r) ? "residual" : "margin", json_value(v->margin));
    json_put(one, "slack", json_value(v->slack));
    json_put(one, "alpha", json_value(v->alpha));
    json_put(one, "state", json_text(states[v->state]));
    return one;
}

static json_t *json_total(const shown_rows *r, int64_t k, const char *name) {
    const total t = total_of(r, k);
    const mercer_svm_box box = mercer_model_box(r->model, k);
    json_t *one = json_object();
    json_put(one, "decision", json_text(name));
    json_put(one, "C", json_value(box.C));
    json_put(one, "epsilon", has_numbers(r) ? json_value(box.epsilon) : json_null());
    json_put(one, "intercept", json_value(mercer_model_intercept(r->model, k)));
    for (int state = MERCER_VECTOR_UNUSED; state <= MERCER_VECTOR_BOUNDED; state++)
        json_put(one, states[state], json_integer(t.count[state]));
    json_put(one, "slack", json_value(t.slack));
    return one;
}

static json_t *json_rows(const shown_rows *r, const char *path) {
    json_t *object = json_object(), *decisions = json_array(), *lines = json_array();
    for (int64_t k = 0; k < r->decisions; k++) {
        const decision_name name = name_decision(r->model, k);
        json_array_append_new(decisions, json_total(r, k, name.bytes));
        for (int64_t i = 0; !path && i < r->n; i++)
            if (r->view[i * r->decisions + k].state != MERCER_VECTOR_ABSENT)
                json_array_append_new(lines, json_line(r, i, k, name.bytes));
    }
    json_put(object, "type", json_text("rows"));
    json_put(object, "n", json_integer(r->n));
    json_put(object, "decisions", decisions);
    json_put(object, path ? "output" : "rows", path ? json_text(path) : lines);
    if (path)
        json_decref(lines);
    return object;
}

static const report_row total_rows[] = {
    {"", NULL,
     "{decision}: C {C:.6g}[, epsilon {epsilon:.6g}]; {free} free, {bounded} bounded, {unused} unused; slacks add up "
     "to {slack:.6g}"},
    {0},
};
static const report_row written_rows[] = {{"written", NULL, "{output}"}, {0}};

/* To people the totals, where the rows are in a file. */
static int report_rows(session *s, const shown_rows *r, const char *path) {
    json_t *object = json_rows(r, path), *decisions = json_object_get(object, "decisions");
    for (size_t k = 0; path && strcmp(path, "-") != 0 && k < json_array_size(decisions); k++) {
        report_row rows_of[2] = {total_rows[0], {0}};
        rows_of[0].label = k ? "" : "decisions";
        say_fields(s, json_array_get(decisions, k), rows_of);
    }
    if (path && strcmp(path, "-") != 0)
        say_fields(s, object, written_rows);
    return json_finish(s, object);
}

static int write_svm_rows(session *s, shown_rows *r) {
    const char *path = args_text(&s->args, "output");
    TRY(input_model(s, s->args.operand[0], &r->model));
    TRY(input_data_for(s, r->model, args_text(&s->args, "rows"), MERCER_TARGET_AUTO, &r->data));
    r->n = mercer_data_rows(r->data);
    r->decisions = mercer_model_decisions(r->model);
    r->view = session_take(s, r->n, r->decisions, sizeof *r->view);
    if (!r->view)
        return EXIT_MEMORY;
    TRY_CTX(s, mercer_svm_rows(s->ctx, r->model, r->data, r->view));
    TRY(session_alive(s));
    if (path || !s->json)
        TRY(write_stream(s, path ? path : "-", write_lines, r));
    return s->json || path ? report_rows(s, r, path) : EXIT_DONE;
}

int show_rows(session *s) {
    shown_rows r = {0};
    const int code = write_svm_rows(s, &r);
    free(r.view);
    mercer_data_free(r.data);
    mercer_model_free(r.model);
    return code;
}

/* roles.c: which column is the target, the weight, text to keep, and where each column goes.

   Read afresh, columns are asked for by name or by place from 1; several are separated by commas; a name wins over a
   place. The last column is the target unless said otherwise.

   Read like earlier data, columns are found by name when both have names (the k-th of equal names is the k-th),
   otherwise by place, with or without the target columns and weight columns. A column that the schema misses is an
   error; one more, where names tell which it is, is passed over and named. */
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include "base/suggest.h"
#include "base/text.h"
#include "data/read/raw.h"

mc_title mc_column_title(const mc_raw *raw, int64_t column) {
    mc_title title;
    if (raw->column[column].name)
        mc_print(title.text, sizeof title.text, "column %lld ('%s')", (long long)column + 1,
                 mc_quote_of(raw->column[column].name, (int64_t)strlen(raw->column[column].name)).text);
    else
        mc_print(title.text, sizeof title.text, "column %lld", (long long)column + 1);
    return title;
}

/* ---- Read afresh ---- */

static bool is_name(const char *name, const char *text, size_t length) {
    return name && strlen(name) == length && memcmp(name, text, length) == 0;
}

static mercer_status fail_no_column(mercer_ctx *ctx, const mc_raw *raw, const char *what, const char *text,
                                    size_t length) {
    const char **names = NULL;
    MC_TRY(MC_ALLOC(ctx, names, raw->columns));
    long count = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].name)
            names[count++] = raw->column[j].name;
    const char *near = mc_suggest_name(text, length, names, count), *first = names[0],
               *last = count ? names[count - 1] : NULL;
    mc_free(names);
    const mc_quote seen = mc_quote_of(text, (int64_t)length);
    if (near)
        return mc_fail(ctx, MERCER_DATA, "%s has no column '%s' for the %s; did you mean '%s'?", raw->input->name,
                       seen.text, what, mc_quote_of(near, (int64_t)strlen(near)).text);
    if (count == 0)
        return mc_fail(ctx, MERCER_DATA,
                       "%s has no header, so its %lld columns have no names; give the %s by place from 1, not '%s'",
                       raw->input->name, (long long)raw->columns, what, seen.text);
    return mc_fail(ctx, MERCER_DATA, "%s has no column '%s' for the %s; it has %lld columns, from '%s' to '%s'",
                   raw->input->name, seen.text, what, (long long)raw->columns,
                   mc_quote_of(first, (int64_t)strlen(first)).text, mc_quote_of(last, (int64_t)strlen(last)).text);
}

/* The column with this name, or at this place. */
static mercer_status find_column(mercer_ctx *ctx, const mc_raw *raw, const char *what, const char *text, size_t length,
                                 int64_t *out) {
    *out = -1;
    for (int64_t j = 0; j < raw->columns; j++) {
        if (!is_name(raw->column[j].name, text, length))
            continue;
        if (*out >= 0)
            return mc_fail(ctx, MERCER_DATA, "%s has two columns named '%s' (%lld and %lld); give the %s by place",
                           raw->input->name, mc_quote_of(text, (int64_t)length).text, (long long)*out + 1,
                           (long long)j + 1, what);
        *out = j;
    }
    double place = 0;
    if (*out < 0 && length > 0 && mc_number_read(text, text + length, &place) == text + length && place >= 1
        && place <= (double)raw->columns && place == (double)(int64_t)place)
        *out = (int64_t)place - 1;
    return *out >= 0 ? MERCER_OK : fail_no_column(ctx, raw, what, text, length);
}

static mercer_status give_role(mercer_ctx *ctx, mc_raw *raw, int64_t column, mc_column_kind kind) {
    mc_file_column *c = &raw->column[column];
    if (c->kind != MC_COLUMN_NUMBER)
        return mc_fail(ctx, MERCER_DATA, "%s: %s is asked for twice; a column has one use", raw->input->name,
                       mc_column_title(raw, column).text);
    c->kind = kind;
    return MERCER_OK;
}

/* A role for every column of a list; the whole list may itself be a name. */
static mercer_status give_roles(mercer_ctx *ctx, mc_raw *raw, const char *what, const char *list, mc_column_kind kind) {
    bool whole = false;
    for (int64_t j = 0; j < raw->columns && list; j++)
        whole |= is_name(raw->column[j].name, list, strlen(list));
    for (const char *p = list; p && *p;) {
        const size_t length = whole ? strlen(p) : strcspn(p, ",");
        int64_t column = 0;
        MC_TRY(find_column(ctx, raw, what, p, length, &column));
        MC_TRY(give_role(ctx, raw, column, kind));
        p += length + (p[length] == ',');
    }
    return MERCER_OK;
}

/* The last column that is not spoken for. */
static mercer_status give_default_target(mercer_ctx *ctx, mc_raw *raw) {
    int64_t last = raw->columns - 1;
    while (last >= 0 && raw->column[last].kind != MC_COLUMN_NUMBER)
        last--;
    if (last < 0)
        return mc_fail(ctx, MERCER_DATA,
                       "%s has no column left for the target; name it, or say that there is none (target \"\")",
                       raw->input->name);
    return give_role(ctx, raw, last, MC_COLUMN_TARGET);
}

/* One column whose first field has spaces inside: they were meant to separate. */
static mercer_status refuse_spaces(mercer_ctx *ctx, const mc_raw *raw) {
    mc_cell cell = {0};
    if (raw->lines)
        mc_cell_scan(mc_record_at(raw->lines, 0), raw->lines->end, raw->delimiter, &cell);
    for (const char *p = cell.begin; p < cell.end && !cell.quoted; p++)
        if (*p == ' ')
            return mc_fail_line(ctx, raw->input, p,
                                "one field, '%s'; commas, semicolons or tabs separate fields, spaces do not",
                                mc_quote_of(cell.begin, cell.end - cell.begin).text);
    return MERCER_OK;
}

static void pass_over(mc_file_column *c) {
    c->kind = MC_COLUMN_UNUSED;
    c->skip = true;
    c->text = c->number = false;
}

static mercer_status drop_columns(mercer_ctx *ctx, const mercer_read *set, mc_raw *raw) {
    MC_TRY(give_roles(ctx, raw, "columns to drop", set->drop, MC_COLUMN_UNUSED));
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].kind == MC_COLUMN_UNUSED)
            pass_over(&raw->column[j]);
    return MERCER_OK;
}

static mercer_status roles_afresh(mercer_ctx *ctx, const mercer_read *set, mc_raw *raw) {
    MC_TRY(give_roles(ctx, raw, "weights", set->weights, MC_COLUMN_WEIGHT));
    if (!mc_read_finds_text(set))
        MC_TRY(give_roles(ctx, raw, "text", set->text, MC_COLUMN_TEXT));
    const bool none = set->kind == MERCER_TARGET_NONE || (set->target && !*set->target);
    if (!none)
        MC_TRY(set->target ? give_roles(ctx, raw, "target", set->target, MC_COLUMN_TARGET)
                           : give_default_target(ctx, raw));
    int64_t inputs = 0, weights = 0, targets = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        targets += raw->column[j].kind == MC_COLUMN_TARGET;
    if (targets > 1 && set->kind == MERCER_TARGET_CLASS)
        return mc_fail(ctx, MERCER_INVALID, "%s: '%s' names %lld targets; several targets are numbers, not classes",
                       raw->input->name, set->target, (long long)targets);
    for (int64_t j = 0; j < raw->columns; j++) {
        mc_file_column *c = &raw->column[j];
        if (c->kind == MC_COLUMN_UNUSED)
            continue;
        const bool number_target = c->kind == MC_COLUMN_TARGET && (targets > 1 || set->kind == MERCER_TARGET_NUMBER);
        c->number = c->kind == MC_COLUMN_WEIGHT || number_target;
        c->names = c->kind == MC_COLUMN_TARGET && !c->number;
        c->classes = c->names && set->kind == MERCER_TARGET_CLASS;
        c->text = c->kind == MC_COLUMN_TEXT || (c->text && !c->number);
        if (c->kind == MC_COLUMN_NUMBER && c->text)
            c->kind = MC_COLUMN_LEVELS;
        weights += c->kind == MC_COLUMN_WEIGHT;
        inputs += c->kind != MC_COLUMN_WEIGHT && c->kind != MC_COLUMN_TARGET;
        raw->order[raw->used++] = j;
    }
    if (weights > 1)
        return mc_fail(ctx, MERCER_DATA, "%s: one column of weights is enough, '%s' names %lld", raw->input->name,
                       set->weights, (long long)weights);
    if (inputs == 0 && raw->columns == 1)
        MC_TRY(refuse_spaces(ctx, raw));
    if (inputs == 0)
        return mc_fail(
            ctx, MERCER_DATA, "%s has no column left for the inputs once the target is taken%s", raw->input->name,
            set->target ? "" : "; to read its only column as input, say that there is no target (target \"\")");
    return MERCER_OK;
}

/* ---- Read like earlier data ---- */

static bool may_lack(const mc_column *column) {
    return column->kind == MC_COLUMN_TARGET || column->kind == MC_COLUMN_WEIGHT;
}

static void stand_for(mc_raw *raw, int64_t j, const mc_column *like, bool classes) {
    mc_file_column *c = &raw->column[j];
    c->like = like;
    c->kind = like->kind;
    const bool label = like->kind == MC_COLUMN_TARGET && classes;
    c->text = like->kind == MC_COLUMN_LEVELS || like->kind == MC_COLUMN_TEXT || (label && c->text);
    c->number = !c->text && !label;
    c->names = c->classes = label;
    raw->order[raw->used++] = j;
}

/* A column of this name not taken yet. The search begins where the last one ended: most files keep the order. */
static int64_t find_free(const mc_raw *raw, const char *name, int64_t from) {
    for (int64_t i = 0; i < raw->columns; i++) {
        const int64_t j = from + i < raw->columns ? from + i : from + i - raw->columns;
        if (!raw->column[j].like && !raw->column[j].skip && raw->column[j].name
            && strcmp(raw->column[j].name, name) == 0)
            return j;
    }
    return -1;
}

/* A column that the model has not is passed over, and named in what is said of the data. */
static mercer_status pass_over_others(mercer_ctx *ctx, mc_raw *raw) {
    mc_text names = mc_text_open(ctx);
    for (int64_t j = 0; j < raw->columns; j++) {
        mc_file_column *c = &raw->column[j];
        if (c->like || c->skip || c->kind == MC_COLUMN_WEIGHT)
            continue;
        pass_over(c);
        mc_text_add(&names, "%s%s", names.length ? ", " : "", mc_column_title(raw, j).text);
    }
    if (names.length)
        return mc_text_take(&names, &raw->unused);
    const mercer_status status = names.status;
    mc_text_close(&names);
    return status;
}

/* Rows of a Gram matrix may come with a column of serial numbers, which the training file had not. */
static void match_serial(const mc_schema *schema, mc_raw *raw) {
    static const mc_column serial = {.name = "serial", .kind = MC_COLUMN_NUMBER};
    const int64_t j = schema->serial ? find_free(raw, "serial", 0) : -1;
    if (j >= 0)
        stand_for(raw, j, &serial, false);
}

/* The nearest of the columns that stand for nothing else; NULL: none is near. */
static mercer_status near_free(mercer_ctx *ctx, const mc_raw *raw, const char *name, const char **out) {
    const char **names = NULL;
    long count = 0;
    MC_TRY(MC_ALLOC(ctx, names, raw->columns));
    for (int64_t j = 0; j < raw->columns; j++)
        if (raw->column[j].name && !raw->column[j].like)
            names[count++] = raw->column[j].name;
    *out = mc_suggest_name(name, strlen(name), names, count);
    mc_free(names);
    return MERCER_OK;
}

static mercer_status fail_lacks(mercer_ctx *ctx, const mc_raw *raw, const char *name) {
    const char *near = NULL;
    if (!name)
        return mc_fail(ctx, MERCER_DATA, "%s lacks a column without a name, which the model was fitted on",
                       raw->input->name);
    MC_TRY(near_free(ctx, raw, name, &near));
    const mc_quote lacking = mc_quote_of(name, (int64_t)strlen(name));
    if (near)
        return mc_fail(ctx, MERCER_DATA,
                       "%s lacks column '%s', which the model was fitted on; is it '%s' there? Rename it",
                       raw->input->name, lacking.text, mc_quote_of(near, (int64_t)strlen(near)).text);
    return mc_fail(ctx, MERCER_DATA,
                   "%s lacks column '%s', which the model was fitted on; add it, or name the column so that holds it",
                   raw->input->name, lacking.text);
}

static mercer_status match_names(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    const mc_schema *schema = reading->schema;
    match_serial(schema, raw);
    for (int64_t k = 0, next = 0; k < schema->count; k++) {
        const mc_column *column = &schema->column[k];
        const bool same_place = k < raw->columns && !raw->column[k].name && !raw->column[k].like;
        const int64_t j = column->name ? find_free(raw, column->name, next) : same_place ? k : -1;
        next = j >= 0 ? (j + 1) % raw->columns : next;
        if (j >= 0)
            stand_for(raw, j, column, reading->classes > 0);
        else if (!may_lack(column))
            return fail_lacks(ctx, raw, column->name);
    }
    if (reading->set->weights) {
        int64_t j = 0;
        MC_TRY(find_column(ctx, raw, "weights", reading->set->weights, strlen(reading->set->weights), &j));
        if (!raw->column[j].like) {
            raw->column[j].kind = MC_COLUMN_WEIGHT;
            raw->column[j].number = true;
            raw->column[j].text = false;
            raw->order[raw->used++] = j;
        }
    }
    return pass_over_others(ctx, raw);
}

static int64_t count_read(const mc_raw *raw) {
    int64_t count = 0;
    for (int64_t j = 0; j < raw->columns; j++)
        count += !raw->column[j].skip;
    return count;
}

/* The next column that is read. */
static int64_t next_read(const mc_raw *raw, int64_t j) {
    while (raw->column[j].skip)
        j++;
    return j;
}

/* By place: all columns of the schema, or all but its targets, its weights, or both. */
static mercer_status match_places(mercer_ctx *ctx, const mc_schema *schema, bool classes, mc_raw *raw) {
    int64_t targets = 0, weights = 0;
    for (int64_t k = 0; k < schema->count; k++) {
        targets += schema->column[k].kind == MC_COLUMN_TARGET;
        weights += schema->column[k].kind == MC_COLUMN_WEIGHT;
    }
    const int64_t columns = count_read(raw), lacking = schema->count - columns;
    const bool no_target = targets > 0 && (lacking == targets || lacking == targets + weights);
    const bool no_weight = weights > 0 && (lacking == targets + weights || (lacking == weights && !no_target));
    if (lacking != 0 && !no_target && !no_weight)
        return mc_fail(ctx, MERCER_DATA, "%s has %lld columns; the model was fitted on %lld (%lld without the target)",
                       raw->input->name, (long long)columns, (long long)schema->count,
                       (long long)(schema->count - targets));
    int64_t j = 0;
    for (int64_t k = 0; k < schema->count; k++) {
        const mc_column_kind kind = schema->column[k].kind;
        if ((kind == MC_COLUMN_TARGET && no_target) || (kind == MC_COLUMN_WEIGHT && no_weight))
            continue;
        j = next_read(raw, j);
        stand_for(raw, j++, &schema->column[k], classes);
    }
    return MERCER_OK;
}

/* The earlier data came without file columns (LIBSVM text, arrays): d numbers, and the target after them when there is
 * one more. */
static mercer_status match_count(mercer_ctx *ctx, int64_t d, bool classes, mc_raw *raw) {
    static const mc_column number = {.kind = MC_COLUMN_NUMBER}, target = {.kind = MC_COLUMN_TARGET};
    const int64_t columns = count_read(raw);
    if (columns != d && columns != d + 1)
        return mc_fail(ctx, MERCER_DATA,
                       "%s has %lld columns; the model was fitted on %lld, and the target may follow them",
                       raw->input->name, (long long)columns, (long long)d);
    for (int64_t k = 0, j = 0; k < columns; k++) {
        j = next_read(raw, j);
        stand_for(raw, j++, k < d ? &number : &target, classes);
    }
    return MERCER_OK;
}

static mercer_status roles_like(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    const mercer_read *set = reading->set;
    if (reading->schema->count == 0)
        MC_TRY(match_count(ctx, (reading->d < 0 ? -reading->d : reading->d) - reading->schema->serial,
                           reading->classes > 0, raw));
    else if (raw->header && reading->schema->header)
        MC_TRY(match_names(ctx, reading, raw));
    else
        MC_TRY(match_places(ctx, reading->schema, reading->classes > 0, raw));
    const bool unwanted = set->kind == MERCER_TARGET_NONE || (set->target && !*set->target);
    for (int64_t j = 0; j < raw->columns; j++)
        raw->column[j].skip |= unwanted && raw->column[j].kind == MC_COLUMN_TARGET;
    return MERCER_OK;
}

mercer_status mc_roles_find(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw) {
    MC_TRY(drop_columns(ctx, reading->set, raw));
    return reading->schema ? roles_like(ctx, reading, raw) : roles_afresh(ctx, reading->set, raw);
}

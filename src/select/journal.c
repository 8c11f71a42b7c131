/* journal.c: what was measured, one line each, so that a search that was killed goes on where it was.

       mercer-journal 1 KEY
       ROUND CANDIDATE COLUMN VALUE CHECK

   KEY is a hash of the data, the machine, the candidates and the splits: a journal of anything else is refused. CHECK
   is a hash of the rest of its line. Lines are only added, those of one measurement in one piece; a line that the end
   of a process cut short is cut off. */
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/ranks.h"
#include "base/status.h"
#include "base/text.h"
#include "select/tune.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 160 };
static const char HEAD[] = "mercer-journal 1 ";

typedef struct mc_entry {
    bool full;
    int64_t round, candidate, column;
    double value;
} mc_entry;

/* ---- A table of what was read ---- */

static mc_entry *place_of(const mc_journal *j, int64_t round, int64_t candidate, int64_t column) {
    const int64_t key[3] = {round, candidate, column};
    uint64_t at = mc_hash(0, key, sizeof key);
    for (;; at++) {
        mc_entry *e = &j->entry[at & (uint64_t)(j->capacity - 1)];
        if (!e->full || (e->round == round && e->candidate == candidate && e->column == column))
            return e;
    }
}

static mercer_status grow_entry_table(mercer_ctx *ctx, mc_journal *j) {
    const mc_journal old = *j;
    j->capacity = old.capacity ? 2 * old.capacity : 1024;
    if (!(j->entry = mc_alloc(ctx, j->capacity, sizeof *j->entry))) {
        *j = old;
        return MERCER_MEMORY;
    }
    for (int64_t i = 0; i < old.capacity; i++)
        if (old.entry[i].full)
            *place_of(j, old.entry[i].round, old.entry[i].candidate, old.entry[i].column) = old.entry[i];
    mc_free(old.entry);
    return MERCER_OK;
}

static mercer_status keep_entry(mercer_ctx *ctx, mc_journal *j, const mc_entry *e) {
    if (2 * (j->count + 1) > j->capacity)
        MC_TRY(grow_entry_table(ctx, j));
    mc_entry *place = place_of(j, e->round, e->candidate, e->column);
    j->count += !place->full;
    *place = *e;
    return MERCER_OK;
}

/* ---- Lines ---- */

static uint64_t check_of(const char *line, size_t length) {
    return mc_hash(0, line, length);
}

/* The line without its end; false for one that is cut short or damaged. */
static bool parse_line(char *line, mc_entry *out) {
    const size_t length = strlen(line);
    char *space = strrchr(line, ' '), *end = NULL;
    if (!length || line[length - 1] != '\n' || !space
        || strtoull(space + 1, &end, 16) != check_of(line, (size_t)(space - line)) || *end != '\n')
        return false;
    long long round, candidate, column;
    int used = 0;
    *space = '\0';
    if (sscanf(line, "%lld %lld %lld %n", &round, &candidate, &column, &used) < 3 || !used)
        return false;
    *out = (mc_entry){.full = true, .round = round, .candidate = candidate, .column = column, .value = NAN};
    return strcmp(line + used, "nan") == 0 || mc_number_read(line + used, space, &out->value) == space;
}

static void add_line(mc_text *text, int64_t round, int64_t candidate, int64_t column, double value) {
    char line[LINE], digits[32] = "nan";
    if (!isnan(value))
        mc_number_text(value, digits);
    mc_print(line, sizeof line, "%lld %lld %lld %s", (long long)round, (long long)candidate, (long long)column, digits);
    mc_text_add(text, "%s %016llx\n", line, (unsigned long long)check_of(line, strlen(line)));
}

/* ---- The file ---- */

static mercer_status fail_journal_write(mercer_ctx *ctx, const char *path) {
    return mc_fail(ctx, MERCER_IO, "cannot write the journal '%s': %s", path, strerror(errno));
}

static mercer_status append_to_journal(mercer_ctx *ctx, mc_journal *j, const char *bytes, size_t size) {
    if (fwrite(bytes, 1, size, j->file) != size || fflush(j->file) != 0 || fsync(fileno(j->file)) != 0)
        return fail_journal_write(ctx, j->path);
    return MERCER_OK;
}

/* Lines up to the first that is not whole; what follows it is cut off. */
static mercer_status read_lines(mercer_ctx *ctx, mc_journal *j) {
    char line[LINE];
    long good = ftell(j->file);
    mc_entry e;
    while (fgets(line, sizeof line, j->file) && parse_line(line, &e)) {
        MC_TRY(keep_entry(ctx, j, &e));
        good = ftell(j->file);
    }
    if (ftruncate(fileno(j->file), good) != 0 || fseek(j->file, 0, SEEK_END) != 0)
        return fail_journal_write(ctx, j->path);
    return MERCER_OK;
}

static mercer_status read_journal(mercer_ctx *ctx, mc_journal *j, uint64_t key) {
    char line[LINE], wanted[LINE];
    const int length = mc_print(wanted, sizeof wanted, "%s%016llx\n", HEAD, (unsigned long long)key);
    const bool any = fgets(line, sizeof line, j->file);
    if (!any || (*line && strncmp(line, wanted, strlen(line)) == 0 && line[strlen(line) - 1] != '\n')) {
        rewind(j->file); /* empty, or ended within its first line */
        if (ftruncate(fileno(j->file), 0) != 0)
            return fail_journal_write(ctx, j->path);
        return append_to_journal(ctx, j, wanted, (size_t)length);
    }
    if (strncmp(line, HEAD, strlen(HEAD)) != 0)
        return mc_fail(ctx, MERCER_FORMAT, "'%s' is not a journal of Mercer; name another file", j->path);
    if (strcmp(line, wanted) != 0)
        return mc_fail(ctx, MERCER_INVALID,
                       "the journal '%s' is of another search: its data, machine, candidates or splits differ; remove "
                       "it or name another file",
                       j->path);
    return read_lines(ctx, j);
}

mercer_status mc_journal_open(mercer_ctx *ctx, const char *path, uint64_t key, mc_journal *out) {
    *out = (mc_journal){.path = path};
    if (!path)
        return MERCER_OK;
    if (mc_ranks_share(ctx))
        return mc_fail(ctx, MERCER_INVALID,
                       "the journal '%s' is written by one process, and %d share this work; leave it out", path,
                       mercer_ranks(ctx));
    MC_TRY(mc_file_plain(ctx, "journal", path));
    out->file = fopen(path, "r+");
    if (!out->file && errno == ENOENT)
        out->file = fopen(path, "w+");
    return out->file ? read_journal(ctx, out, key) : fail_journal_write(ctx, path);
}

void mc_journal_close(mc_journal *j) {
    if (j->file)
        fclose(j->file);
    mc_free(j->entry);
    *j = (mc_journal){0};
}

/* ---- Measurements ---- */

/* The columns of a split: its own, or all where one call measures everything. */
static void columns_of(const mc_round *r, int64_t split, int64_t *begin, int64_t *end) {
    const bool all = split < 0 || r->splits.count < 2;
    *begin = all ? 0 : 1 + split;
    *end = all ? mc_round_width(r) : 2 + split;
}

bool mc_journal_get(const mc_journal *j, const mc_round *r, const mc_run *run, int64_t split, double *out) {
    int64_t begin, end;
    columns_of(r, split, &begin, &end);
    if (!j->count)
        return false;
    for (int64_t c = run->begin; c < run->end; c++)
        for (int64_t k = begin; k < end; k++) {
            const mc_entry *e = place_of(j, r->number, c, k);
            if (!e->full)
                return false;
            out[(c - run->begin) * mc_round_width(r) + k] = e->value;
        }
    return true;
}

mercer_status mc_journal_put(mercer_ctx *ctx, mc_journal *j, const mc_round *r, const mc_run *run, int64_t split,
                             const double *values) {
    int64_t begin, end;
    columns_of(r, split, &begin, &end);
    if (!j->file)
        return MERCER_OK;
    mc_text text = mc_text_open(ctx);
    for (int64_t c = run->begin; c < run->end; c++)
        for (int64_t k = begin; k < end; k++)
            add_line(&text, r->number, c, k, values[(c - run->begin) * mc_round_width(r) + k]);
    const size_t size = (size_t)text.length;
    char *bytes = NULL;
    MC_TRY(mc_text_take(&text, &bytes));
    const mercer_status status = append_to_journal(ctx, j, bytes, size);
    mc_free(bytes);
    return status;
}

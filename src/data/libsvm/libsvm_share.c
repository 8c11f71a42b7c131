/* libsvm_share.c: LIBSVM text that ranks read by parts: each a run of whole lines, whose values all of them get. What
   is wrong anywhere is left to the reading of the whole, which knows its line. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/ranks.h"
#include "base/status.h"
#include "data/libsvm/libsvm_fill.h"
#include "data/libsvm/libsvm_text.h"
#include "data/read/share_table.h"
#include <string.h>

/* What a rank has read; rows negative: it cannot be used. */
typedef struct part_facts {
    int64_t rows, stored, columns;
} part_facts;

typedef struct shared_reading {
    mc_input part;
    mc_lines lines;
    mc_libsvm_filling own, all;
    mc_lines table; /* of all: one piece for each rank */
    part_facts *facts;
    double *packed; /* columns, two of a rank in the room of a number */
} shared_reading;

/* ---- The own part ---- */

static mercer_status load_part(mercer_ctx *ctx, const mc_input *input, mc_input *part) {
    int64_t from, to;
    mc_share_run(ctx, input->total, &from, &to);
    MC_TRY(mc_input_line(ctx, input, from, &from));
    MC_TRY(mc_input_line(ctx, input, to, &to));
    return mc_input_part(ctx, input, from, to, part);
}

static mercer_status read_part(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, shared_reading *s) {
    MC_TRY(load_part(ctx, input, &s->part));
    s->lines = mc_libsvm_lines_of(&s->part);
    s->lines.piece = reading->piece;
    if (mercer_rank(ctx) > 0)
        s->lines.begin = s->part.bytes; /* a mark stands at the beginning of the file */
    MC_TRY(mc_lines_find(ctx, &s->part, &s->lines));
    s->own = mc_libsvm_filling_of(reading, &s->lines);
    return mc_libsvm_fill(ctx, &s->own);
}

/* Labels that their doubles do not tell apart may be faults too. */
static bool is_plain(const mc_libsvm_piece *piece) {
    return !piece->fault && !piece->rounded;
}

/* The stretches of the pieces one behind the other. */
static part_facts close_gaps(mc_libsvm_filling *f) {
    part_facts facts = {.rows = f->lines->rows};
    for (int64_t k = 0; k < f->lines->pieces; k++) {
        const mc_libsvm_piece *piece = &f->piece[k];
        const size_t stored = (size_t)piece->stored;
        if (!is_plain(piece))
            return (part_facts){.rows = -1};
        memmove(f->value + facts.stored, f->value + f->first[k], stored * sizeof *f->value);
        memmove(f->column + facts.stored, f->column + f->first[k], stored * sizeof *f->column);
        facts.stored += piece->stored;
        facts.columns = piece->columns > facts.columns ? piece->columns : facts.columns;
    }
    return facts;
}

/* ---- All ---- */

static int64_t packed_count(int64_t stored) {
    return (stored + 1) / 2;
}

static mercer_status allocate_all(mercer_ctx *ctx, shared_reading *s, const mc_reading *reading) {
    const int ranks = mercer_ranks(ctx);
    int64_t stored = 0, packed = 0;
    s->table.pieces = ranks;
    s->all = mc_libsvm_filling_of(reading, &s->table);
    MC_TRY(MC_ALLOC(ctx, s->table.row, ranks + 1));
    MC_TRY(MC_ALLOC(ctx, s->all.first, ranks));
    MC_TRY(MC_ALLOC(ctx, s->all.piece, ranks));
    for (int k = 0; k < ranks; k++) {
        s->table.row[k + 1] = s->table.row[k] + s->facts[k].rows;
        s->all.first[k] = stored;
        s->all.piece[k] = (mc_libsvm_piece){.stored = s->facts[k].stored, .columns = s->facts[k].columns};
        stored += s->facts[k].stored;
        packed += packed_count(s->facts[k].stored);
    }
    s->table.rows = s->table.row[ranks];
    MC_TRY(MC_ALLOC(ctx, s->all.label, s->table.rows));
    MC_TRY(MC_ALLOC(ctx, s->all.count, s->table.rows));
    MC_TRY(MC_ALLOC(ctx, s->packed, packed));
    s->all.value = mc_alloc_unset(ctx, stored, sizeof *s->all.value);
    s->all.column = mc_alloc_unset(ctx, stored + 1, sizeof *s->all.column);
    return s->all.value && s->all.column ? MERCER_OK : MERCER_MEMORY;
}

typedef int64_t count_of(const part_facts *facts);

static int64_t rows_of(const part_facts *facts) {
    return facts->rows;
}

static int64_t stored_of(const part_facts *facts) {
    return facts->stored;
}

static int64_t packed_of(const part_facts *facts) {
    return packed_count(facts->stored);
}

static mercer_status gather_numbers(mercer_ctx *ctx, const shared_reading *s, count_of *count, const void *own,
                                    void *all) {
    for (int k = 0; k < ctx->ranks->count; k++)
        ctx->ranks->counts[k] = count(&s->facts[k]);
    return mc_ranks_gather_parts(ctx, own, ctx->ranks->counts, all);
}

static void unpack_columns(const shared_reading *s) {
    const double *from = s->packed;
    for (int64_t k = 0; k < s->table.pieces; k++) {
        memcpy(s->all.column + s->all.first[k], from, (size_t)s->facts[k].stored * sizeof *s->all.column);
        from += packed_count(s->facts[k].stored);
    }
}

_Static_assert(sizeof(int64_t) == sizeof(double) && 2 * sizeof(int32_t) == sizeof(double), "bytes travel as numbers");

static mercer_status gather_all(mercer_ctx *ctx, shared_reading *s) {
    MC_TRY(gather_numbers(ctx, s, rows_of, s->own.label, s->all.label));
    MC_TRY(gather_numbers(ctx, s, rows_of, s->own.count, s->all.count));
    MC_TRY(gather_numbers(ctx, s, stored_of, s->own.value, s->all.value));
    MC_TRY(gather_numbers(ctx, s, packed_of, s->own.column, s->packed));
    unpack_columns(s);
    return MERCER_OK;
}

/* ---- The whole ---- */

/* Faults of the data are found again in the whole, with their lines. */
static mercer_status forgive_fault(mercer_ctx *ctx, mercer_status status, part_facts *facts) {
    if (status != MERCER_DATA)
        return status;
    mc_clear_failure(ctx);
    facts->rows = -1;
    return MERCER_OK;
}

static mercer_status gather_facts(mercer_ctx *ctx, shared_reading *s, const mc_reading *reading, uint64_t what,
                                  mercer_status status, bool *done) {
    part_facts own = {0};
    status = forgive_fault(ctx, status, &own);
    if (!status && own.rows == 0)
        own = close_gaps(&s->own);
    MC_THEN(status, MC_ALLOC(ctx, s->facts, mercer_ranks(ctx)));
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_ROWS, what, status));
    MC_TRY(mc_ranks_gather(ctx, &own, sizeof own, s->facts));
    int64_t rows = 0;
    for (int k = 0; k < mercer_ranks(ctx); k++) {
        if (s->facts[k].rows < 0)
            return MERCER_OK;
        rows += s->facts[k].rows;
    }
    *done = rows > 0;
    if (!*done)
        return MERCER_OK;
    MC_TRY(mc_ranks_agree(ctx, MC_RANKS_ROWS, what + 1, allocate_all(ctx, s, reading)));
    return gather_all(ctx, s);
}

static void close_shared(shared_reading *s) {
    mc_libsvm_close(&s->own);
    mc_libsvm_close(&s->all);
    mc_lines_close(&s->lines);
    mc_free(s->table.row);
    mc_free(s->facts);
    mc_free(s->packed);
    mc_input_close(&s->part);
}

mercer_status mc_libsvm_share(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, bool *done,
                              mercer_data **out) {
    MC_TRY(mc_libsvm_check(ctx, input, reading));
    shared_reading s = {.part = {.fd = -1}};
    mercer_status status = read_part(ctx, input, reading, &s);
    status = gather_facts(ctx, &s, reading, (uint64_t)input->total, status, done);
    if (*done)
        MC_THEN(status, mc_libsvm_data(ctx, input, reading, &s.all, out));
    close_shared(&s);
    return status;
}

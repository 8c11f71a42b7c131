/* smo_working_set.c: see smo_working_set.h. Variables of one group stand together in the block, each group padded to
   whole lanes; a row of K that two variables share (regression) is fetched once. Of a set of all variables nothing is
   gathered: K is used where it is. */
#include "qp/smo_working_set.h"
#include "backend/dispatch_qp.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "data/table/data.h"
#include "qp/smo_select.h"
#include <math.h>
#include <string.h>

static int64_t padded_places(int64_t q) {
    return (q + MC_LANES - 1) / MC_LANES * MC_LANES + MC_LANES * (MC_SMO_RUNS - 1);
}

static int64_t rough_places(int64_t places) {
    return (places + MC_ROUGH_LANES - 1) / MC_ROUGH_LANES * MC_ROUGH_LANES;
}

/* Variable t has row t of a K that lies in memory, and there is one group: no place pads another. */
static bool can_use_in_place(const mc_dual *dual, const mc_matrix *rows) {
    bool same = rows->whole.a && !dual->group && dual->m == rows->n;
    for (int64_t t = 0; same && dual->row && t < dual->m; t++)
        same = dual->row[t] == t;
    return same;
}

static void lay_out_set_workspace(mc_work *work, int64_t n, int64_t m, mc_working_set *s) {
    const int64_t places = padded_places(m);
    double **reals[] = {&s->block.v, &s->block.beta, &s->block.up, &s->block.down,
                        &s->low,     &s->high,       &s->diagonal, &s->change};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = mc_work_take(work, places, sizeof(double));
    float **floats[] = {&s->block.rough.v, &s->block.rough.up, &s->block.rough.down, &s->block.rough.diagonal};
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        *floats[i] = mc_work_take(work, rough_places(places), sizeof(float));
    int64_t **wholes[] = {&s->place, &s->column, &s->row};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        *wholes[i] = mc_work_take(work, places, sizeof(int64_t));
    s->row_of = mc_work_take(work, n, sizeof(int64_t));
    s->piece = mc_work_take(work, places, sizeof(void *));
    for (int r = 0; r < MC_SMO_RUNS; r++)
        s->block.row[r] = mc_work_take(work, places, sizeof(void *));
    s->block.low = s->low;
    s->block.high = s->high;
    s->block.diagonal = s->diagonal;
}

static size_t set_workspace_bytes(int64_t n, int64_t m) {
    mc_work counted = {0};
    lay_out_set_workspace(&counted, n, m, &(mc_working_set){0});
    return counted.used;
}

size_t mc_working_set_bytes(int64_t n, int64_t m, int64_t q, mercer_dtype dtype) {
    return set_workspace_bytes(n, m) + mc_work_need(padded_places(q) * padded_places(q), mc_dtype_size(dtype));
}

mercer_status mc_working_set_open(mercer_ctx *ctx, const mc_dual *dual, const mc_matrix *rows, int64_t q,
                                  mc_working_set *out) {
    *out = (mc_working_set){.dual = dual, .rows = rows, .may_hold_all = can_use_in_place(dual, rows)};
    MC_TRY(mc_work_open(ctx, &out->work, set_workspace_bytes(rows->n, dual->m)));
    lay_out_set_workspace(&out->work, rows->n, dual->m, out);
    if (out->may_hold_all && dual->m <= MC_WORKING_SET && dual->m <= q)
        return MERCER_OK;
    out->K = mc_alloc_unset(ctx, padded_places(q) * padded_places(q), mc_dtype_size(rows->dtype));
    if (!out->K)
        mc_working_set_close(out);
    return out->K ? MERCER_OK : MERCER_MEMORY;
}

void mc_working_set_close(mc_working_set *s) {
    mc_free(s->K);
    mc_work_close(&s->work);
    *s = (mc_working_set){0};
}

static void list_rows(mc_working_set *s) {
    for (int64_t k = 0; k < s->count; k++)
        s->row_of[mc_dual_row(s->dual, s->variable[k])] = -1;
    s->row_count = 0;
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t r = mc_dual_row(s->dual, s->variable[k]);
        if (s->row_of[r] < 0) {
            s->row_of[r] = s->row_count;
            s->row[s->row_count++] = r;
        }
    }
}

/* Where the block has its rows: one behind the other, width entries of each. */
static void place_rows(mc_working_set *s, const void *K, int64_t width) {
    const size_t entry = mc_dtype_size(s->rows->dtype);
    for (int r = 0; r < s->block.runs; r++) {
        const int64_t begin = s->block.begin[r];
        s->block.width[r] = width - begin;
        for (int64_t at = 0; at < s->block.begin[s->block.runs]; at++)
            s->block.row[r][at] = (const char *)K + (size_t)(at * s->ld + begin) * entry;
    }
}

static void lay_out(mc_working_set *s) {
    int64_t at = 0;
    s->block.runs = s->block.sums = s->dual->group ? 2 : 1;
    for (int64_t k = 0; k < padded_places(s->count); k++)
        s->column[k] = -1;
    for (int g = 0; g < s->block.runs; g++) {
        s->block.begin[g] = at;
        for (int64_t k = 0; k < s->count; k++)
            if (mc_dual_group(s->dual, s->variable[k]) == g) {
                s->place[k] = at;
                s->column[at++] = mc_dual_row(s->dual, s->variable[k]);
            }
        at = (at + MC_LANES - 1) / MC_LANES * MC_LANES;
        s->block.begin[g + 1] = at;
    }
    s->ld = s->holds_all ? s->rows->whole.ld : at;
    place_rows(s, s->holds_all ? s->rows->whole.a : s->K, s->holds_all ? s->rows->n : at);
}

static void fill_block(mc_working_set *s, const double *beta, const double *f) {
    for (int64_t at = 0; at < s->block.begin[s->block.runs]; at++) {
        s->block.v[at] = s->block.beta[at] = s->diagonal[at] = s->low[at] = s->high[at] = 0;
        s->block.up[at] = -INFINITY;
        s->block.down[at] = INFINITY;
    }
    for (int64_t k = 0; k < s->count; k++) {
        const int64_t t = s->variable[k], at = s->place[k];
        s->block.v[at] = mc_dual_slope(s->dual, f, t);
        s->block.beta[at] = beta[t];
        s->low[at] = s->dual->low[t];
        s->high[at] = s->dual->high[t];
        s->diagonal[at] = s->rows->diag[s->column[at]];
        s->block.up[at] = beta[t] < s->high[at] ? 0 : -INFINITY;
        s->block.down[at] = beta[t] > s->low[at] ? 0 : INFINITY;
    }
}

typedef struct gathered_set {
    const mc_working_set *set;
    const mc_smo_body *body;
} gathered_set;

/* Rows begin .. end-1 of K_WW. What pads a group is 0. */
static void gather_block_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const gathered_set *g = arg;
    const mc_working_set *s = g->set;
    const size_t bytes = (size_t)s->ld * mc_dtype_size(s->rows->dtype);
    for (int64_t a = begin; a < end; a++) {
        char *out = (char *)s->K + (size_t)a * bytes;
        if (s->column[a] < 0)
            memset(out, 0, bytes);
        else
            g->body->gather(s->piece[s->row_of[s->column[a]]], s->column, s->ld, out);
    }
}

mercer_status mc_working_set_load(mercer_ctx *ctx, mc_working_set *s, const int64_t *variable, int64_t count, bool all,
                                  const double *beta, const double *f) {
    s->variable = variable;
    s->count = count;
    s->holds_all = all;
    list_rows(s);
    lay_out(s);
    fill_block(s, beta, f);
    if (all)
        return MERCER_OK;
    MC_TRY(mc_matrix_view(ctx, s->rows, s->row, s->row_count, s->piece));
    gathered_set g = {s, &mc_qp_bodies_of(ctx->isa)->smo[s->rows->dtype]};
    return mc_for(ctx, s->ld, 32, gather_block_rows, &g);
}

/* Slopes less the middle of those that matter: so near to zero floats are as fine as that wants. */
static void fill_rough(mc_working_set *s, double middle) {
    const mc_smo_block *b = &s->block;
    const int64_t places = b->begin[b->runs], more = rough_places(places);
    for (int64_t at = 0; at < places; at++) {
        b->rough.v[at] = (float)(b->v[at] - middle);
        b->rough.up[at] = (float)b->up[at];
        b->rough.down[at] = (float)b->down[at];
        b->rough.diagonal[at] = (float)b->diagonal[at];
    }
    for (int64_t at = places; at < more; at++) {
        b->rough.v[at] = b->rough.diagonal[at] = 0;
        b->rough.up[at] = -INFINITY;
        b->rough.down[at] = INFINITY;
    }
}

bool mc_working_set_step(mercer_ctx *ctx, mc_working_set *s, double middle, bool rough) {
    const mc_smo_body *body = &mc_qp_bodies_of(ctx->isa)->smo[s->rows->dtype];
    rough = rough && body->rough && s->block.runs == 1;
    s->middle = middle;
    if (rough)
        fill_rough(s, middle);
    (rough ? body->rough : body->block)(&s->block);
    return rough;
}

double mc_working_set_drift(const mc_working_set *s, const double *f) {
    double most = 0;
    for (int64_t k = 0; k < s->count; k++)
        most = fmax(
            most, fabs(mc_dual_slope(s->dual, f, s->variable[k]) - s->middle - (double)s->block.rough.v[s->place[k]]));
    return most;
}

mercer_status mc_working_set_store(mercer_ctx *ctx, mc_working_set *s, double *beta, double *f, bool *moved) {
    for (int64_t r = 0; r < s->row_count; r++)
        s->change[r] = 0;
    for (int64_t k = 0; k < s->count; k++) {
        const double now = s->block.beta[s->place[k]];
        s->change[s->row_of[s->column[s->place[k]]]] += now - beta[s->variable[k]];
        beta[s->variable[k]] = now;
    }
    int64_t kept = 0;
    for (int64_t r = 0; r < s->row_count; r++)
        if (s->change[r] != 0) {
            s->change[kept] = s->change[r];
            s->row[kept++] = s->row[r];
        }
    *moved = kept > 0;
    return kept ? mc_matrix_add_rows(ctx, s->rows, s->row, s->change, kept, s->piece, f) : MERCER_OK;
}

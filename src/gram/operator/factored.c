/* factored.c: Y <- K V through the coordinates of compressed rows.

       K = sum over terms of  factor diag(r) Z_x Z_z' diag(c),   and a constant

   so that K V takes two passes over the stored values, Z_z' (c V) and Z_x of that, where tiles would look at every pair
   of rows: texts of a hundred bytes, ten thousand of them, take a hundredth of the time.

   Values, vectors and factors are never negative. All sums are then of terms that K |V| has too, in double, and are
   wrong by at most gamma of their depth times it, as tile products are.

   Z_z' V is summed up in lots of rows with coordinates of their own, added in order: how many there are depends on the
   sizes alone, and with them the bits. */
#include "gram/operator/factored.h"
#include "base/ctx.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/workspace.h"
#include <string.h>

enum { TOGETHER = 4, LOTS_MOST = 32, ROW_GRAIN = 256, COORDINATE_GRAIN = 4096 };

/* ---- Which expressions ---- */

/* Temporaries as sums of terms. */
enum { TEMPORARIES = 8 };
typedef struct factored_sums {
    int terms[TEMPORARIES];
    mc_factored_term term[TEMPORARIES][MC_FACTORED_TERMS];
} factored_sums;

static double real_at(const mc_gram *g, const void *values, int64_t i) {
    return g->precision == MERCER_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static bool is_nonnegative(const mc_gram *g, const void *values, int64_t n) {
    bool yes = true;
    for (int64_t i = 0; i < n; i++)
        yes &= real_at(g, values, i) >= 0;
    return yes;
}

static bool is_count(const mc_gram *g, const mc_packed_points *pack) {
    return is_nonnegative(g, pack->values, pack->start[pack->n]);
}

static bool is_inner_product(const mc_gram *g, const mc_tile_line *line) {
    const mc_tile_part *p = &g->plan.part[line->part];
    return p->sparse && p->kind == MC_DOT && line->use == MC_USE_DOT && !p->centre && line->c == 0
           && is_count(g, &p->left) && (p->shared || is_count(g, &p->right));
}

/* The terms that a line makes, before they are combined with its target; -1: it is of another kind. */
static int terms_of_line(const mc_gram *g, int i, const factored_sums *s, mc_factored_term *out) {
    const mc_tile_line *line = &g->plan.line[i];
    const mc_function_of_tile f = line->step.function;
    const double factor = line->step.coefficient * (f == MC_SAME ? line->step.alpha : 1);
    const bool scales = f == MC_SCALE || f == MC_SCALE_SIGN;
    if (!(factor >= 0) || (f != MC_SAME && f != MC_CONSTANT && !scales))
        return -1;
    if (f == MC_CONSTANT || line->part >= 0) {
        *out = (mc_factored_term){.part = f == MC_CONSTANT ? -1 : line->part, .scale = -1, .factor = factor};
        return f == MC_CONSTANT || is_inner_product(g, line) ? 1 : -1;
    }
    if (scales && !(is_nonnegative(g, line->row, g->x->n) && is_nonnegative(g, line->col, g->z->n)))
        return -1;
    const int from = line->step.source, count = s->terms[from];
    for (int k = 0; k < count; k++) {
        out[k] = s->term[from][k];
        out[k].factor *= factor;
        if (scales && (out[k].scale >= 0 || out[k].part < 0))
            return -1;
        out[k].scale = scales ? i : out[k].scale;
    }
    return count;
}

static bool follow_line(const mc_gram *g, int i, factored_sums *s) {
    const mc_tile_step *step = &g->plan.line[i].step;
    mc_factored_term made[MC_FACTORED_TERMS];
    const int count = terms_of_line(g, i, s, made), to = step->target,
              before = step->combine == MC_SET ? 0 : s->terms[to];
    if (count < 0 || step->combine == MC_MULTIPLY || before + count > MC_FACTORED_TERMS)
        return false;
    memcpy(s->term[to] + before, made, (size_t)count * sizeof *made);
    s->terms[to] = before + count;
    return true;
}

void mc_factored_find(mc_gram *g) {
    factored_sums s = {0};
    g->factored.terms = 0;
    bool yes = !g->by_reference && !g->fault && !g->packed_from && g->plan.parts > 0
               && g->plan.temporaries <= TEMPORARIES && g->x->n > 0 && g->z->n > 0;
    for (int i = 0; i < g->plan.parts; i++)
        yes &= g->plan.part[i].sparse;
    for (int i = 0; i < g->plan.lines && yes; i++)
        yes = follow_line(g, i, &s);
    if (!yes)
        return;
    g->factored.terms = s.terms[0];
    memcpy(g->factored.term, s.term[0], sizeof g->factored.term);
}

/* ---- The product ---- */

typedef struct factored_product {
    const mc_gram *g;
    const mc_tile_part *part;
    const mc_packed_points *left, *right;
    const void *row, *column; /* vectors; NULL: ones */
    double factor;
    int64_t t, ld, lots, lot_rows;
    const double *V;
    double *Y;
    double *W; /* lots x d x t; the first becomes the sum */
} factored_product;

static const mc_packed_points *right_of(const mc_tile_part *p) {
    return p->shared ? &p->left : &p->right;
}

/* No more sums of coordinates than there are values. */
static int64_t count_lots(int64_t values, int64_t d) {
    const int64_t lots = values / (d > 0 ? d : 1);
    return lots < 1 ? 1 : lots < LOTS_MOST ? lots : LOTS_MOST;
}

static int64_t lots_of(const mc_tile_part *p) {
    const mc_packed_points *z = right_of(p);
    return count_lots(z->start[z->n], p->d);
}

/* W += value v, for every coordinate of a row. */
static void scatter_row(const factored_product *p, int64_t j, const double *v, double *W) {
    const mc_packed_points *z = p->right;
    for (int64_t e = z->start[j]; e < z->start[j + 1]; e++) {
        const double value = real_at(p->g, z->values, e);
        double *w = W + z->coordinate[e] * p->t;
        for (int64_t c = 0; c < p->t; c++)
            w[c] += value * v[c];
    }
}

static void sum_lot(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)begin, (void)end, (void)thread;
    const factored_product *p = arg;
    const int64_t first = chunk * p->lot_rows, n = p->right->n,
                  last = first + p->lot_rows < n ? first + p->lot_rows : n;
    double *W = p->W + chunk * p->part->d * p->t, v[TOGETHER];
    memset(W, 0, (size_t)(p->part->d * p->t) * sizeof *W);
    for (int64_t j = first; j < last; j++) {
        const double by = p->column ? real_at(p->g, p->column, j) : 1;
        for (int64_t c = 0; c < p->t; c++)
            v[c] = by * p->V[j * p->ld + c];
        scatter_row(p, j, v, W);
    }
}

static void add_lots(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const factored_product *p = arg;
    const int64_t size = p->part->d * p->t;
    for (int64_t lot = 1; lot < p->lots; lot++)
        for (int64_t k = begin * p->t; k < end * p->t; k++)
            p->W[k] += p->W[lot * size + k];
}

static void gather_rows(void *arg, int64_t chunk, int64_t begin, int64_t end, int thread) {
    (void)chunk, (void)thread;
    const factored_product *p = arg;
    const mc_packed_points *x = p->left;
    for (int64_t i = begin; i < end; i++) {
        double sum[TOGETHER] = {0};
        for (int64_t e = x->start[i]; e < x->start[i + 1]; e++) {
            const double value = real_at(p->g, x->values, e), *w = p->W + x->coordinate[e] * p->t;
            for (int64_t c = 0; c < p->t; c++)
                sum[c] += value * w[c];
        }
        const double by = p->factor * (p->row ? real_at(p->g, p->row, i) : 1);
        for (int64_t c = 0; c < p->t; c++)
            p->Y[i * p->ld + c] += by * sum[c];
    }
}

static mercer_status add_inner_products(mercer_ctx *ctx, factored_product *p, const mc_factored_term *term) {
    const mc_tile_line *scale = term->scale >= 0 ? &p->g->plan.line[term->scale] : NULL;
    p->part = &p->g->plan.part[term->part];
    p->left = &p->part->left;
    p->right = right_of(p->part);
    p->row = scale ? scale->row : NULL;
    p->column = scale ? scale->col : NULL;
    p->factor = term->factor;
    p->lots = lots_of(p->part);
    p->lot_rows = mc_chunk_count(p->right->n, p->lots);
    MC_TRY(mc_for(ctx, p->lots, 1, sum_lot, p));
    MC_TRY(mc_for(ctx, p->part->d, COORDINATE_GRAIN, add_lots, p));
    return mc_for(ctx, p->left->n, ROW_GRAIN, gather_rows, p);
}

static void add_constant(const factored_product *p, double factor) {
    for (int64_t c = 0; c < p->t; c++) {
        double sum = 0;
        for (int64_t j = 0; j < p->g->z->n; j++)
            sum += p->V[j * p->ld + c];
        for (int64_t i = 0; i < p->g->x->n; i++)
            p->Y[i * p->ld + c] += factor * sum;
    }
}

static mercer_status multiply_terms(mercer_ctx *ctx, factored_product *p) {
    const mc_gram *g = p->g;
    for (int64_t i = 0; i < g->x->n; i++)
        memset(p->Y + i * p->ld, 0, (size_t)p->t * sizeof *p->Y);
    for (int k = 0; k < g->factored.terms; k++)
        if (g->factored.term[k].part < 0)
            add_constant(p, g->factored.term[k].factor);
        else
            MC_TRY(add_inner_products(ctx, p, &g->factored.term[k]));
    return MERCER_OK;
}

mercer_status mc_factored_apply(mercer_ctx *ctx, const mc_gram *g, int64_t t, const double *V, double *Y) {
    factored_product p = {.g = g, .ld = t};
    int64_t most = 0;
    for (int i = 0; i < g->plan.parts; i++) {
        const int64_t size = lots_of(&g->plan.part[i]) * g->plan.part[i].d;
        most = size > most ? size : most;
    }
    p.W = mc_alloc_unset(ctx, most * (t < TOGETHER ? t : TOGETHER), sizeof *p.W);
    mercer_status status = p.W ? MERCER_OK : MERCER_MEMORY;
    for (int64_t c = 0; c < t && !status; c += TOGETHER) {
        p.t = t - c < TOGETHER ? t - c : TOGETHER;
        p.V = V + c;
        p.Y = Y + c;
        status = multiply_terms(ctx, &p);
    }
    mc_free(p.W);
    return status;
}

/* ---- What it takes ---- */

int64_t mc_factored_depth(const mc_gram *g) {
    int64_t depth = 0;
    for (int k = 0; k < g->factored.terms; k++) {
        const mc_factored_term *term = &g->factored.term[k];
        const mc_tile_part *p = term->part < 0 ? NULL : &g->plan.part[term->part];
        const int64_t lots = p ? lots_of(p) : 1, each = mc_chunk_count(g->z->n, lots) + lots + (p ? p->longest : 0);
        depth = each > depth ? each : depth;
    }
    return depth + 8 + 2 * MC_FACTORED_TERMS;
}

size_t mc_factored_bytes(int64_t values, int64_t coordinates, int64_t t) {
    return mc_work_need((values > coordinates ? values : coordinates) * (t < TOGETHER ? t : TOGETHER), sizeof(double))
           + 2 * MC_ALIGN;
}

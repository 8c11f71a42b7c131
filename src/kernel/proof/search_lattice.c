/* search_lattice.c: points against polynomials in the columns.

   With M the matrix of a polynomial over monomials, the form is v'Mv, v = sum_i w_i m(x_i). On the points whose
   coordinates are the powers of the monomials themselves, and of all that divide them, the vectors m(x_i) are
   independent, so that some weights give every v: these points are enough to show that M is not positive semidefinite.
   */
#include "kernel/proof/expand.h"
#include "kernel/proof/refute.h"
#include <string.h>

typedef struct lattice {
    int count;
    uint8_t point[MC_WITNESS_POINTS][MC_WIDTHS_MAX];
} lattice;

static bool add_point(lattice *l, const uint8_t *powers) {
    for (int i = 0; i < l->count; i++)
        if (memcmp(l->point[i], powers, MC_WIDTHS_MAX) == 0)
            return true;
    if (l->count == MC_WITNESS_POINTS)
        return false;
    memcpy(l->point[l->count++], powers, MC_WIDTHS_MAX);
    return true;
}

/* Points are added while the loop runs: their divisors follow. */
static bool add_divisors(lattice *l) {
    for (int i = 0; i < l->count; i++)
        for (int j = 0; j < MC_WIDTHS_MAX; j++) {
            uint8_t lower[MC_WIDTHS_MAX];
            memcpy(lower, l->point[i], MC_WIDTHS_MAX);
            lower[j] = (uint8_t)(lower[j] ? lower[j] - 1 : 0);
            if (!add_point(l, lower))
                return false;
        }
    return true;
}

static bool gather_lattice(const mc_expansion *e, lattice *l) {
    for (int i = 0; i < e->count; i++)
        if (!add_point(l, e->monomial[i].x))
            return false;
    return add_divisors(l);
}

mercer_status mc_lattice_points(mercer_ctx *ctx, const mc_node *node, int64_t d, double *points, int64_t *count) {
    mc_pool pool = mc_pool_open(ctx);
    mc_expansion e = {0};
    lattice l = {0};
    int64_t work = MC_EXPAND_WORK;
    const mc_term *term = mc_term_from(&pool, node);
    *count = 0;
    mercer_status status = term ? mc_expand_term(&pool, term, MC_COLUMN_POWERS, d, &work, &e) : MERCER_MEMORY;
    if (!status && e.whole && d <= e.listed && gather_lattice(&e, &l)) {
        *count = l.count;
        for (int64_t i = 0; i < l.count; i++)
            for (int64_t j = 0; j < d; j++)
                points[i * d + j] = l.point[i][j];
    }
    mc_expansion_close(&e);
    mc_pool_close(&pool);
    return status;
}

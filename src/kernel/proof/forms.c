/* forms.c: an expression whose inner products are written column by column is

       sum over G of G(x, z) sum over a, b of M_G(a, b) x^a z^b,

   G products of kernels and exponentials of kernels, x^a products of powers of columns. Where every matrix M_G is
   positive semidefinite, M_G = B'B makes the inner sum the inner product of B times the monomials of x and of z, and
   the whole a kernel. Monomials that no entry of M_G links are tested apart. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/proof/exact.h"
#include "kernel/proof/expand.h"
#include <string.h>

enum { ORDER_MAX = 64 };

typedef struct powers {
    uint8_t of[MC_WIDTHS_MAX];
} powers;

typedef struct form {
    int order;
    powers monomial[ORDER_MAX];
    int part[ORDER_MAX]; /* monomials that entries link have one number */
    mc_interval *entry;  /* order x order, room for ORDER_MAX */
} form;

static bool same_but_columns(const mc_monomial *a, const mc_monomial *b) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (a->power[g] != b->power[g] || !mc_iv_equal(&a->rate[g], &b->rate[g]))
            return false;
    return true;
}

/* What multiplies the powers of columns is a kernel when the generators are. */
static bool is_product_of_kernels(const mc_monomial *m) {
    for (int g = 0; g < MC_GENERATORS_MAX; g++)
        if (!(m->rate[g].lo >= 0) || m->power[g] < 0)
            return false;
    return true;
}

static int find_monomial(form *f, const uint8_t *of) {
    for (int i = 0; i < f->order; i++)
        if (memcmp(f->monomial[i].of, of, sizeof f->monomial[i].of) == 0)
            return i;
    if (f->order == ORDER_MAX)
        return -1;
    memcpy(f->monomial[f->order].of, of, sizeof f->monomial[f->order].of);
    f->part[f->order] = f->order;
    return f->order++;
}

static void link_parts(form *f, int a, int b) {
    const int from = f->part[a], to = f->part[b];
    for (int i = 0; i < f->order; i++)
        if (f->part[i] == from)
            f->part[i] = to;
}

/* The matrix of all monomials that agree with the first one but in columns. */
static bool gather_form(const mc_expansion *e, int first, form *f) {
    f->order = 0;
    for (int i = 0; i < ORDER_MAX * ORDER_MAX; i++)
        f->entry[i] = mc_iv(0);
    for (int i = 0; i < e->count; i++) {
        const mc_monomial *m = &e->monomial[i];
        if (!same_but_columns(&e->monomial[first], m))
            continue;
        const int a = find_monomial(f, m->x), b = a < 0 ? -1 : find_monomial(f, m->z);
        if (b < 0)
            return false;
        f->entry[a * ORDER_MAX + b] = m->factor;
        link_parts(f, a, b);
    }
    return true;
}

/* The block of one part; its order. */
static int take_part(const form *f, int part, mc_interval *block) {
    int member[ORDER_MAX], n = 0;
    for (int i = 0; i < f->order; i++)
        if (f->part[i] == part)
            member[n++] = i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            block[i * n + j] = f->entry[member[i] * ORDER_MAX + member[j]];
    return n;
}

static mercer_status form_holds(mercer_ctx *ctx, const form *f, mc_interval *block, bool *holds) {
    *holds = true;
    for (int part = 0; part < f->order && *holds; part++) {
        mc_psd psd = MC_PSD_YES;
        const int n = take_part(f, part, block);
        if (n > 0)
            MC_TRY(mc_psd_test_intervals(ctx, block, n, &psd));
        *holds = psd == MC_PSD_YES;
    }
    return MERCER_OK;
}

static bool is_first_of_group(const mc_expansion *e, int i) {
    for (int k = 0; k < i; k++)
        if (same_but_columns(&e->monomial[k], &e->monomial[i]))
            return false;
    return true;
}

mercer_status mc_expansion_forms(mercer_ctx *ctx, const mc_expansion *e, bool *holds) {
    form f = {0};
    mercer_status status = MERCER_OK;
    *holds = e->whole;
    if (!*holds)
        return MERCER_OK;
    f.entry = mc_alloc(ctx, 2 * ORDER_MAX * ORDER_MAX, sizeof *f.entry);
    if (!f.entry)
        return MERCER_MEMORY;
    for (int i = 0; i < e->count && *holds && !status; i++) {
        if (!is_first_of_group(e, i))
            continue;
        *holds = is_product_of_kernels(&e->monomial[i]) && gather_form(e, i, &f);
        if (*holds)
            status = form_holds(ctx, &f, f.entry + ORDER_MAX * ORDER_MAX, holds);
    }
    mc_free(f.entry);
    return status;
}

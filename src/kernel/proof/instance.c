/* instance.c: an expression with everything open filled in, for the refuter: a claim about every bandwidth falls with
   one.

   Bandwidths that the data give follow the formulas of atoms.c for m columns of variance v, so that data exist which
   give them. Names of columns become columns after those that the expression numbers. Ranges and sets take their ends
   and their middle. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/node.h"
#include "kernel/proof/refute.h"
#include <math.h>
#include <string.h>

typedef struct filler {
    int variant;
    const char **name; /* the names of columns, once each */
    int64_t names;
    int64_t first; /* column of the first name */
    int64_t seen;  /* values in ranges so far */
    bool stuck;    /* something cannot be filled in: a file, a name within a view, too few columns for the names */
} filler;

static double automatic_bandwidth(mc_atom atom, double m, double v) {
    switch (atom) {
    case MC_RBF: return 1 / (m * v);
    case MC_LAPLACIAN: return 1 / (m * sqrt(v));
    case MC_EXPONENTIAL: return 1 / sqrt(m * v / 2);
    default: return sqrt(m * v / 2); /* matern, rq */
    }
}

/* Low ends, high ends, middles, then the two ways of mixing ends. */
static double from_range(filler *f, double low, double high) {
    const int64_t odd = f->seen++ % 2;
    switch (f->variant % 5) {
    case 0: return low;
    case 1: return high;
    case 2: return low > 0 ? sqrt(low) * sqrt(high) : (low + high) / 2;
    case 3: return odd ? low : high;
    default: return odd ? high : low;
    }
}

static double from_set(filler *f, const mc_value *set) {
    return set->numbers[(f->variant + f->seen++) % set->columns];
}

static void fill_value(filler *f, const mc_node *node, int i, mc_value *value, int64_t d) {
    static const double variances[MC_INSTANCES] = {1, 0.1, 10, 0.01, 100, 1e4};
    double number;
    if (value->kind == MC_VALUE_AUTO)
        number = automatic_bandwidth(node->atom, (double)d, variances[f->variant]);
    else if (value->kind == MC_VALUE_RANGE)
        number = from_range(f, value->low, value->high);
    else if (value->kind == MC_VALUE_SET)
        number = from_set(f, value);
    else
        return;
    if (value->kind == MC_VALUE_RANGE && mc_atoms[node->atom].parameter[i].integer)
        number = nearbyint(number); /* tune takes whole values from such a range */
    mc_value_free(value);
    *value = (mc_value){.kind = MC_VALUE_NUMBER, .number = number};
}

static void fill_atom(filler *f, mc_node *node, int64_t d) {
    for (int i = 0; i < mc_atoms[node->atom].parameters; i++) {
        f->stuck = f->stuck || node->parameter[i].kind == MC_VALUE_FILE;
        fill_value(f, node, i, &node->parameter[i], d);
    }
}

static int64_t name_index(const filler *f, const char *name) {
    for (int64_t k = 0; k < f->names; k++)
        if (strcmp(f->name[k], name) == 0)
            return k;
    return -1;
}

/* Names of columns of the whole row; those of a view within a view are left alone and make the expression stuck. */
static void collect_names(filler *f, const mc_node *node, bool inside) {
    for (int64_t i = 0; node->kind == MC_COLUMNS && i < node->columns; i++)
        if (node->column[i] < 0) {
            f->stuck = f->stuck || inside;
            if (name_index(f, node->column_name[i]) < 0)
                f->name[f->names++] = node->column_name[i];
        }
    for (int i = 0; i < node->children; i++)
        collect_names(f, node->child[i], inside || node->kind == MC_COLUMNS);
}

static void fill_open_values(filler *f, mc_node *node, int64_t d) {
    if (node->kind == MC_ATOM)
        fill_atom(f, node, d);
    for (int64_t i = 0; node->kind == MC_COLUMNS && i < node->columns; i++)
        if (node->column[i] < 0)
            node->column[i] = f->first + name_index(f, node->column_name[i]);
    for (int i = 0; i < node->children; i++)
        fill_open_values(f, node->child[i], node->kind == MC_COLUMNS ? node->columns : d);
}

static int64_t count_names(const mc_node *root) {
    int64_t count = 0;
    for (int64_t i = 0; root->kind == MC_COLUMNS && i < root->columns; i++)
        count += root->column[i] < 0;
    for (int i = 0; i < root->children; i++)
        count += count_names(root->child[i]);
    return count;
}

mercer_status mc_make_instance(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t wide, int variant,
                               mc_node **out) {
    filler f = {.variant = variant};
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, f.name, count_names(root)));
    collect_names(&f, root, false);
    f.first = d - f.names;
    f.stuck = f.stuck || f.first < 0;
    const mercer_status status = mc_node_copy(ctx, root, out);
    if (!status)
        fill_open_values(&f, *out, wide);
    mc_free(f.name);
    if (f.stuck) {
        mc_node_free(*out);
        *out = NULL;
    }
    return status;
}

/* ---- how many columns ---- */

static int64_t last_column_of(const mc_function *f) {
    if (!f)
        return 0;
    const int64_t a = last_column_of(f->child[0]), b = last_column_of(f->child[1]), most = a > b ? a : b;
    return f->kind == MC_F_COLUMN && f->column + 1 > most ? f->column + 1 : most;
}

static void at_least(int64_t *least, int64_t d) {
    *least = d > *least ? d : *least;
}

/* Of the row seen by node, without the names. */
static void scan_needed_columns(const mc_node *node, int64_t *exact, int64_t *least) {
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++) {
        const mc_value *value = &node->parameter[i];
        if (value->kind == MC_VALUE_VECTOR || value->kind == MC_VALUE_MATRIX)
            *exact = value->columns;
    }
    if (node->kind == MC_ATOM && node->atom == MC_PRECOMPUTED)
        at_least(least, 2);
    at_least(least, last_column_of(node->function));
    for (int64_t i = 0; node->kind == MC_COLUMNS && i < node->columns; i++)
        at_least(least, node->column[i] + 1);
    for (int i = 0; node->kind != MC_COLUMNS && i < node->children; i++)
        scan_needed_columns(node->child[i], exact, least);
}

void mc_needed_columns(const mc_node *root, int64_t *exact, int64_t *least) {
    *exact = 0;
    *least = 0;
    scan_needed_columns(root, exact, least);
    *least += count_names(root);
    at_least(least, 1);
}

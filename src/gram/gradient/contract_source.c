/* contract_source.c: forwards and backwards over the nodes of a kernel, statements for one pair: v<k> is the value of
   node k, s<k> the sum of an atom, a<k> the adjoint; p is the list of numbers and g the sums of the slots. The formulas
   are those of contract_atoms.c. */
#include "gram/gradient/contract_source.h"
#include "base/text.h"
#include "kernel/language/node.h"
#include "kernel/language/parameters.h"
#include <device_sources.h>

typedef struct contract_writer {
    mc_text *t;
    double *numbers;
    int64_t count;
} contract_writer;

int64_t mc_contract_numbers(const mc_contract_steps *steps) {
    int64_t count = 0;
    for (int k = 0; k < steps->count; k++)
        count += 4 * steps->step[k].d + 8;
    return count;
}

/* The place of a number in the list. */
static long long put_number(contract_writer *w, double number) {
    w->numbers[w->count] = number;
    return w->count++;
}

static double parameter_at(const mc_contract_step *s, int parameter, int64_t c) {
    return mc_value_at(&s->node->parameter[parameter], c);
}

/* The slot of column c; -1: nobody wants it. */
static long long slot_at(const mc_contract_step *s, int parameter, int64_t c) {
    const bool vector = s->node->parameter[parameter].kind == MC_VALUE_VECTOR;
    return s->slot[parameter] < 0 ? -1 : s->slot[parameter] + (vector ? c : 0);
}

/* ---- Sums over columns ---- */

static const char SQUARE[] = "(x[%lld] - z[%lld]) * (x[%lld] - z[%lld])", ABSOLUTE[] = "fabs(x[%lld] - z[%lld])",
                  PRODUCT[] = "x[%lld] * z[%lld]";

static void write_term(contract_writer *w, const char *term, int64_t column) {
    const long long c = column;
    if (term == SQUARE)
        mc_text_add(w->t, SQUARE, c, c, c, c);
    else if (term == ABSOLUTE)
        mc_text_add(w->t, ABSOLUTE, c, c);
    else
        mc_text_add(w->t, PRODUCT, c, c);
}

/* The weight of a term from the parameter: itself, its square, the inverse of that; and how that changes with it. */
typedef enum weighing { PLAIN, SQUARED, INVERSE } weighing;

static double weight_of(weighing how, double v) {
    return how == PLAIN ? v : how == SQUARED ? v * v : 1 / (v * v);
}

static double slope_of(weighing how, double v) {
    return how == PLAIN ? 1 : how == SQUARED ? 2 * v : -2 / (v * v * v);
}

/* parameter -1: no weights. */
static void write_sum(contract_writer *w, const mc_contract_step *s, int k, const char *term, int parameter,
                      weighing how) {
    mc_text_add(w->t, "    double s%d = 0;\n", k);
    for (int64_t c = 0; c < s->d; c++) {
        mc_text_add(w->t, "    s%d += ", k);
        if (parameter >= 0)
            mc_text_add(w->t, "p[%lld] * ", put_number(w, weight_of(how, parameter_at(s, parameter, c))));
        write_term(w, term, s->column[c]);
        mc_text_add(w->t, ";\n");
    }
}

/* b<k> holds the adjoint of the sum. */
static void write_slopes(contract_writer *w, const mc_contract_step *s, int k, const char *term, int parameter,
                         weighing how) {
    for (int64_t c = 0; c < s->d && s->slot[parameter] >= 0; c++) {
        mc_text_add(w->t, "    g[%lld] += b%d * p[%lld] * ", slot_at(s, parameter, c), k,
                    put_number(w, slope_of(how, parameter_at(s, parameter, c))));
        write_term(w, term, s->column[c]);
        mc_text_add(w->t, ";\n");
    }
}

/* ---- Atoms ---- */

typedef struct atom_source {
    void (*forward)(contract_writer *w, const mc_contract_step *s, int k);
    void (*backward)(contract_writer *w, const mc_contract_step *s, int k);
} atom_source;

static void rbf_forward(contract_writer *w, const mc_contract_step *s, int k) {
    write_sum(w, s, k, SQUARE, 0, PLAIN);
    mc_text_add(w->t, "    const double v%d = exp(-s%d);\n", k, k);
}

static void rbf_backward(contract_writer *w, const mc_contract_step *s, int k) {
    mc_text_add(w->t, "    const double b%d = -a%d * v%d;\n", k, k, k);
    write_slopes(w, s, k, SQUARE, 0, PLAIN);
}

static void laplacian_forward(contract_writer *w, const mc_contract_step *s, int k) {
    write_sum(w, s, k, ABSOLUTE, 0, PLAIN);
    mc_text_add(w->t, "    const double v%d = exp(-s%d);\n", k, k);
}

static void laplacian_backward(contract_writer *w, const mc_contract_step *s, int k) {
    mc_text_add(w->t, "    const double b%d = -a%d * v%d;\n", k, k, k);
    write_slopes(w, s, k, ABSOLUTE, 0, PLAIN);
}

static void exponential_forward(contract_writer *w, const mc_contract_step *s, int k) {
    write_sum(w, s, k, SQUARE, 0, SQUARED);
    mc_text_add(w->t, "    const double v%d = exp(-sqrt(s%d));\n", k, k);
}

static void write_root_slope(contract_writer *w, int k) {
    mc_text_add(w->t, "    const double b%d = s%d > 0 ? -a%d * v%d / (2 * sqrt(s%d)) : 0;\n", k, k, k, k, k);
}

static void exponential_backward(contract_writer *w, const mc_contract_step *s, int k) {
    write_root_slope(w, k);
    write_slopes(w, s, k, SQUARE, 0, SQUARED);
}

static void matern_forward(contract_writer *w, const mc_contract_step *s, int k) {
    const double nu = s->node->parameter[0].number;
    write_sum(w, s, k, SQUARE, 1, INVERSE);
    mc_text_add(w->t, "    const double q%d = sqrt(%g * s%d), e%d = exp(-q%d), v%d = ", k, 2 * nu, k, k, k, k);
    mc_text_add(w->t,
                nu == 0.5   ? "e%d;\n"
                : nu == 1.5 ? "(1 + q%d) * e%d;\n"
                            : "(1 + q%d + q%d * q%d / 3) * e%d;\n",
                k, k, k, k);
}

static void matern_backward(contract_writer *w, const mc_contract_step *s, int k) {
    const double nu = s->node->parameter[0].number;
    if (nu == 0.5)
        write_root_slope(w, k);
    else if (nu == 1.5)
        mc_text_add(w->t, "    const double b%d = -1.5 * a%d * e%d;\n", k, k, k);
    else
        mc_text_add(w->t, "    const double b%d = -5.0 / 6 * a%d * (1 + q%d) * e%d;\n", k, k, k, k);
    write_slopes(w, s, k, SQUARE, 1, INVERSE);
}

static void rq_forward(contract_writer *w, const mc_contract_step *s, int k) {
    const long long alpha = put_number(w, s->node->parameter[0].number);
    write_sum(w, s, k, SQUARE, 1, INVERSE);
    mc_text_add(w->t, "    const double r%d = p[%lld], o%d = 1 + s%d / (2 * r%d), v%d = pow(o%d, -r%d);\n", k, alpha, k,
                k, k, k, k, k);
}

static void rq_backward(contract_writer *w, const mc_contract_step *s, int k) {
    if (s->slot[0] >= 0)
        mc_text_add(w->t, "    g[%lld] += a%d * v%d * (s%d / (2 * r%d * o%d) - log(o%d));\n", (long long)s->slot[0], k,
                    k, k, k, k, k);
    mc_text_add(w->t, "    const double b%d = -0.5 * a%d * v%d / o%d;\n", k, k, k, k);
    write_slopes(w, s, k, SQUARE, 1, INVERSE);
}

/* w = pi (x - z) / period of each column is kept for the way back. */
static void periodic_forward(contract_writer *w, const mc_contract_step *s, int k) {
    mc_text_add(w->t, "    double s%d = 0;\n", k);
    for (int64_t c = 0; c < s->d; c++) {
        const double l = parameter_at(s, 1, c);
        const long long at = s->column[c], turn = put_number(w, 3.14159265358979323846 / parameter_at(s, 0, c));
        mc_text_add(w->t, "    const double w%d_%lld = p[%lld] * (x[%lld] - z[%lld]);\n", k, (long long)c, turn, at,
                    at);
        mc_text_add(w->t, "    s%d += p[%lld] * sin(w%d_%lld) * sin(w%d_%lld);\n", k, put_number(w, 2 / (l * l)), k,
                    (long long)c, k, (long long)c);
    }
    mc_text_add(w->t, "    const double v%d = exp(-s%d);\n", k, k);
}

static void periodic_backward(contract_writer *w, const mc_contract_step *s, int k) {
    mc_text_add(w->t, "    const double b%d = -a%d * v%d;\n", k, k, k);
    for (int64_t c = 0; c < s->d; c++) {
        const double period = parameter_at(s, 0, c), l = parameter_at(s, 1, c);
        const long long at = c;
        if (s->slot[0] >= 0)
            mc_text_add(w->t, "    g[%lld] += b%d * p[%lld] * sin(2 * w%d_%lld) * w%d_%lld;\n", slot_at(s, 0, c), k,
                        put_number(w, -2 / (period * l * l)), k, at, k, at);
        if (s->slot[1] >= 0)
            mc_text_add(w->t, "    g[%lld] += b%d * p[%lld] * sin(w%d_%lld) * sin(w%d_%lld);\n", slot_at(s, 1, c), k,
                        put_number(w, -4 / (l * l * l)), k, at, k, at);
    }
}

static void linear_forward(contract_writer *w, const mc_contract_step *s, int k) {
    write_sum(w, s, k, PRODUCT, -1, PLAIN);
    mc_text_add(w->t, "    const double v%d = s%d;\n", k, k);
}

static void linear_backward(contract_writer *w, const mc_contract_step *s, int k) {
    (void)w, (void)s, (void)k;
}

static void poly_forward(contract_writer *w, const mc_contract_step *s, int k) {
    const long long at = put_number(w, s->node->parameter[2].number);
    put_number(w, s->node->parameter[1].number);
    put_number(w, s->node->parameter[0].number);
    write_sum(w, s, k, PRODUCT, -1, PLAIN);
    mc_text_add(w->t, "    const double o%d = p[%lld] * s%d + p[%lld], r%d = p[%lld], v%d = pow(o%d, r%d);\n", k, at, k,
                at + 1, k, at + 2, k, k, k);
}

static void poly_backward(contract_writer *w, const mc_contract_step *s, int k) {
    mc_text_add(w->t, "    const double b%d = a%d * r%d * pow(o%d, r%d - 1);\n", k, k, k, k, k);
    if (s->slot[1] >= 0)
        mc_text_add(w->t, "    g[%lld] += b%d;\n", (long long)s->slot[1], k);
    if (s->slot[2] >= 0)
        mc_text_add(w->t, "    g[%lld] += b%d * s%d;\n", (long long)s->slot[2], k, k);
}

static const atom_source atoms[MC_ATOM_COUNT] = {
    [MC_LINEAR] = {linear_forward, linear_backward},
    [MC_POLY] = {poly_forward, poly_backward},
    [MC_RBF] = {rbf_forward, rbf_backward},
    [MC_LAPLACIAN] = {laplacian_forward, laplacian_backward},
    [MC_EXPONENTIAL] = {exponential_forward, exponential_backward},
    [MC_MATERN] = {matern_forward, matern_backward},
    [MC_RQ] = {rq_forward, rq_backward},
    [MC_PERIODIC] = {periodic_forward, periodic_backward},
};

bool mc_contract_has_source(const mc_node *node) {
    const double nu = node->kind == MC_ATOM && node->atom == MC_MATERN ? node->parameter[0].number : 0.5;
    bool has = node->kind == MC_ATOM ? atoms[node->atom].forward != NULL : node->kind != MC_SERIES;
    has = has && (nu == 0.5 || nu == 1.5 || nu == 2.5)
          && !(node->kind == MC_ATOM && node->atom == MC_MATERN && mc_slots_of_value(node, 0) > 0);
    for (int i = 0; i < MC_PARAMETERS_MAX && has && node->kind == MC_ATOM; i++)
        has = node->parameter[i].kind != MC_VALUE_MATRIX;
    for (int i = 0; i < node->children && has; i++)
        has = mc_contract_has_source(node->child[i]);
    return has;
}

/* ---- Nodes ---- */

/* The vector of a weigh is numbered by its step. */
static void write_weight(contract_writer *w, const mc_contract_step *s, int k) {
    if (s->weight)
        mc_text_add(w->t, " * (f[%d * n + i] * f[%d * n + j])", k, k);
}

static void write_forward(contract_writer *w, const mc_contract_step *s, int k) {
    if (s->node->kind == MC_ATOM) {
        atoms[s->node->atom].forward(w, s, k);
        return;
    }
    mc_text_add(w->t, "    const double v%d = ", k);
    if (s->node->kind == MC_NUMBER)
        mc_text_add(w->t, "p[%lld]", put_number(w, s->node->number));
    else if (s->node->kind == MC_EXP)
        mc_text_add(w->t, "exp(v%d)", s->child[0]);
    else if (s->node->kind == MC_POWER)
        mc_text_add(w->t, "pow(v%d, p[%lld])", s->child[0], put_number(w, s->node->number));
    else
        for (int c = 0; c < s->children; c++)
            mc_text_add(w->t, "%sv%d", c == 0 ? "" : s->node->kind == MC_SUM ? " + " : " * ", s->child[c]);
    write_weight(w, s, k);
    mc_text_add(w->t, ";\n");
}

/* The adjoint of child c. */
static void write_adjoint(contract_writer *w, const mc_contract_step *s, int k, int c) {
    mc_text_add(w->t, "    const double a%d = ", s->child[c]);
    if (s->node->kind == MC_POWER) {
        const long long at = put_number(w, s->node->number);
        mc_text_add(w->t, "a%d == 0 ? 0 : a%d * p[%lld] * pow(v%d, p[%lld] - 1)", k, k, at, s->child[0], at);
    } else {
        mc_text_add(w->t, "a%d", k);
    }
    if (s->node->kind == MC_EXP)
        mc_text_add(w->t, " * v%d", k);
    for (int o = 0; o < s->children && s->node->kind == MC_PRODUCT; o++)
        if (o != c)
            mc_text_add(w->t, " * v%d", s->child[o]);
    write_weight(w, s, k);
    mc_text_add(w->t, ";\n");
}

static void write_backward(contract_writer *w, const mc_contract_step *s, int k) {
    if (s->node->kind == MC_ATOM)
        atoms[s->node->atom].backward(w, s, k);
    if (s->node->kind == MC_NUMBER && s->number_slot >= 0)
        mc_text_add(w->t, "    g[%lld] += a%d;\n", (long long)s->number_slot, k);
    for (int c = 0; c < s->children; c++)
        write_adjoint(w, s, k, c);
}

mercer_status mc_contract_source(mercer_ctx *ctx, const mc_contract_steps *steps, int64_t d, double *numbers,
                                 char **out) {
    mc_text t = mc_text_open(ctx);
    contract_writer w = {&t, numbers, 0};
    mc_text_add(&t, "#define D %lld\n#define SLOTS %lld\n%s", (long long)d, (long long)steps->kernel->slots,
                mc_source_contract);
    mc_text_add(&t,
                "FUNCTION void add_pair(const double *p, const double *f, whole n, whole i, whole j, const double *x,\n"
                "                       const double *z, double m, double *g) {\n"
                "    (void)p, (void)f, (void)n, (void)i, (void)j, (void)x, (void)z, (void)g;\n");
    for (int k = 0; k < steps->count; k++)
        write_forward(&w, &steps->step[k], k);
    mc_text_add(&t, "    const double a%d = m;\n", steps->count - 1);
    for (int k = steps->count - 1; k >= 0; k--)
        write_backward(&w, &steps->step[k], k);
    mc_text_add(&t, "}\n%s", mc_source_contract_kernel);
    return mc_text_take(&t, out);
}

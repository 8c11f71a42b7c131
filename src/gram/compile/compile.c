/* compile.c: from the expression to parts and lines.

   emit(node, t, SET | ADD | MULTIPLY, factor) appends lines that make temporary t become (grow by, be multiplied by)
   factor * node. A sum adds its terms into t one by one and a product multiplies its factors in, so that most
   expressions need no other temporary. Atoms that read the same statistic of the same columns share a part: all of
   linear, poly, tanh, rbf, matern, rq, ... on one set of columns cost one dot product a pair. */
#include "base/memory.h"
#include "base/status.h"
#include "gram/compile/compile_parts.h"
#include "gram/features/form_factor.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/language/atoms.h"
#include "kernel/language/node.h"
#include <math.h>

static const double log2e = 1.44269504088896340736;
static const double WHOLE_MOST = 0x1p30; /* powers by squaring: beyond it they lose more digits than logarithms do */

typedef struct compiler {
    mercer_ctx *ctx;
    mc_tile_program *plan;
} compiler;

/* Where a node stands: its view, the temporary it goes to and how. */
typedef struct node_place {
    const mc_view *view;
    int target;
    mc_combine combine;
    double factor;
} node_place;

static mercer_status emit_node(compiler *c, const mc_node *node, node_place at);

static int new_temporary(compiler *c) {
    return c->plan->temporaries++;
}

static mercer_status new_line(compiler *c, mc_function_of_tile function, node_place at, mc_tile_line **out) {
    mc_tile_program *plan = c->plan;
    mc_tile_line *line = mc_grow_block(c->ctx, plan->line, plan->lines + 1, sizeof *line);
    if (!line)
        return MERCER_MEMORY;
    plan->line = line;
    *out = &line[plan->lines++];
    **out = (mc_tile_line){.step = {.function = function,
                                    .combine = at.combine,
                                    .target = at.target,
                                    .source = at.target,
                                    .alpha = 1,
                                    .coefficient = at.factor},
                           .part = -1};
    return MERCER_OK;
}

static mercer_status emit_want(compiler *c, mc_part_want w, mc_function_of_tile function, node_place at,
                               mc_tile_line **out) {
    int part = 0;
    MC_TRY(mc_tile_program_find_part(c->ctx, c->plan, &w, at.view, &part));
    MC_TRY(new_line(c, function, at, out));
    (*out)->part = part;
    (*out)->use = w.use;
    (*out)->a = w.a;
    (*out)->c = w.c;
    return MERCER_OK;
}

/* ---- Atoms ---- */

static double identity_weight(double v) {
    return v;
}

static double square_weight(double v) {
    return v * v;
}

static double inverse_length(double v) {
    return 1 / v;
}

static double inverse_square(double v) {
    return 1 / (v * v);
}

static mc_part_want dot_of(double a, double c) {
    return (mc_part_want){.kind = MC_DOT, .use = MC_USE_DOT, .a = a, .c = c};
}

static mc_part_want distance_of(double a, const mc_value *weight, double (*to_weight)(double)) {
    return (mc_part_want){.kind = MC_DOT, .use = MC_USE_DISTANCE, .a = a, .weight = weight, .to_weight = to_weight};
}

static mc_part_want sum_of(mc_statistic kind, double a, const mc_value *weight) {
    return (mc_part_want){.kind = kind, .use = MC_USE_SUM, .a = a, .weight = weight, .to_weight = identity_weight};
}

/* What raises to the power n: by squaring where n is whole and small enough to count with, otherwise as pow does. */
static mc_function_of_tile function_of_power(double n) {
    return n == 1 ? MC_SAME : fabs(n) <= WHOLE_MOST && n == floor(n) ? MC_WHOLE_POWER : MC_REAL_POWER;
}

static void set_power(mc_tile_line *line, double n) {
    const int64_t parity = n != floor(n) ? 0 : fmod(n, 2) == 0 ? 2 : 1;
    line->step.p = n;
    line->step.degree = line->step.function == MC_WHOLE_POWER ? (int64_t)n : parity;
}

/* (a <x, z> + c)^n. */
static mercer_status emit_power_of_dot(compiler *c, mc_part_want w, double n, node_place at) {
    mc_tile_line *line;
    MC_TRY(emit_want(c, w, function_of_power(n), at, &line));
    set_power(line, n);
    return MERCER_OK;
}

static mercer_status emit_rq(compiler *c, const mc_node *node, node_place at) {
    const double alpha = node->parameter[0].number;
    mc_tile_line *line;
    MC_TRY(emit_want(c, distance_of(-1 / (2 * alpha), &node->parameter[1], inverse_square), MC_RATIONAL, at, &line));
    line->step.p = alpha;
    line->step.degree = alpha <= 8 && alpha == floor(alpha) ? -(int64_t)alpha : 0;
    return MERCER_OK;
}

static mercer_status emit_matern(compiler *c, const mc_node *node, node_place at) {
    const double nu = node->parameter[0].number;
    const mc_function_of_tile function = nu == 0.5 ? MC_ROOT : nu == 1.5 ? MC_MATERN3 : MC_MATERN5;
    mc_tile_line *line;
    if (!mc_matern_is_elementary(nu)) {
        MC_TRY(emit_want(c, distance_of(-2 * nu, &node->parameter[1], inverse_square), MC_LOOKED_UP, at, &line));
        line->step.p = nu;
        return MERCER_OK;
    }
    return emit_want(c, distance_of(-2 * nu * log2e * log2e, &node->parameter[1], inverse_square), function, at, &line);
}

static mercer_status emit_periodic(compiler *c, const mc_node *node, node_place at) {
    mc_part_want w = distance_of(-0.5 * log2e, &node->parameter[1], inverse_square);
    w.feature = MC_COS_SIN;
    w.period = &node->parameter[0];
    mc_tile_line *line;
    return emit_want(c, w, MC_EXP2, at, &line);
}

/* A line that takes vectors: t <- t row_i column_j, and the like. */
static mercer_status emit_vector(compiler *c, mc_vector_kind kind, const mc_node *node, int source, node_place at,
                                 mc_tile_line **out) {
    static const mc_function_of_tile functions[] = {
        [MC_VECTOR_NORMALIZE] = MC_SCALE_SIGN, [MC_VECTOR_WEIGH] = MC_SCALE,  [MC_VECTOR_NORM] = MC_SCALE,
        [MC_VECTOR_POWER] = MC_SAME,           [MC_VECTOR_ORIGIN] = MC_SCALE, [MC_VECTOR_LENGTH] = MC_MEAN_LENGTH,
        [MC_VECTOR_IDENTITY] = MC_EQUAL};
    MC_TRY(new_line(c, functions[kind], at, out));
    (*out)->step.source = source;
    (*out)->vector = kind;
    (*out)->node = node;
    (*out)->columns = at.view->d;
    return mc_flatten_view(c->ctx, at.view, &(*out)->column);
}

/* Where a value is made before it is scaled into its place: the place itself when it will be overwritten anyway. */
static node_place intermediate_place(compiler *c, node_place at) {
    return (node_place){
        .view = at.view, .target = at.combine == MC_SET ? at.target : new_temporary(c), .combine = MC_SET, .factor = 1};
}

static mercer_status emit_arccos(compiler *c, const mc_node *node, node_place at) {
    static const mc_function_of_tile functions[] = {MC_ARC0, MC_ARC1, MC_ARC2};
    const int order = (int)node->parameter[0].number;
    const mc_part_want w = {.kind = MC_DOT, .feature = MC_UNIT, .use = MC_USE_ANGLE, .a = 1};
    mc_tile_line *line;
    if (order == 0)
        return emit_want(c, w, MC_ARC0, at, &line);
    const node_place there = intermediate_place(c, at);
    MC_TRY(emit_want(c, w, functions[order], there, &line));
    MC_TRY(emit_vector(c, MC_VECTOR_NORM, node, there.target, at, &line));
    line->power = order;
    return MERCER_OK;
}

static mercer_status emit_white(compiler *c, const mc_node *node, node_place at) {
    mc_tile_line *line;
    return emit_vector(c, MC_VECTOR_IDENTITY, node, at.target, at, &line);
}

static mercer_status emit_wendland(compiler *c, const mc_node *node, node_place at) {
    const double k = node->parameter[0].number;
    mc_tile_line *line;
    MC_TRY(emit_want(c, distance_of(-1, &node->parameter[2], inverse_square), MC_COMPACT, at, &line));
    line->step.p = k;
    line->step.degree = (int64_t)(floor(node->parameter[1].number / 2) + k + 1);
    return MERCER_OK;
}

/* factor |x - z|^p, and what is centred at the origin beside it: -factor (|x|^p + |z|^p), which is 0 of a row of zeros,
   whatever the roundings are. */
static mercer_status emit_distance_power(compiler *c, const mc_node *node, double p, bool centred, double factor,
                                         node_place at) {
    const node_place there = centred ? intermediate_place(c, at) : at;
    mc_tile_line *line;
    mc_part_want w = distance_of(-1, NULL, NULL);
    w.exact = true;
    MC_TRY(emit_want(c, w, MC_DISTANCE_POWER, there, &line));
    line->step.p = p / 2;
    line->step.coefficient *= centred ? 1 : factor;
    if (!centred)
        return MERCER_OK;
    MC_TRY(emit_vector(c, MC_VECTOR_POWER, node, there.target, there, &line));
    line->power = p;
    line->step.coefficient = -1;
    at.factor *= -factor;
    return emit_vector(c, MC_VECTOR_ORIGIN, node, there.target, at, &line);
}

/* 2^(-|x - z|^2 log2(e) / t) (4 f^2 g^2 / t^2)^(d/4), t = f^2 + g^2. */
static mercer_status emit_gibbs(compiler *c, const mc_node *node, node_place at) {
    mc_part_want w = distance_of(-log2e, NULL, NULL);
    mc_tile_line *line;
    int part = 0;
    MC_TRY(mc_tile_program_find_part(c->ctx, c->plan, &w, at.view, &part));
    MC_TRY(emit_vector(c, MC_VECTOR_LENGTH, node, at.target, at, &line));
    line->part = part;
    line->use = w.use;
    line->a = w.a;
    line->step.p = 0.25 * (double)at.view->d;
    return MERCER_OK;
}

/* Values that come from elsewhere, or from the reference evaluator. */
static mercer_status emit_pairwise(compiler *c, const mc_node *node, node_place at) {
    mc_tile_line *line;
    return emit_want(c, (mc_part_want){.kind = MC_MINIMUM, .use = MC_USE_SUM, .a = 1, .precomputed = node}, MC_SAME, at,
                     &line);
}

/* A Gaussian of rows times a factor of the matrix, where it has one that is good enough. */
static mercer_status emit_rbf_form(compiler *c, const mc_node *node, node_place at) {
    mc_part_want w = distance_of(-log2e, NULL, NULL);
    mc_tile_line *line;
    mc_factor factor;
    w.feature = MC_FACTOR;
    w.matrix = &node->parameter[0];
    MC_TRY(mc_form_factor(c->ctx, w.matrix, &factor));
    if (!factor.L)
        return emit_pairwise(c, node, at);
    const mercer_status status = emit_want(c, w, MC_EXP2, at, &line);
    if (status || c->plan->part[line->part].factor.L)
        mc_factor_free(&factor);
    else
        c->plan->part[line->part].factor = factor;
    return status;
}

static mercer_status emit_product_of_columns(compiler *c, mc_statistic kind, const mc_value *scale, node_place at) {
    mc_tile_line *line;
    const mc_part_want w = {.kind = kind, .use = MC_USE_SUM, .a = 1, .weight = scale, .to_weight = inverse_length};
    return emit_want(c, w, MC_SAME, at, &line);
}

static mercer_status emit_atom(compiler *c, const mc_node *node, node_place at) {
    const mc_value *p = node->parameter;
    mc_tile_line *line;
    if (mc_atom_is_pairwise(node))
        return emit_pairwise(c, node, at);
    switch (node->atom) {
    case MC_LINEAR: return emit_power_of_dot(c, dot_of(1, 0), 1, at);
    case MC_POLY: return emit_power_of_dot(c, dot_of(p[2].number, p[1].number), p[0].number, at);
    case MC_RBF: return emit_want(c, distance_of(-log2e, &p[0], identity_weight), MC_EXP2, at, &line);
    case MC_LAPLACIAN: return emit_want(c, sum_of(MC_ABSOLUTE, -log2e, &p[0]), MC_EXP2, at, &line);
    case MC_EXPONENTIAL: return emit_want(c, distance_of(-log2e * log2e, &p[0], square_weight), MC_ROOT, at, &line);
    case MC_MATERN: return emit_matern(c, node, at);
    case MC_RQ: return emit_rq(c, node, at);
    case MC_PERIODIC: return emit_periodic(c, node, at);
    case MC_COSINE:
        return emit_want(c, (mc_part_want){.feature = MC_UNIT, .use = MC_USE_DOT, .a = 1}, MC_SAME, at, &line);
    case MC_CHI2: return emit_want(c, sum_of(MC_CHI, -log2e * p[0].number, NULL), MC_EXP2, at, &line);
    case MC_INTERSECTION: return emit_want(c, sum_of(MC_MINIMUM, 1, NULL), MC_SAME, at, &line);
    case MC_ARCCOS: return emit_arccos(c, node, at);
    case MC_TANH: return emit_want(c, dot_of(p[0].number, p[1].number), MC_HYPERBOLIC, at, &line);
    case MC_WHITE: return emit_white(c, node, at);
    case MC_FORM:
        return emit_want(c, (mc_part_want){.feature = MC_IMAGE, .use = MC_USE_DOT, .a = 1, .matrix = &p[0]}, MC_SAME,
                         at, &line);
    case MC_SPECTRUM:
    case MC_SUBSEQUENCE:
    case MC_WEIGHTED_DEGREE:
    case MC_WORDS:
    case MC_TFIDF: return emit_want(c, (mc_part_want){.use = MC_USE_DOT, .a = 1, .strings = node}, MC_SAME, at, &line);
    case MC_TANIMOTO: return emit_want(c, sum_of(MC_MINIMUM, 1, NULL), MC_RATIO, at, &line);
    case MC_ADDITIVE_CHI2: return emit_want(c, sum_of(MC_HARMONIC, 2, NULL), MC_SAME, at, &line);
    case MC_WENDLAND: return emit_wendland(c, node, at);
    case MC_SINC: return emit_product_of_columns(c, MC_SINC_PRODUCT, &p[0], at);
    case MC_SPLINE: return emit_product_of_columns(c, MC_SPLINE_PRODUCT, NULL, at);
    case MC_BROWNIAN: return emit_distance_power(c, node, 2 * p[0].number, true, -0.5, at);
    case MC_POWER_DISTANCE: return emit_distance_power(c, node, p[0].number, mc_atom_is_centred(node), -1, at);
    case MC_GIBBS: return emit_gibbs(c, node, at);
    case MC_RBF_FORM: return emit_rbf_form(c, node, at);
    case MC_LOG:
    case MC_MULTIQUADRIC:
    case MC_THIN_PLATE:
    case MC_MEAN_MAP:
    case MC_PRECOMPUTED:
    case MC_USER: return emit_pairwise(c, node, at);
    case MC_ATOM_COUNT: break;
    }
    return mc_fail(c->ctx, MERCER_INTERNAL, "an atom without a tile");
}

/* ---- Inner nodes ---- */

/* Is node a <x, z> + c for one atom of that kind? Then a power or an exponential of it is one line. */
static bool affine_in_dot(const mc_node *node, mc_part_want *w) {
    if (node->kind == MC_ATOM
        && (node->atom == MC_LINEAR || (node->atom == MC_POLY && node->parameter[0].number == 1))) {
        *w = node->atom == MC_LINEAR ? dot_of(1, 0) : dot_of(node->parameter[2].number, node->parameter[1].number);
        return true;
    }
    if (node->kind != MC_SUM && node->kind != MC_PRODUCT)
        return false;
    double number = node->kind == MC_SUM ? 0 : 1;
    int found = 0;
    for (int i = 0; i < node->children; i++) {
        const mc_node *child = node->child[i];
        if (child->kind == MC_NUMBER)
            number = node->kind == MC_SUM ? number + child->number : number * child->number;
        else if (!affine_in_dot(child, w) || found++)
            return false;
    }
    w->a *= node->kind == MC_SUM ? 1 : number;
    w->c = node->kind == MC_SUM ? w->c + number : w->c * number;
    return found == 1;
}

static mercer_status emit_number(compiler *c, double number, node_place at) {
    mc_tile_line *line;
    at.factor *= number;
    return new_line(c, MC_CONSTANT, at, &line);
}

/* t <-, +=, *= factor f(t'), t' holding the child. */
static mercer_status emit_function(compiler *c, const mc_node *child, mc_function_of_tile function, node_place at,
                                   mc_tile_line **out) {
    const node_place there = intermediate_place(c, at);
    MC_TRY(emit_node(c, child, there));
    MC_TRY(new_line(c, function, at, out));
    (*out)->step.source = there.target;
    return MERCER_OK;
}

static mercer_status emit_sum(compiler *c, const mc_node *node, node_place at) {
    if (at.combine == MC_MULTIPLY && node->children > 1) {
        mc_tile_line *line;
        return emit_function(c, node, MC_SAME, at, &line);
    }
    for (int i = 0; i < node->children; i++) {
        node_place here = at;
        here.combine = i > 0 ? MC_ADD : at.combine;
        MC_TRY(emit_node(c, node->child[i], here));
    }
    return MERCER_OK;
}

static mercer_status emit_factors(compiler *c, const mc_node *node, node_place at) {
    bool first = true;
    for (int i = 0; i < node->children; i++) {
        if (node->child[i]->kind == MC_NUMBER)
            continue;
        node_place here = at;
        here.combine = first ? at.combine : MC_MULTIPLY;
        here.factor = first ? at.factor : 1;
        first = false;
        MC_TRY(emit_node(c, node->child[i], here));
    }
    return first ? emit_number(c, 1, at) : MERCER_OK;
}

static mercer_status emit_product(compiler *c, const mc_node *node, node_place at) {
    int others = 0;
    double number = 1;
    for (int i = 0; i < node->children; i++)
        if (node->child[i]->kind == MC_NUMBER)
            number *= node->child[i]->number;
        else
            others++;
    at.factor *= number;
    if (at.combine != MC_ADD || others <= 1)
        return emit_factors(c, node, at);
    const node_place there = intermediate_place(c, at);
    MC_TRY(emit_factors(c, node, there));
    mc_tile_line *line;
    MC_TRY(new_line(c, MC_SAME, at, &line));
    line->step.source = there.target;
    return MERCER_OK;
}

static mercer_status emit_power(compiler *c, const mc_node *node, node_place at) {
    const mc_node *child = node->child[0];
    mc_part_want w;
    mc_tile_line *line;
    if (node->number != 0 && affine_in_dot(child, &w))
        return emit_power_of_dot(c, w, node->number, at);
    MC_TRY(emit_function(c, child, function_of_power(node->number), at, &line));
    set_power(line, node->number);
    return MERCER_OK;
}

static mercer_status emit_exp(compiler *c, const mc_node *node, node_place at) {
    mc_part_want w;
    mc_tile_line *line;
    if (affine_in_dot(node->child[0], &w)) {
        w.a *= log2e;
        w.c *= log2e;
        return emit_want(c, w, MC_EXP2, at, &line);
    }
    MC_TRY(emit_function(c, node->child[0], MC_EXP2, at, &line));
    line->step.alpha = log2e;
    return MERCER_OK;
}

static mercer_status emit_series(compiler *c, const mc_node *node, node_place at) {
    static const mc_function_of_tile functions[MC_SERIES_COUNT] = {
        [MC_LOGARITHMIC] = MC_LOG_SERIES, [MC_ARCSIN] = MC_ARC_SINE, [MC_BESSEL_I0] = MC_BESSEL};
    mc_tile_line *line;
    return emit_function(c, node->child[0], functions[node->series], at, &line);
}

static mercer_status emit_scaled(compiler *c, mc_vector_kind kind, const mc_node *node, node_place at) {
    const node_place there = intermediate_place(c, at);
    MC_TRY(emit_node(c, node->child[0], there));
    mc_tile_line *line;
    return emit_vector(c, kind, node, there.target, at, &line);
}

static mercer_status emit_columns(compiler *c, const mc_node *node, node_place at) {
    const mc_view inner = mc_view_columns(at.view, node);
    at.view = &inner;
    return emit_node(c, node->child[0], at);
}

static mercer_status emit_node(compiler *c, const mc_node *node, node_place at) {
    switch (node->kind) {
    case MC_NUMBER: return emit_number(c, node->number, at);
    case MC_ATOM: return emit_atom(c, node, at);
    case MC_SUM: return emit_sum(c, node, at);
    case MC_PRODUCT: return emit_product(c, node, at);
    case MC_POWER: return emit_power(c, node, at);
    case MC_EXP: return emit_exp(c, node, at);
    case MC_SERIES: return emit_series(c, node, at);
    case MC_NORMALIZE: return emit_scaled(c, MC_VECTOR_NORMALIZE, node, at);
    case MC_WEIGH: return emit_scaled(c, MC_VECTOR_WEIGH, node, at);
    case MC_COLUMNS: return emit_columns(c, node, at);
    }
    return mc_fail(c->ctx, MERCER_INTERNAL, "a node without a tile");
}

/* What a matrix or a function of the program says is not asked pair by pair. */
static bool allows_reference(const mc_node *root) {
    if (root->kind == MC_ATOM && (root->atom == MC_PRECOMPUTED || root->atom == MC_USER))
        return false;
    for (int i = 0; i < root->children; i++)
        if (!allows_reference(root->child[i]))
            return false;
    return true;
}

mercer_status mc_tile_program_compile(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_tile_program *plan) {
    *plan = (mc_tile_program){.temporaries = 1, .allows_reference = allows_reference(root)};
    compiler c = {.ctx = ctx, .plan = plan};
    const mc_view all = {.d = d};
    return emit_node(&c, root, (node_place){.view = &all, .target = 0, .combine = MC_SET, .factor = 1});
}

mercer_status mc_tile_program_by_reference(mercer_ctx *ctx, const mc_node *root, int64_t d, mc_tile_program *plan) {
    *plan = (mc_tile_program){.temporaries = 1};
    compiler c = {.ctx = ctx, .plan = plan};
    const mc_view all = {.d = d};
    const mc_part_want w = {.kind = MC_MINIMUM, .use = MC_USE_SUM, .a = 1, .precomputed = root};
    mc_tile_line *line;
    MC_TRY(emit_want(&c, w, MC_SAME, (node_place){.view = &all, .target = 0, .combine = MC_SET, .factor = 1}, &line));
    plan->part[0].by_reference = true;
    return MERCER_OK;
}

void mc_tile_program_free(mc_tile_program *plan) {
    for (int i = 0; i < plan->parts; i++)
        mc_tile_part_free(&plan->part[i]);
    for (int i = 0; i < plan->lines; i++) {
        mc_tile_line *line = &plan->line[i];
        mc_free(line->column);
        if (line->col_double != line->row_double)
            mc_free(line->col_double);
        mc_free(line->row_double);
        if (line->col != line->row)
            mc_free(line->col);
        mc_free(line->row);
        mc_free(line->table);
    }
    mc_free(plan->part);
    mc_free(plan->line);
    *plan = (mc_tile_program){0};
}

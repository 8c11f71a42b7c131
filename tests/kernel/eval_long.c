#include "eval_long.h"
#include <math.h>

enum { ROW_MAX = 1024 };

static const long double PI = 3.14159265358979323846264338327950288L;

static long double value(const mc_value *v, int64_t j) {
    return v->kind == MC_VALUE_VECTOR ? v->numbers[j] : v->number;
}

static long double dot(const double *x, const double *z, int64_t d) {
    long double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += (long double)x[j] * z[j];
    return sum;
}

static long double radius2(const mc_value *scale, const double *x, const double *z, int64_t d) {
    long double sum = 0;
    for (int64_t j = 0; j < d; j++)
        sum += powl(((long double)x[j] - z[j]) / value(scale, j), 2);
    return sum;
}

/* Of x and z, by their unit vectors' difference and sum: no digit is lost near 0 and pi. A zero vector stands at a right angle to all. */
static long double angle(const double *x, const double *z, int64_t d, long double a, long double b) {
    long double minus = 0, plus = 0;
    for (int64_t j = 0; j < d && a > 0 && b > 0; j++) {
        minus += powl(x[j] / a - z[j] / b, 2);
        plus += powl(x[j] / a + z[j] / b, 2);
    }
    return a > 0 && b > 0 ? 2 * atan2l(sqrtl(minus), sqrtl(plus)) : PI / 2;
}

static long double arccos(const double *x, const double *z, int64_t d, double order) {
    const long double a = sqrtl(dot(x, x, d)), b = sqrtl(dot(z, z, d));
    const long double t = angle(x, z, d, a, b), c = cosl(t), s = sinl(t);
    if (order == 0)
        return 1 - t / PI;
    if (order == 1)
        return a * b * (s + (PI - t) * c) / PI;
    return a * a * b * b * (3 * s * c + (PI - t) * (1 + 2 * c * c)) / PI;
}

static long double over_columns(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_value *p = node->parameter;
    long double sum = 0;
    for (int64_t j = 0; j < d; j++) {
        const long double u = (long double)x[j] - z[j], total = (long double)x[j] + z[j];
        switch (node->atom) {
        case MC_RBF: sum += value(p, j) * u * u; break;
        case MC_LAPLACIAN: sum += value(p, j) * fabsl(u); break;
        case MC_EXPONENTIAL: sum += powl(value(p, j) * u, 2); break;
        case MC_PERIODIC: sum += 2 * powl(sinl(PI * u / value(p, j)) / value(p + 1, j), 2); break;
        case MC_CHI2: sum += total > 0 ? value(p, 0) * u * u / total : 0; break;
        case MC_INTERSECTION: sum += fminl(x[j], z[j]); break;
        default: break;
        }
    }
    return sum;
}

static long double matern(long double nu, long double q2) {
    const long double s = sqrtl(2 * nu * q2);
    return (nu < 1 ? 1 : nu < 2 ? 1 + s : 1 + s + s * s / 3) * expl(-s);
}

static long double form(const mc_value *A, const double *x, const double *z, int64_t d) {
    long double sum = 0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            sum += (long double)A->numbers[i * d + j] * x[i] * z[j];
    return sum;
}

static bool same(const double *x, const double *z, int64_t d) {
    for (int64_t j = 0; j < d; j++)
        if (x[j] != z[j])
            return false;
    return true;
}

static long double atom(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_value *p = node->parameter;
    const long double xz = dot(x, z, d), norms = dot(x, x, d) * dot(z, z, d);
    switch (node->atom) {
    case MC_LINEAR: return xz;
    case MC_POLY: return powl(p[2].number * xz + p[1].number, p[0].number);
    case MC_EXPONENTIAL: return expl(-sqrtl(over_columns(node, x, z, d)));
    case MC_MATERN: return matern(p[0].number, radius2(&p[1], x, z, d));
    case MC_RQ: return powl(1 + radius2(&p[1], x, z, d) / (2 * (long double)p[0].number), -(long double)p[0].number);
    case MC_COSINE: return norms > 0 ? xz / sqrtl(norms) : 0;
    case MC_INTERSECTION: return over_columns(node, x, z, d);
    case MC_ARCCOS: return arccos(x, z, d, p[0].number);
    case MC_TANH: return tanhl(p[0].number * xz + p[1].number);
    case MC_WHITE: return same(x, z, d);
    case MC_FORM: return form(p, x, z, d);
    default: return expl(-over_columns(node, x, z, d));
    }
}

static long double function(const mc_function *f, const double *x, int64_t d) {
    const long double a = f->child[0] ? function(f->child[0], x, d) : 0, b = f->child[1] ? function(f->child[1], x, d) : 0;
    switch (f->kind) {
    case MC_F_NUMBER: return f->number;
    case MC_F_NORM2: return dot(x, x, d);
    case MC_F_NORM: return sqrtl(dot(x, x, d));
    case MC_F_COLUMN: return x[f->column];
    case MC_F_NEGATE: return -a;
    case MC_F_ADD: return a + b;
    case MC_F_SUBTRACT: return a - b;
    case MC_F_MULTIPLY: return a * b;
    case MC_F_DIVIDE: return a / b;
    case MC_F_POWER: return powl(a, b);
    case MC_F_EXP: return expl(a);
    case MC_F_LOG: return logl(a);
    case MC_F_SQRT: return sqrtl(a);
    case MC_F_SIN: return sinl(a);
    case MC_F_COS: return cosl(a);
    case MC_F_TANH: return tanhl(a);
    case MC_F_ABS: return fabsl(a);
    }
    return NAN;
}

static long double seen(const mc_node *node, const double *x, const double *z) {
    double u[ROW_MAX], v[ROW_MAX];
    for (int64_t j = 0; j < node->columns; j++) {
        u[j] = x[node->column[j]];
        v[j] = z[node->column[j]];
    }
    return eval_long(node->child[0], u, v, node->columns);
}

static long double normalised(const mc_node *child, const double *x, const double *z, int64_t d) {
    const long double a = eval_long(child, x, x, d), b = eval_long(child, z, z, d);
    return a * b > 0 ? eval_long(child, x, z, d) / sqrtl(a * b) : 0;
}

long double eval_long(const mc_node *node, const double *x, const double *z, int64_t d) {
    long double r = node->kind == MC_SUM ? 0 : 1;
    switch (node->kind) {
    case MC_NUMBER: return node->number;
    case MC_ATOM: return atom(node, x, z, d);
    case MC_SUM:
    case MC_PRODUCT:
        for (int i = 0; i < node->children; i++) {
            const long double k = eval_long(node->child[i], x, z, d);
            r = node->kind == MC_SUM ? r + k : r * k;
        }
        return r;
    case MC_POWER: return powl(eval_long(node->child[0], x, z, d), node->number);
    case MC_EXP: return expl(eval_long(node->child[0], x, z, d));
    case MC_NORMALIZE: return normalised(node->child[0], x, z, d);
    case MC_WEIGH: return function(node->function, x, d) * eval_long(node->child[0], x, z, d) * function(node->function, z, d);
    case MC_COLUMNS: return seen(node, x, z);
    }
    return NAN;
}

long double form_long(const mc_node *node, const mercer_witness *w) {
    long double sum = 0;
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < w->count; j++)
            sum += (long double)w->weights[i] * w->weights[j]
                   * eval_long(node, w->points + i * w->d, w->points + j * w->d, w->d);
    return sum;
}

#include "eval_long.h"
#include <float.h>
#include <math.h>

enum { ROW_MAX = 1024 };

/* ---- numbers ---- */

#ifdef HAVE_QUADMATH
real acosq(real), asinq(real), atan2q(real, real), cosq(real), expq(real), logq(real), log1pq(real), powq(real, real),
    sinq(real), sqrtq(real), tanhq(real);
#define CALL(name) name##q
#define OWN_UNIT 0x1p-106L /* of the last place, with the library's few units */
#define OWN_LEAST 0x1p-16300L
#else
#define CALL(name) name##l
#define OWN_UNIT (8 * LDBL_EPSILON)
#define OWN_LEAST LDBL_MIN
#endif

static const real DOUBLE_UNIT = 0x1p-51, DOUBLE_LEAST = 0x1p-1070;

static real size_of(real a) {
    return a < 0 ? -a : a;
}

/* v with the errors its operands hand down and the rounding of this step; what a double cannot hold may be anything
   there. */
static wide rounded(real v, real e, real f) {
    return (wide){v, e + size_of(v) * OWN_UNIT,
                  size_of(v) < 1e300 ? f + size_of(v) * DOUBLE_UNIT + DOUBLE_LEAST : (real)INFINITY};
}

/* A result that underflowed is not the 0 it looks like. */
static wide not_zero(wide a) {
    return (wide){a.v, a.e + OWN_LEAST, a.f};
}

static wide number(double c) {
    return (wide){c, 0, 0};
}

static wide unknown(void) {
    return (wide){NAN, INFINITY, INFINITY};
}

static wide negate(wide a) {
    return (wide){-a.v, a.e, a.f};
}

static wide add(wide a, wide b) {
    return rounded(a.v + b.v, a.e + b.e, a.f + b.f);
}

static wide subtract(wide a, wide b) {
    return add(a, negate(b));
}

/* An error times a size; an infinite one stays so, whatever the size. */
static real times(real e, real size) {
    return e == 0 || e - e != 0 ? e : e * size;
}

static real product_error(real a, real ea, real b, real eb) {
    return times(eb, size_of(a)) + times(ea, size_of(b) + eb);
}

static wide multiply(wide a, wide b) {
    const wide r = rounded(a.v * b.v, product_error(a.v, a.e, b.v, b.e), product_error(a.v, a.f, b.v, b.f));
    return r.v == 0 && a.v != 0 && b.v != 0 ? not_zero(r) : r;
}

/* |a/b - a'/b'| <= (ea + |a/b| eb) / (|b| - eb); nothing is known where b may be 0. */
static real quotient_error(real v, real ea, real b, real eb) {
    return size_of(b) > eb ? (ea + times(eb, size_of(v))) / (size_of(b) - eb) : (real)INFINITY;
}

static wide divide(wide a, wide b) {
    const real v = a.v / b.v;
    const wide r = rounded(v, quotient_error(v, a.e, b.v, b.e), quotient_error(v, a.f, b.v, b.f));
    return v == 0 && a.v != 0 ? not_zero(r) : r;
}

typedef real function_of(real);

/* exp(a + e) - exp(a) = exp(a) (exp(e) - 1), and exp(e) - 1 <= 2e up to 1/2 */
static real growth(real e) {
    return e < 0.5 ? 2 * e : CALL(exp)(e);
}

static wide exponential(wide a) {
    const real v = CALL(exp)(a.v);
    return not_zero(rounded(v, times(growth(a.e), v), times(growth(a.f), v)));
}

/* |sqrt(a) - sqrt(b)| <= |a - b| / (sqrt(a) + sqrt(b)), and <= sqrt(|a - b|) */
static real root_error(real v, real e) {
    return e == 0 ? 0 : v > 0 && e / v < CALL(sqrt)(e) ? e / v : CALL(sqrt)(e);
}

static wide root(wide a) {
    const real v = CALL(sqrt)(a.v);
    return rounded(v, root_error(v, a.e), root_error(v, a.f));
}

static real log_error(real a, real e) {
    return a > e ? e / (a - e) : (real)INFINITY;
}

static wide logarithm(wide a) {
    return rounded(CALL(log)(a.v), log_error(a.v, a.e), log_error(a.v, a.f));
}

static wide absolute(wide a) {
    return a.v < 0 ? negate(a) : a;
}

/* Sine, cosine, hyperbolic tangent: |f'| <= 1 and |f| <= 1. */
static wide wave(function_of *f, wide a) {
    const wide r = rounded(f(a.v), a.e, a.f);
    return (wide){r.v, r.e + OWN_UNIT, r.f + DOUBLE_UNIT};
}

/* The derivative p t^(p-1) over the t that a may be. */
static real power_error(real a, real e, real p) {
    const real most = size_of(a) + e, least = size_of(a) - e;
    if (p >= 1)
        return times(e, p * CALL(pow)(most, p - 1));
    if (least > 0)
        return size_of(p) * CALL(pow)(least, p - 1) * e;
    return p > 0 ? 2 * CALL(pow)(most, p) : (real)INFINITY;
}

/* A power that is not whole of what may be negative in double may have no value there. */
static wide power(wide a, double p) {
    if (p == 0)
        return number(1);
    const bool lost = p != floor(p) && a.f > 0 && !(a.v > a.f);
    const real f = lost ? (real)INFINITY : a.f > 0 ? power_error(a.v, a.f, p) : 0;
    const wide r = rounded(CALL(pow)(a.v, p), a.e > 0 ? power_error(a.v, a.e, p) : 0, f);
    return r.v == 0 && a.v != 0 ? not_zero(r) : r;
}

static wide pi(void) {
    return rounded(CALL(acos)(-1), 0, 0);
}

/* v / sqrt(a b), 0 where that has no value; unknown where a sign cannot be told. */
static wide normalised(wide v, wide a, wide b) {
    const bool defined = a.v == a.v && b.v == b.v;
    /* by an overflow in double: infinity times 0 */
    const real spoiled = a.f - a.f == 0 && b.f - b.f == 0 ? 0 : (real)INFINITY;
    if (defined && ((a.v == 0 && a.e == 0) || (b.v == 0 && b.e == 0)))
        return (wide){0, 0, spoiled};
    if (!(size_of(a.v) > a.e) || !(size_of(b.v) > b.e)) /* NaN too */
        return unknown();
    const bool sure = size_of(a.v) > a.f && size_of(b.v) > b.f;
    const wide k = (a.v < 0) != (b.v < 0) ? number(0) : divide(v, multiply(root(absolute(a)), root(absolute(b))));
    return (wide){k.v, k.e, sure ? k.f : (real)INFINITY};
}

/* ---- atoms ---- */

static wide value(const mc_value *v, int64_t j) {
    return number(v->kind == MC_VALUE_VECTOR ? v->numbers[j] : v->number);
}

static wide dot(const double *x, const double *z, int64_t d) {
    wide sum = number(0);
    for (int64_t j = 0; j < d; j++)
        sum = add(sum, multiply(number(x[j]), number(z[j])));
    return sum;
}

static wide square(wide a) {
    return multiply(a, a);
}

static wide radius2(const mc_value *scale, const double *x, const double *z, int64_t d) {
    wide sum = number(0);
    for (int64_t j = 0; j < d; j++)
        sum = add(sum, square(divide(subtract(number(x[j]), number(z[j])), value(scale, j))));
    return sum;
}

/* 2 atan(s / c) of the unit vectors' difference and sum: no digit is lost near 0 and pi. A zero vector stands at a
   right angle to all. */
static wide angle(const double *x, const double *z, int64_t d, wide a, wide b) {
    wide minus = number(0), plus = number(0);
    if (a.v == 0 || b.v == 0)
        return divide(pi(), number(2));
    for (int64_t j = 0; j < d; j++) {
        const wide u = divide(number(x[j]), a), v = divide(number(z[j]), b);
        minus = add(minus, square(subtract(u, v)));
        plus = add(plus, square(add(u, v)));
    }
    const wide s = root(minus), c = root(plus); /* s^2 + c^2 = 4: the angle moves by at most the sum of the errors */
    return rounded(2 * CALL(atan2)(s.v, c.v), 2 * (s.e + c.e) + OWN_UNIT, 2 * (s.f + c.f) + DOUBLE_UNIT);
}

static wide arccos(const double *x, const double *z, int64_t d, double order) {
    const wide a = root(dot(x, x, d)), b = root(dot(z, z, d)), t = angle(x, z, d, a, b), norms = multiply(a, b);
    const wide c = wave(CALL(cos), t), s = wave(CALL(sin), t), rest = subtract(pi(), t);
    if (order == 0)
        return divide(rest, pi());
    if (order == 1)
        return divide(multiply(norms, add(s, multiply(rest, c))), pi());
    const wide twice = add(number(1), multiply(number(2), square(c)));
    return divide(multiply(square(norms), add(multiply(number(3), multiply(s, c)), multiply(rest, twice))), pi());
}

static wide column_term(const mc_node *node, double x, double z, int64_t j) {
    const mc_value *p = node->parameter;
    const wide u = subtract(number(x), number(z)), total = add(number(x), number(z));
    switch (node->atom) {
    case MC_RBF: return multiply(value(p, j), square(u));
    case MC_LAPLACIAN: return multiply(value(p, j), absolute(u));
    case MC_EXPONENTIAL: return square(multiply(value(p, j), u));
    case MC_PERIODIC:
        return multiply(number(2),
                        square(divide(wave(CALL(sin), divide(multiply(pi(), u), value(p, j))), value(p + 1, j))));
    case MC_CHI2: return total.v > 0 ? divide(multiply(value(p, 0), square(u)), total) : number(0);
    case MC_TANIMOTO:
    case MC_INTERSECTION: return number(x < z ? x : z);
    case MC_ADDITIVE_CHI2:
        return total.v > 0 ? divide(multiply(number(2), multiply(number(x), number(z))), total) : number(0);
    default: return number(0);
    }
}

static wide over_columns(const mc_node *node, const double *x, const double *z, int64_t d) {
    wide sum = number(0);
    for (int64_t j = 0; j < d; j++)
        sum = add(sum, column_term(node, x[j], z[j], j));
    return sum;
}

static wide matern(double nu, wide q2) {
    const wide s2 = multiply(number(2 * nu), q2), s = root(s2);
    wide front = number(1);
    if (nu > 1)
        front = add(front, s);
    if (nu > 2)
        front = add(front, divide(s2, number(3)));
    return multiply(front, exponential(negate(s)));
}

static wide form(const mc_value *A, const double *x, const double *z, int64_t d) {
    wide sum = number(0);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            sum = add(sum, multiply(number(A->numbers[i * d + j]), multiply(number(x[i]), number(z[j]))));
    return sum;
}

static bool same(const double *x, const double *z, int64_t d) {
    for (int64_t j = 0; j < d; j++)
        if (x[j] != z[j])
            return false;
    return true;
}

static wide affine(const mc_value *a, const mc_value *c, const double *x, const double *z, int64_t d) {
    return add(multiply(number(a->number), dot(x, z, d)), number(c->number));
}

static wide rational_quadratic(const mc_value *p, const double *x, const double *z, int64_t d) {
    const wide t = divide(radius2(&p[1], x, z, d), multiply(number(2), number(p[0].number)));
    return power(add(number(1), t), -p[0].number);
}

static wide tanimoto(const mc_node *node, const double *x, const double *z, int64_t d) {
    wide most = number(0);
    for (int64_t j = 0; j < d; j++)
        most = add(most, number(x[j] < z[j] ? z[j] : x[j]));
    return most.v == 0 ? number(1) : divide(over_columns(node, x, z, d), most);
}

static wide wendland(const mc_value *p, const double *x, const double *z, int64_t d) {
    const double k = p[0].number, l = (double)((int64_t)p[1].number / 2) + k + 1;
    const wide q = root(radius2(&p[2], x, z, d)), t = subtract(number(1), q);
    if (t.v <= t.e)
        return t.v < -t.e ? number(0) : unknown();
    const wide tail = power(t, l + k);
    if (k == 0)
        return tail;
    if (k == 1)
        return multiply(tail, add(number(1), multiply(number(l + 1), q)));
    const wide second = divide(multiply(number((l + 4) * l + 3), square(q)), number(3));
    return multiply(tail, add(add(number(1), multiply(number(l + 2), q)), second));
}

static wide sinc(const mc_value *p, const double *x, const double *z, int64_t d) {
    wide product = number(1);
    for (int64_t j = 0; j < d; j++) {
        const wide t = divide(multiply(pi(), subtract(number(x[j]), number(z[j]))), value(p, j));
        if (x[j] != z[j])
            product = multiply(product, divide(wave(CALL(sin), t), t));
    }
    return product;
}

static wide brownian(double h, const double *x, const double *z, int64_t d) {
    wide r2 = number(0);
    for (int64_t j = 0; j < d; j++)
        r2 = add(r2, square(subtract(number(x[j]), number(z[j]))));
    const wide a = dot(x, x, d), b = dot(z, z, d), zero = number(0);
    const wide sum = add(a.v == 0 ? zero : power(a, h), b.v == 0 ? zero : power(b, h));
    return divide(subtract(sum, r2.v == 0 ? zero : power(r2, h)), number(2));
}

/* psi with psi(0) = 0 of a squared distance: minus the atom, less its value at 0. */
static wide distance_psi(const mc_node *node, wide s) {
    const mc_value *p = node->parameter;
    if (s.v == 0)
        return number(0);
    if (node->atom == MC_POWER_DISTANCE)
        return power(s, p[0].number / 2);
    if (node->atom == MC_LOG)
        return logarithm(add(number(1), power(divide(s, square(number(p[1].number))), p[0].number / 2)));
    if (node->atom == MC_THIN_PLATE)
        return divide(multiply(s, logarithm(s)), number(-2));
    return subtract(root(add(square(number(p[0].number)), s)), number(p[0].number));
}

static wide conditional(const mc_node *node, const double *x, const double *z, int64_t d) {
    wide r2 = number(0);
    for (int64_t j = 0; j < d; j++)
        r2 = add(r2, square(subtract(number(x[j]), number(z[j]))));
    const int last = mc_atoms[node->atom].parameters - 1;
    const wide far = distance_psi(node, r2);
    if (last >= 0 && node->parameter[last].number == 1)
        return subtract(add(distance_psi(node, dot(x, x, d)), distance_psi(node, dot(z, z, d))), far);
    return subtract(number(node->atom == MC_MULTIQUADRIC ? -node->parameter[0].number : 0), far);
}

static wide spline(const double *x, const double *z, int64_t d) {
    wide product = number(1);
    for (int64_t j = 0; j < d; j++) {
        const wide m = number(x[j] < z[j] ? x[j] : z[j]), M = number(x[j] < z[j] ? z[j] : x[j]);
        const wide bend = divide(multiply(square(m), subtract(multiply(number(3), M), m)), number(6));
        product = multiply(product, add(add(number(1), multiply(m, M)), bend));
    }
    return product;
}

static wide function(const mc_function *f, const double *x, int64_t d);

static wide gibbs(const mc_node *node, const double *x, const double *z, int64_t d) {
    const wide f = function(node->function, x, d), g = function(node->function, z, d);
    if (!(f.v > f.e && g.v > g.e))
        return unknown();
    const wide sum = add(square(f), square(g)), front = divide(multiply(number(2), multiply(f, g)), sum);
    wide r2 = number(0);
    for (int64_t j = 0; j < d; j++)
        r2 = add(r2, square(subtract(number(x[j]), number(z[j]))));
    return multiply(power(front, 0.5 * (double)d), exponential(negate(divide(r2, sum))));
}

/* 2^(1-nu)/Gamma(nu) s^nu K_nu(s), K_nu(s) the integral of exp(-s cosh t) cosh(nu t) over t > 0 by steps of 1/32. */
static real bessel_matern(double nu, real wide_s) {
    const long double s = (long double)wide_s, h = 0.03125L;
    const long double front = nu * logl(s) - (nu - 1) * logl(2) - lgammal(nu);
    long double sum = 0, term = 1;
    for (long double t = 0; sinhl(t) <= nu / s || term > 1e-22L * sum; t += h) {
        const long double decay = front - s * coshl(t);
        term = expl(decay + nu * t) + expl(decay - nu * t);
        sum += t > 0 ? term : term / 2;
    }
    return sum * h / 2;
}

/* The value is known, its error is not; equal points are known. */
static wide any_matern(const mc_value *p, const double *x, const double *z, int64_t d) {
    const double nu = p[0].number;
    if (nu == 0.5 || nu == 1.5 || nu == 2.5)
        return matern(nu, radius2(&p[1], x, z, d));
    const wide s = root(multiply(number(2 * nu), radius2(&p[1], x, z, d)));
    return same(x, z, d) || s.v == 0 ? number(1) : (wide){bessel_matern(nu, s.v), INFINITY, INFINITY};
}

static wide rbf_form(const mc_value *A, const double *x, const double *z, int64_t d) {
    wide sum = number(0);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++)
            sum = add(sum, multiply(number(A->numbers[i * d + j]), multiply(subtract(number(x[i]), number(z[i])),
                                                                            subtract(number(x[j]), number(z[j])))));
    return exponential(negate(sum));
}

static wide atom(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_value *p = node->parameter;
    switch (node->atom) {
    case MC_LINEAR: return dot(x, z, d);
    case MC_POLY: return power(affine(&p[2], &p[1], x, z, d), p[0].number);
    case MC_EXPONENTIAL: return exponential(negate(root(over_columns(node, x, z, d))));
    case MC_MATERN: return any_matern(p, x, z, d);
    case MC_RQ: return rational_quadratic(p, x, z, d);
    case MC_COSINE: return normalised(dot(x, z, d), dot(x, x, d), dot(z, z, d));
    case MC_ADDITIVE_CHI2:
    case MC_INTERSECTION: return over_columns(node, x, z, d);
    case MC_TANIMOTO: return tanimoto(node, x, z, d);
    case MC_WENDLAND: return wendland(p, x, z, d);
    case MC_SINC: return sinc(p, x, z, d);
    case MC_BROWNIAN: return brownian(p[0].number, x, z, d);
    case MC_SPLINE: return spline(x, z, d);
    case MC_GIBBS: return gibbs(node, x, z, d);
    case MC_RBF_FORM: return rbf_form(&p[0], x, z, d);
    case MC_POWER_DISTANCE:
    case MC_LOG:
    case MC_MULTIQUADRIC:
    case MC_THIN_PLATE: return conditional(node, x, z, d);
    case MC_ARCCOS: return arccos(x, z, d, p[0].number);
    case MC_TANH: return wave(CALL(tanh), affine(&p[0], &p[1], x, z, d));
    case MC_WHITE: return number(same(x, z, d));
    case MC_FORM: return form(p, x, z, d);
    default: return exponential(negate(over_columns(node, x, z, d)));
    }
}

/* ---- functions of weigh ---- */

/* a^b with b computed too: exp(b log a), unless b is a number. */
static wide function_power(wide a, wide b) {
    if (b.e == 0)
        return power(a, (double)b.v);
    return a.v > 0 ? exponential(multiply(b, logarithm(a))) : unknown();
}

static wide function(const mc_function *f, const double *x, int64_t d) {
    const wide a = f->child[0] ? function(f->child[0], x, d) : number(0),
               b = f->child[1] ? function(f->child[1], x, d) : number(0);
    switch (f->kind) {
    case MC_F_NUMBER: return number(f->number);
    case MC_F_NORM2: return dot(x, x, d);
    case MC_F_NORM: return root(dot(x, x, d));
    case MC_F_COLUMN: return number(x[f->column]);
    case MC_F_NEGATE: return negate(a);
    case MC_F_ADD: return add(a, b);
    case MC_F_SUBTRACT: return subtract(a, b);
    case MC_F_MULTIPLY: return multiply(a, b);
    case MC_F_DIVIDE: return divide(a, b);
    case MC_F_POWER: return function_power(a, b);
    case MC_F_EXP: return exponential(a);
    case MC_F_LOG: return a.v > a.e ? logarithm(a) : unknown();
    case MC_F_SQRT: return power(a, 0.5);
    case MC_F_SIN: return wave(CALL(sin), a);
    case MC_F_COS: return wave(CALL(cos), a);
    case MC_F_TANH: return wave(CALL(tanh), a);
    case MC_F_ABS: return absolute(a);
    }
    return unknown();
}

/* ---- expressions ---- */

static wide seen(const mc_node *node, const double *x, const double *z) {
    double u[ROW_MAX], v[ROW_MAX];
    for (int64_t j = 0; j < node->columns; j++) {
        u[j] = x[node->column[j]];
        v[j] = z[node->column[j]];
    }
    return eval_wide(node->child[0], u, x == z ? u : v, node->columns);
}

/* Exactly the sign on one point against itself. */
static wide normalize(const mc_node *child, const double *x, const double *z, int64_t d) {
    const wide a = eval_wide(child, x, x, d);
    if (x == z && size_of(a.v) > a.e)
        return (wide){a.v > 0 ? 1 : -1, 0, size_of(a.v) > a.f ? 0 : a.f - a.f == 0 ? 2 : a.f};
    return normalised(eval_wide(child, x, z, d), a, eval_wide(child, z, z, d));
}

static wide combined(const mc_node *node, const double *x, const double *z, int64_t d) {
    wide r = number(node->kind == MC_SUM ? 0 : 1);
    for (int i = 0; i < node->children; i++) {
        const wide k = eval_wide(node->child[i], x, z, d);
        r = node->kind == MC_SUM ? add(r, k) : multiply(r, k);
    }
    return r;
}

/* ---- functions by power series ---- */

/* Over the least and the most that a may be: f is increasing, on |a| for I0. What may be beyond the end has no value in
   double. */
static wide increasing(function_of *f, wide a, real least, real most) {
    const real v = f(a.v), low = a.v - a.e, high = a.v + a.e;
    if (!(low >= least && high <= most))
        return a.v >= least && a.v <= most && a.e == 0 ? rounded(v, 0, INFINITY) : unknown();
    const real e = size_of(f(high) - v) + size_of(v - f(low)), first = a.v - a.f, last = a.v + a.f;
    const wide r = rounded(v, a.e == 0 ? 0 : e, first >= least && last <= most ? f(last) - f(first) : INFINITY);
    return (wide){r.v, 8 * r.e, 2 * r.f};
}

static real minus_log(real a) {
    return -CALL(log1p)(-a);
}

static real bessel(real a) {
    real sum = 0, term = 1;
    for (int n = 1; term > OWN_UNIT / 16 * sum && n < 4000; n++) {
        sum += term;
        term *= a / 2 * (a / 2) / n / n;
    }
    return sum;
}

/* Its roundings are as many as its terms. */
static wide bessel_of(wide a) {
    if (!(size_of(a.v) + a.f < 600))
        return unknown();
    const wide r = increasing(bessel, absolute(a), -INFINITY, INFINITY);
    const real terms = 16 + 4 * size_of(a.v);
    return (wide){r.v, r.e + terms * OWN_UNIT * r.v, r.f + terms * DOUBLE_UNIT * r.v};
}

static wide series(mc_series f, wide a) {
    if (f == MC_BESSEL_I0)
        return bessel_of(a);
    return f == MC_ARCSIN ? increasing(CALL(asin), a, -1, 1) : increasing(minus_log, a, -INFINITY, 1);
}

wide eval_wide(const mc_node *node, const double *x, const double *z, int64_t d) {
    const mc_node *child = node->children ? node->child[0] : NULL;
    switch (node->kind) {
    case MC_NUMBER: return number(node->number);
    case MC_ATOM: return atom(node, x, z, d);
    case MC_SUM:
    case MC_PRODUCT: return combined(node, x, z, d);
    case MC_POWER: return power(eval_wide(child, x, z, d), node->number);
    case MC_EXP: return exponential(eval_wide(child, x, z, d));
    case MC_SERIES: return series(node->series, eval_wide(child, x, z, d));
    case MC_NORMALIZE: return normalize(child, x, z, d);
    case MC_WEIGH: {
        const wide k = eval_wide(child, x, z, d);
        return multiply(multiply(function(node->function, x, d), function(node->function, z, d)), k);
    }
    case MC_COLUMNS: return seen(node, x, z);
    }
    return unknown();
}

wide form_wide(const mc_node *node, int64_t count, int64_t d, const double *points, const double *weights) {
    wide sum = number(0);
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) {
            const wide ww = multiply(number(i == j ? 1 : 2), multiply(number(weights[i]), number(weights[j])));
            sum = add(sum, multiply(ww, eval_wide(node, points + i * d, points + j * d, d)));
        }
    return sum;
}

long double eval_long(const mc_node *node, const double *x, const double *z, int64_t d) {
    return (long double)eval_wide(node, x, z, d).v;
}

long double form_long(const mc_node *node, const mercer_witness *w) {
    return (long double)form_wide(node, w->count, w->d, w->points, w->weights).v;
}

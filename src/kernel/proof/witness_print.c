/* witness_print.c: a refutation as on a blackboard: points, weights, values and the sum they give.

   What is printed can be checked by hand: the bound that is claimed holds for the exact sum and for the sum that the
   printed values give, and values have as many digits as it takes to see its sign. */
#include "base/print.h"
#include "kernel/proof/enclose.h"
#include "kernel/proof/proof.h"
#include "base/number.h"
#include <math.h>
#include <string.h>

enum { SHOWN_POINTS = 9, SHOWN_COLUMNS = 8, DIGITS_FEW = 7, DIGITS_ALL = 17 };

/* ---- points ---- */

/* A long row of zeros at the end is cut short. */
static int64_t shown_columns(const double *x, int64_t d) {
    int64_t last = d;
    while (d > SHOWN_COLUMNS && last > 1 && x[last - 1] == 0)
        last--;
    return last;
}

static void say_point(const double *x, int64_t d, mc_text *out) {
    const int64_t last = shown_columns(x, d);
    mc_text_add(out, "%s", d > 1 ? "(" : "");
    for (int64_t j = 0; j < last; j++) {
        mc_text_add(out, "%s", j ? ", " : "");
        mc_text_number(out, x[j]);
    }
    mc_text_add(out, "%s%s", last < d ? ", 0, ..., 0" : "", d > 1 ? ")" : "");
}

/* Of what say_point writes, up to what is the same for all points. */
static int point_width(const double *x, int64_t d) {
    char digits[32];
    const int64_t last = shown_columns(x, d);
    size_t width = (last < d ? strlen(", 0, ..., 0") : 0) + 2 * (size_t)last;
    for (int64_t j = 0; j < last; j++)
        width += strlen(mc_number_text(x[j], digits));
    return (int)width;
}

/* The numbers, where some are other than 0 or there is nothing else, and the texts. */
static bool shows_numbers(const mercer_witness *w) {
    bool zeros = true;
    for (int64_t k = 0; k < w->count * w->d; k++)
        zeros = zeros && w->points[k] == 0;
    return w->texts == 0 || !zeros;
}

static void say_row(const mercer_witness *w, int64_t i, mc_text *out) {
    const bool numbers = shows_numbers(w);
    if (numbers)
        say_point(w->points + i * w->d, w->d, out);
    for (int64_t t = 0; t < w->texts; t++) {
        mc_text_add(out, "%s", t || numbers ? ", " : "");
        mc_text_quoted(out, w->text[i * w->texts + t]);
    }
}

static int row_width(const mercer_witness *w, int64_t i) {
    size_t width = shows_numbers(w) ? (size_t)point_width(w->points + i * w->d, w->d) : 0;
    for (int64_t t = 0; t < w->texts; t++)
        width += strlen(w->text[i * w->texts + t]);
    return (int)width;
}

/* Points and weights in two columns. */
static void say_points(const mercer_witness *w, mc_text *out) {
    int widest = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const int width = row_width(w, i);
        widest = width > widest ? width : widest;
    }
    for (int64_t i = 0; i < w->count; i++) {
        mc_text_add(out, w->count < 10 ? "    x%lld = " : "    x%-2lld = ", (long long)i + 1);
        say_row(w, i, out);
        mc_text_add(out, "%*s   with weight ", widest - row_width(w, i), "");
        mc_text_number(out, w->weights[i]);
        mc_text_add(out, "\n");
    }
}

/* ---- values ---- */

/* The values between the points, and how many digits of them are printed. */
typedef struct values {
    int digits;
    double printed[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
    mc_interval exact[MC_WITNESS_POINTS * MC_WITNESS_POINTS];
} values;

static double interval_midpoint(mc_interval a) {
    return a.lo + (a.hi - a.lo) / 2;
}

/* How far the exact value may be from v. */
static double largest_deviation(mc_interval a, double v) {
    return mc_iv_abs(mc_iv_sub(a, mc_iv(v))).hi;
}

/* The i-th point with its texts. */
static const double *row_of(const mc_witness *w, int64_t i) {
    return w->points + i * (w->d + w->texts);
}

static void enclose_values(const mc_proof_findings *f, const mercer_witness *w, values *k) {
    const mc_witness *from = &f->refutation.witness;
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < w->count; j++)
            k->exact[i * w->count + j] =
                mc_enclose_kernel(f->refutation.instance, row_of(from, i), row_of(from, j), w->d);
}

/* What the sum over printed values may be off by. */
static double round_values(const mercer_witness *w, values *k, int digits) {
    mc_interval error = mc_iv(0);
    k->digits = digits;
    for (int64_t i = 0; i < w->count * w->count; i++) {
        k->printed[i] = mc_round_to_digits(interval_midpoint(k->exact[i]), digits);
        const mc_interval ww = mc_iv_mul(mc_iv(w->weights[i / w->count]), mc_iv(w->weights[i % w->count]));
        error = mc_iv_add(error, mc_iv_mul(mc_iv_abs(ww), mc_iv(largest_deviation(k->exact[i], k->printed[i]))));
    }
    return error.hi;
}

/* The fewest digits that leave the sign of the sum beyond doubt; all where the sum is exact. Returns what they may be
   off by. */
static double choose_digits(const mercer_witness *w, values *k) {
    int digits = w->bound == 0 ? DIGITS_ALL : DIGITS_FEW;
    double error = round_values(w, k, digits);
    while (digits < DIGITS_ALL && !(error < 0.01 * -w->value))
        error = round_values(w, k, ++digits);
    return error;
}

static int widest_of(const values *k, int64_t count) {
    char digits[32];
    int widest = 12;
    for (int64_t i = 0; i < count * count; i++) {
        const int width = (int)strlen(mc_number_text(k->printed[i], digits));
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void say_matrix(const mercer_witness *w, const values *k, mc_text *out) {
    char digits[32];
    const int width = widest_of(k, w->count);
    mc_text_add(out, "\nthe values k(x_i, x_j) are\n\n");
    for (int64_t i = 0; i < w->count; i++) {
        mc_text_add(out, "   ");
        for (int64_t j = 0; j < w->count; j++)
            mc_text_add(out, " %*s", width, mc_number_text(k->printed[i * w->count + j], digits));
        mc_text_add(out, "\n");
    }
}

/* "-0.03810407, give or take 4e-6": the digits that are left out count as error. */
static void say_sum(double value, double error, mc_text *out) {
    const double few = error == 0 ? value : mc_round_to_digits(value, DIGITS_FEW), all = error + fabs(few - value);
    mc_text_number(out, few);
    mc_text_add(out, error == 0 ? ", exactly" : ", give or take ");
    if (error > 0)
        mc_text_number(out, mc_round_to_digits(1.1 * all, 2)); /* rounded up */
}

static void say_pair(const mercer_witness *w, const values *k, mc_text *out) {
    const int64_t i = w->pair[0], j = w->pair[1], n = w->count;
    if (i < 0)
        return;
    const long long p = (long long)i + 1, q = (long long)j + 1;
    const double square = mc_iv_square(k->exact[i * n + j]).lo,
                 product = mc_iv_mul(k->exact[i * n + i], k->exact[j * n + j]).hi;
    int digits = DIGITS_FEW;
    while (digits < DIGITS_ALL && !(mc_round_to_digits(square, digits) > mc_round_to_digits(product, digits)))
        digits++;
    mc_text_add(out, "Cauchy-Schwarz fails: k(x%lld, x%lld)^2 = ", p, q);
    mc_text_number(out, mc_round_to_digits(square, digits));
    mc_text_add(out, " is more than k(x%lld, x%lld) k(x%lld, x%lld) = ", p, p, q, q);
    mc_text_number(out, mc_round_to_digits(product, digits));
    mc_text_add(out, ".\n");
}

/* ---- numbers in full ---- */

enum { FULL_DIGITS = 40, FULL_MAX = 12 };

typedef struct numbers {
    double seen[FULL_MAX];
    int count;
} numbers;

static void note_rounded_number(numbers *n, double signed_value) {
    const double v = fabs(signed_value);
    char shortest[32], full[64];
    for (int i = 0; i < n->count; i++)
        if (n->seen[i] == v)
            return;
    mc_print(full, sizeof full, "%.*g", FULL_DIGITS, v);
    if (n->count < FULL_MAX && strcmp(full, mc_number_text(v, shortest)) != 0 && v != floor(v))
        n->seen[n->count++] = v;
}

static void note_function(numbers *n, const mc_function *f) {
    if (!f)
        return;
    if (f->kind == MC_F_NUMBER)
        note_rounded_number(n, f->number);
    note_function(n, f->child[0]);
    note_function(n, f->child[1]);
}

static void note_value(numbers *n, const mc_value *v) {
    const bool listed = v->kind == MC_VALUE_VECTOR || v->kind == MC_VALUE_MATRIX;
    if (v->kind == MC_VALUE_NUMBER)
        note_rounded_number(n, v->number);
    for (int64_t j = 0; listed && j < (v->rows ? v->rows : 1) * v->columns; j++)
        note_rounded_number(n, v->numbers[j]);
}

static void note_node(numbers *n, const mc_node *node) {
    if (node->kind == MC_NUMBER || node->kind == MC_POWER)
        note_rounded_number(n, node->number);
    for (int i = 0; node->kind == MC_ATOM && i < mc_atoms[node->atom].parameters; i++)
        note_value(n, &node->parameter[i]);
    note_function(n, node->function);
    for (int i = 0; i < node->children; i++)
        note_node(n, node->child[i]);
}

/* The same sum as a double computation gives it. */
static double sum_in_double(const mc_node *node, const mc_witness *w) {
    double sum = 0;
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < w->count; j++)
            sum += w->weights[i] * w->weights[j] * mc_eval_kernel(node, row_of(w, i), row_of(w, j), w->d);
    return sum;
}

/* Where numbers cancel so far that double precision does not show the sum, a check needs all their digits. */
static void say_numbers(const mc_refutation *refutation, const mercer_witness *w, mc_text *out) {
    const mc_node *node = refutation->instance;
    char digits[32];
    numbers n = {0};
    if (fabs(sum_in_double(node, &refutation->witness) - w->value) <= 0.01 * fabs(w->value))
        return;
    note_node(&n, node);
    for (int64_t i = 0; i < w->count; i++)
        for (int64_t j = 0; j < w->d; j++)
            note_rounded_number(&n, w->points[i * w->d + j]);
    mc_text_add(out, "Double precision does not show it: the terms cancel.%s\n",
                n.count ? " Numbers are the doubles nearest to them, here with more digits:" : "");
    for (int i = 0; i < n.count; i++)
        mc_text_add(out, "    %s = %.*g\n", mc_number_text(n.seen[i], digits), FULL_DIGITS, n.seen[i]);
}

/* ---- the whole ---- */

/* k(x, x) < 0 says it all. */
static void say_one(const mercer_witness *w, const values *k, mc_text *out) {
    mc_text_add(out, "At the point x = ");
    say_row(w, 0, out);
    mc_text_add(out, " it gives k(x, x) = ");
    say_sum(k->printed[0], largest_deviation(k->exact[0], k->printed[0]), out);
    mc_text_add(out, ". For a kernel k(x, x) is never negative.\n");
}

static void say_many(const mercer_witness *w, const values *k, double error, mc_text *out) {
    const bool shown = w->count <= SHOWN_POINTS;
    mc_text_add(out, "For the points\n\n");
    say_points(w, out);
    if (shown)
        say_matrix(w, k, out);
    mc_text_add(out, "\n%sthe sum of w_i w_j k(x_i, x_j) is ", shown ? "and " : "");
    say_sum(w->value, w->bound == 0 ? 0 : w->bound + (shown ? error : 0), out);
    mc_text_add(out, ". For a kernel that sum is never negative.\n");
    say_pair(w, k, out);
}

void mc_witness_print(const mc_proof_findings *f, const mercer_witness *w, mc_text *out) {
    values k;
    enclose_values(f, w, &k);
    const double error = choose_digits(w, &k);
    if (w->count == 1)
        say_one(w, &k, out);
    else
        say_many(w, &k, error, out);
    say_numbers(&f->refutation, w, out);
}

const char *const mc_series_names[MC_SERIES_KINDS] = {
    [MC_SERIES_INNER] = "inner product", [MC_SERIES_SPHERES] = "spheres", [MC_SERIES_GEGENBAUER] = "gegenbauer"};

static void say_coefficient(const mercer_frequency *w, mc_text *out) {
    if (strcmp(w->series, "gegenbauer") == 0)
        mc_text_add(out,
                    "On the unit sphere of R^%lld its coefficient of Gegenbauer's polynomial number %d in <x, z> is ",
                    (long long)w->d, w->order);
    else
        mc_text_add(out, "As a power series in <x, z>%s its coefficient of <x, z>^%d is ",
                    strcmp(w->series, "spheres") == 0 ? ", for unit vectors," : "", w->order);
    say_sum(w->value, w->bound, out);
    mc_text_add(out,
                strcmp(w->series, "inner product") == 0
                    ? ".\nThat of a kernel is never negative: points e y_i on a line, with weights that are "
                      "orthogonal to the lower powers of y,\nhave that times e^%d as their sum, up to higher powers "
                      "of e.\n"
                    : ".\nThat of a kernel is never negative (Schoenberg 1942).\n",
                2 * w->order);
}

void mc_frequency_print(const mercer_frequency *w, mc_text *out) {
    if (w->series) {
        say_coefficient(w, out);
        return;
    }
    mc_text_add(out, w->mean ? "Its mean over all of R^%lld" : "Its Fourier transform on R^%lld", (long long)w->d);
    if (!w->mean) {
        mc_text_add(out, " at the frequency ");
        say_point(w->frequency, w->d, out);
    }
    mc_text_add(out, " is ");
    say_sum(w->value, w->bound, out);
    mc_text_add(out, w->mean
                         ? ". That of a kernel is never\nnegative: the sum of k(x_i, x_j) over N points drawn from a "
                           "large cube is N k(x, x) + N (N-1) times\nthe mean on average.\n"
                         : ".\nThat of a kernel is never negative (Bochner).\n");
}

void mc_frequency_short(const mercer_frequency *w, mc_text *out) {
    mc_text_add(out, "%s is ",
                w->series ? "a coefficient of its power series"
                : w->mean ? "its mean over all points"
                          : "its Fourier transform at a frequency");
    mc_text_number(out, mc_round_to_digits(w->value, DIGITS_FEW));
    mc_text_add(out, " on R^%lld", (long long)w->d);
}

void mc_witness_short(const mercer_witness *w, mc_text *out) {
    const bool few = w->count <= 4 && w->d <= 4;
    const bool one = w->count == 1;
    mc_text_add(out, one ? "k(x, x) = " : "the sum of w_i w_j k(x_i, x_j) is ");
    mc_text_number(out, mc_round_to_digits(one ? w->value / (w->weights[0] * w->weights[0]) : w->value, DIGITS_FEW));
    if (!few) {
        mc_text_add(out, " for %lld points that mercer prove lists", (long long)w->count);
        return;
    }
    mc_text_add(out, one ? " at x = " : " for x = ");
    for (int64_t i = 0; i < w->count; i++) {
        mc_text_add(out, "%s", i ? ", " : "");
        say_row(w, i, out);
    }
    for (int64_t i = 0; !one && i < w->count; i++) {
        mc_text_add(out, "%s", i ? ", " : " and w = ");
        mc_text_number(out, w->weights[i]);
    }
}

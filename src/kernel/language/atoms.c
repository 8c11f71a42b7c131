/* atoms.c: the table of atoms: names, parameters, defaults, ranges. Everything else about an atom reads its row.

   With r the Euclidean distance of x and z, and u_j = x_j - z_j (p_j is p, or the j-th number of a vector p):

     linear         <x, z>
     poly           (gamma <x, z> + c)^degree
     rbf            exp(-sum_j gamma_j u_j^2)
     laplacian      exp(-sum_j gamma_j |u_j|)
     exponential    exp(-sqrt(sum_j (gamma_j u_j)^2))
     matern         nu = 0.5: e^-s, s = q        with q = sqrt(sum_j (u_j / length_scale_j)^2)
                    nu = 1.5: (1 + s) e^-s, s = sqrt(3) q
                    nu = 2.5: (1 + s + s^2/3) e^-s, s = sqrt(5) q
                    else 2^(1-nu)/Gamma(nu) s^nu K_nu(s), s = sqrt(2 nu) q, K the modified Bessel function
     rq             (1 + q^2 / (2 alpha))^-alpha
     periodic       exp(-2 sum_j sin^2(pi u_j / period_j) / length_scale_j^2)
     cosine         <x, z> / (|x| |z|), 0 when either is 0
     chi2           exp(-gamma sum_j u_j^2 / (x_j + z_j)), terms 0/0 are 0; x, z >= 0
     intersection   sum_j min(x_j, z_j); x, z >= 0
     arccos         (1/pi) |x|^order |z|^order J_order(angle of x and z)            (Cho and Saul, 2009)
     tanh           tanh(a <x, z> + c): not a kernel, kept to be refuted or used by consent
     white          1 when x = z, else 0
     form           x' A z
     precomputed    x_s, s the first column of z: rows are a serial number from 1 and then the values k(x, x_1), k(x,
     x_2), ... A row that
                    is none of the numbered ones has 0 there, or -k(x, x) where that is known
     spectrum       sum over all strings s of p bytes of count_s(x) count_s(z), in a column of text; with m mismatches
                    sum over the pairs of parts of p bytes, which differ in h <= m places, of C(p - h, m - h)
     subsequence    sum over pairs of equal subsequences of p bytes, each within `span` bytes of its text, of
                    decay^(bytes from the first to the last, in both texts)
     weighted_degree  sum over places i and lengths l <= p of 2 (p - l + 1)/(p (p + 1)) where x and z have the same l
                    bytes from place i on
     words          sum over all words of how often they occur in x and z
     tfidf          the same times the square of 1 + log((1 + n)/(1 + n_w)), n_w of the n texts of the fit having the
                    word; words that none of them had count nothing
     mean_map       the mean of k(x_i, z_j) over the rows of two sets of rows, 0 where one has none
     user           what a function of the calling program says
     tanimoto       sum_j min(x_j, z_j) / sum_j max(x_j, z_j), 1 when both rows are 0; x, z >= 0
     additive_chi2  sum_j 2 x_j z_j / (x_j + z_j), terms 0/0 are 0; x, z >= 0
     wendland       with l = floor(dimension/2) + k + 1, t = max(0, 1 - q): k = 0: t^l; k = 1: t^(l+1) ((l + 1) q + 1);
                    k = 2: t^(l+2) ((l^2 + 4l + 3) q^2 + (3l + 6) q + 3)/3                         (Wendland, 1995)
     sinc           prod_j sin(pi u_j / length_scale_j) / (pi u_j / length_scale_j)
     brownian       (|x|^2h + |z|^2h - r^2h) / 2, h the parameter hurst: min(x, z) for one column >= 0 and h = 1/2
     spline         prod_j (1 + x_j z_j + m^2 (3 M - m)/6), m and M the smaller and the larger of x_j, z_j; x, z >= 0
     gibbs          (2 f(x) f(z) / s)^(d/2) exp(-r^2 / s), s = f(x)^2 + f(z)^2, f > 0 a function of the row
     rbf(form=A)    exp(-(x - z)' A (x - z))
     power          -r^p, 0 < p <= 2
     log            -log(1 + (r / length_scale)^p), 0 < p <= 2
     multiquadric   -sqrt(c^2 + r^2)
     thin_plate     r^2 log r, 0 where r = 0

   The last four are conditionally positive definite, of order 1, thin_plate of order 2; with centred=1 the first three
   are k(x, z) - k(x, 0) - k(0, z) + k(0, 0), which is a kernel.

   A bandwidth that is not given comes from the data when the kernel is bound. With m columns in view and v the variance
   of all their entries (1 when that is 0): rbf takes gamma = 1 / (m v), which is the Gaussian of length scale sqrt(m v
   / 2). matern and rq take that length scale, exponential its inverse. laplacian sums m terms of size sqrt(v) and takes
   gamma = 1 / (m sqrt(v)). */
#include "kernel/language/atoms.h"
#include "base/print.h"
#include "kernel/evaluate/matern_bessel.h"
#include "kernel/evaluate/row_sets.h"
#include "kernel/evaluate/text_features.h"
#include "kernel/language/kernel.h"
#include <float.h>
#include <math.h>
#include <string.h>

#define ABOVE_0 .low = DBL_MIN, .high = DBL_MAX, .kernel_low = DBL_MIN
#define ANY .low = -DBL_MAX, .high = DBL_MAX
#define CENTRED                                                                                                        \
    { .name = "centred", .alias = "centered", .high = 1, .integer = true, .quiet = true }
#define EXPONENT(start)                                                                                                \
    { .name = "p", .initial = start, .low = DBL_MIN, .high = 2, .kernel_low = DBL_MIN, .fixed = true }
#define ORDERS .integer = true, .choices = 3, .choice = {0, 1, 2}

const mc_atom_row mc_atoms[MC_ATOM_COUNT] = {
    [MC_LINEAR] = {.name = "linear"},
    [MC_POLY] = {.name = "poly",
                 .parameters = 3,
                 .parameter = {{.name = "degree", .initial = 2, ABOVE_0, .integer = true},
                               {.name = "c", .alias = "coef0", .initial = 1, ANY, .kernel_low = 0},
                               {.name = "gamma", .initial = 1, ABOVE_0}}},
    [MC_RBF] = {.name = "rbf",
                .parameters = 1,
                .parameter = {{.name = "gamma", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_LAPLACIAN] = {.name = "laplacian",
                      .parameters = 1,
                      .parameter = {{.name = "gamma", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_EXPONENTIAL] = {.name = "exponential",
                        .parameters = 1,
                        .parameter = {{.name = "gamma", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_MATERN] =
        {.name = "matern",
         .parameters = 2,
         .parameter = {{.name = "nu", .initial = 1.5, .low = 0.01, .high = 100, .kernel_low = 0.01, .fixed = true},
                       {.name = "length_scale", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_RQ] = {.name = "rq",
               .parameters = 2,
               .parameter = {{.name = "alpha", .initial = 1, ABOVE_0},
                             {.name = "length_scale", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_PERIODIC] = {.name = "periodic",
                     .parameters = 2,
                     .parameter = {{.name = "period", .initial = 1, ABOVE_0, .vector = true},
                                   {.name = "length_scale", .initial = 1, ABOVE_0, .vector = true}}},
    [MC_COSINE] = {.name = "cosine"},
    [MC_CHI2] = {.name = "chi2",
                 .parameters = 1,
                 .parameter = {{.name = "gamma", .initial = 1, ABOVE_0}},
                 .nonnegative = true},
    [MC_INTERSECTION] = {.name = "intersection", .nonnegative = true},
    [MC_ARCCOS] = {.name = "arccos",
                   .parameters = 1,
                   .parameter = {{.name = "order", .initial = 1, .high = 2, ORDERS}}},
    [MC_TANH] = {.name = "tanh",
                 .alias = "sigmoid",
                 .parameters = 2,
                 .parameter = {{.name = "a", .alias = "gamma", .initial = 1, ANY, .kernel_low = 0},
                               {.name = "c", .alias = "coef0", .initial = 0, ANY, .kernel_low = 0}}},
    [MC_WHITE] = {.name = "white"},
    [MC_FORM] = {.name = "form", .parameters = 1, .parameter = {{.name = "matrix", .initial = NAN, ANY}}},
    [MC_USER] = {.name = "user",
                 .parameters = 1,
                 .parameter = {{.name = "function", .initial = NAN, ANY, .integer = true}},
                 .opaque = true},
    [MC_SPECTRUM] =
        {.name = "spectrum",
         .parameters = 2,
         .parameter = {{.name = "p", .initial = 3, .low = 1, .high = 65536, .kernel_low = 1, .integer = true},
                       {.name = "mismatches", .initial = 0, .low = 0, .high = 15, .integer = true, .quiet = true}},
         .text = true,
         .opaque = true},
    [MC_SUBSEQUENCE] =
        {.name = "subsequence",
         .parameters = 3,
         .parameter = {{.name = "p", .initial = 3, .low = 1, .high = 8, .kernel_low = 1, .integer = true},
                       {.name = "decay", .initial = 0.5, .low = 0x1p-30, .high = 1, .fixed = true},
                       {.name = "span", .initial = 6, .low = 1, .high = MC_SPAN_MAX, .integer = true}},
         .text = true,
         .opaque = true},
    [MC_WEIGHTED_DEGREE] =
        {.name = "weighted_degree",
         .parameters = 1,
         .parameter = {{.name = "p", .alias = "degree", .initial = 3, .low = 1, .high = 8, .integer = true}},
         .text = true,
         .opaque = true},
    [MC_WORDS] = {.name = "words", .alias = "bag_of_words", .text = true, .opaque = true},
    [MC_TFIDF] = {.name = "tfidf",
                  .parameters = 2,
                  .parameter = {{.name = "texts", .initial = NAN, .low = 1, .high = 0x1p53, .integer = true},
                                {.name = "words", .initial = NAN, ANY, .integer = true}},
                  .text = true,
                  .opaque = true},
    [MC_MEAN_MAP] =
        {.name = "mean_map",
         .parameters = 1,
         .parameter = {{.name = "columns", .initial = NAN, .low = 1, .high = MC_SET_COLUMNS_MAX, .integer = true}},
         .text = true,
         .opaque = true,
         .pairwise = true},
    [MC_PRECOMPUTED] = {.name = "precomputed", .opaque = true},
    [MC_TANIMOTO] = {.name = "tanimoto", .alias = "minmax", .nonnegative = true},
    [MC_ADDITIVE_CHI2] = {.name = "additive_chi2", .nonnegative = true},
    [MC_WENDLAND] =
        {.name = "wendland",
         .parameters = 3,
         .parameter = {{.name = "k", .alias = "smoothness", .initial = 1, .high = 2, ORDERS},
                       {.name = "dimension", .initial = 3, .low = 1, .high = 64, .kernel_low = 1, .integer = true},
                       {.name = "length_scale", .alias = "radius", .initial = NAN, ABOVE_0, .vector = true}}},
    [MC_SINC] = {.name = "sinc",
                 .parameters = 1,
                 .parameter = {{.name = "length_scale", .initial = 1, ABOVE_0, .vector = true}}},
    [MC_BROWNIAN] =
        {.name = "brownian",
         .parameters = 1,
         .parameter =
             {{.name = "hurst", .initial = 0.5, .low = DBL_MIN, .high = 1, .kernel_low = DBL_MIN, .fixed = true}}},
    [MC_SPLINE] = {.name = "spline", .nonnegative = true},
    [MC_GIBBS] = {.name = "gibbs"},
    [MC_RBF_FORM] = {.name = "rbf", .parameters = 1, .parameter = {{.name = "form", .initial = NAN, ANY}}},
    [MC_POWER_DISTANCE] =
        {.name = "power", .alias = "power_distance", .parameters = 2, .parameter = {EXPONENT(1), CENTRED}, .order = 1},
    [MC_LOG] = {.name = "log",
                .parameters = 3,
                .parameter = {EXPONENT(2), {.name = "length_scale", .initial = 1, ABOVE_0}, CENTRED},
                .pairwise = true,
                .order = 1},
    [MC_MULTIQUADRIC] = {.name = "multiquadric",
                         .parameters = 2,
                         .parameter = {{.name = "c", .initial = 1, ABOVE_0}, CENTRED},
                         .pairwise = true,
                         .order = 1},
    [MC_THIN_PLATE] = {.name = "thin_plate", .alias = "thin_plate_spline", .pairwise = true, .order = 2},
};

/* Other names, some of an atom with a parameter that has its value. */
static const struct {
    const char *name;
    mc_atom atom;
    int parameter; /* -1: none */
    double value;
} synonyms[] = {
    {"jaccard", MC_TANIMOTO, -1, 0},
    {"imq", MC_RQ, 0, 0.5},
    {"inverse_multiquadric", MC_RQ, 0, 0.5},
};
enum { SYNONYMS = sizeof synonyms / sizeof synonyms[0] };

int64_t mc_wendland_columns(const mc_node *wendland) {
    const mc_value *v = &wendland->parameter[1];
    double least = v->kind == MC_VALUE_RANGE ? v->low : v->number;
    for (int64_t i = 0; v->kind == MC_VALUE_SET && i < v->columns; i++)
        least = i == 0 ? v->numbers[0] : fmin(least, v->numbers[i]);
    return (int64_t)floor(least);
}

/* Its parameter "centred" takes this value and no other. */
static bool is_centred(const mc_node *atom, double value) {
    const mc_atom_row *row = &mc_atoms[atom->atom];
    if (row->order != 1)
        return row->order > 0 && value == 0;
    const mc_value *v = &atom->parameter[row->parameters - 1];
    return v->kind == MC_VALUE_NUMBER && v->number == value;
}

bool mc_atom_is_centred(const mc_node *atom) {
    return is_centred(atom, 1);
}

bool mc_atom_is_conditional(const mc_node *atom) {
    return is_centred(atom, 0);
}

bool mc_atom_is_pairwise(const mc_node *atom) {
    return mc_atoms[atom->atom].pairwise
           || (atom->atom == MC_MATERN && atom->parameter[0].number < MC_MATERN_TABLE_LEAST);
}

static double identity_conversion(double s) {
    return s;
}

static double half_inverse_square(double s) {
    return s > 0 ? 0.5 / s / s : NAN; /* in this order s^2 cannot overflow before the division */
}

static double inverse_conversion(double s) {
    return s > 0 ? 1 / s : NAN;
}

static const mc_measure measures[] = {
    {MC_RBF, 0, "sigma", half_inverse_square, true},
    {MC_RBF, 0, "length_scale", half_inverse_square, true},
    {MC_LAPLACIAN, 0, "length_scale", inverse_conversion, true},
    {MC_EXPONENTIAL, 0, "length_scale", inverse_conversion, true},
};

static bool name_matches(const char *name, const char *text, size_t length) {
    return name && strlen(name) == length && memcmp(name, text, length) == 0;
}

int mc_atom_find(const char *text, size_t length) {
    for (int i = 0; i < MC_ATOM_COUNT; i++)
        if (name_matches(mc_atoms[i].name, text, length) || name_matches(mc_atoms[i].alias, text, length))
            return i;
    for (int i = 0; i < SYNONYMS; i++)
        if (name_matches(synonyms[i].name, text, length))
            return (int)synonyms[i].atom;
    return -1;
}

void mc_atom_preset(mc_node *node, const char *text, size_t length, bool *given) {
    for (int i = 0; i < SYNONYMS; i++)
        if (synonyms[i].parameter >= 0 && name_matches(synonyms[i].name, text, length)) {
            node->parameter[synonyms[i].parameter].number = synonyms[i].value;
            given[synonyms[i].parameter] = true;
        }
}

mc_measure mc_parameter_find(mc_atom atom, const char *text, size_t length) {
    const mc_atom_row *row = &mc_atoms[atom];
    for (int i = 0; i < row->parameters; i++)
        if (name_matches(row->parameter[i].name, text, length) || name_matches(row->parameter[i].alias, text, length))
            return mc_parameter_itself(atom, i);
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++)
        if (measures[i].atom == atom && name_matches(measures[i].name, text, length))
            return measures[i];
    return (mc_measure){.atom = atom, .parameter = -1};
}

mc_measure mc_parameter_itself(mc_atom atom, int i) {
    return (mc_measure){
        .atom = atom, .parameter = i, .name = mc_atoms[atom].parameter[i].name, .convert = identity_conversion};
}

static bool is_choice(const mc_parameter_row *row, double v) {
    for (int i = 0; i < row->choices; i++)
        if (v == row->choice[i])
            return true;
    return row->choices == 0;
}

bool mc_parameter_allows(const mc_parameter_row *row, double v) {
    return v >= row->low && v <= row->high && is_choice(row, v); /* NaN fails */
}

void mc_parameter_range(const mc_parameter_row *row, double v, char *out, size_t capacity) {
    if (row->choices > 0)
        mc_print(out, capacity, "%g, %g or %g", row->choice[0], row->choice[1], row->choice[2]);
    else if (row->low < 0 || isinf(v))
        mc_print(out, capacity, "finite");
    else if (row->high < DBL_MAX)
        mc_print(out, capacity, "from %g to %g", row->low, row->high);
    else if (v > 0 && v < DBL_MIN)
        mc_print(out, capacity, "at least %.17g, below which doubles lose their digits", DBL_MIN);
    else
        mc_print(out, capacity, "above 0");
}

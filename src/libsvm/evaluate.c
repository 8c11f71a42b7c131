/* evaluate.c: svm_predict and its relatives: one row at a time through LIBSVM's model, whoever made it.

   The row is laid out by index once, so that a kernel value is one pass over a support vector's nodes. The layout is a
   thread's own and is kept: what a row has put there is taken out again afterwards. A row with indices too large for
   that is compared node by node. */
#include "libsvm/model_memory.h"
#include "libsvm/probability.h"
#include "base/memory.h"
#include "predict/fitted.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST_INDEX = 1 << 24 };

/* ---- The layout ---- */

typedef struct row_layout {
    double *value; /* by index, all zero between calls */
    int64_t size;
} row_layout;

static pthread_key_t layout_key;
static pthread_once_t layout_once = PTHREAD_ONCE_INIT;
static bool layout_possible;

static void free_layout(void *arg) {
    row_layout *layout = arg;
    mc_svm_array_free(layout->value);
    mc_svm_array_free(layout);
}

static void make_key(void) {
    layout_possible = pthread_key_create(&layout_key, free_layout) == 0;
}

static row_layout *layout_of_thread(void) {
    pthread_once(&layout_once, make_key);
    row_layout *layout = layout_possible ? pthread_getspecific(layout_key) : NULL;
    if (!layout && layout_possible && (layout = mc_svm_array(1, sizeof *layout)) != NULL
        && pthread_setspecific(layout_key, layout) != 0) {
        mc_svm_array_free(layout);
        layout = NULL;
    }
    return layout;
}

/* A layout of so many values; NULL: there is none. */
static row_layout *layout_for(int64_t size) {
    row_layout *layout = size <= MOST_INDEX ? layout_of_thread() : NULL;
    if (!layout || layout->size >= size)
        return layout;
    mc_svm_array_free(layout->value);
    layout->value = mc_svm_array(2 * size, sizeof *layout->value);
    layout->size = layout->value ? 2 * size : 0;
    return layout->value ? layout : NULL;
}

/* The row asked about. */
typedef struct asked_row {
    const struct svm_node *node;
    int64_t count;      /* of nodes */
    int64_t different;  /* nodes that count: of equal indices the first */
    double square;      /* |x|^2 */
    row_layout *layout; /* NULL: node by node */
} asked_row;

static asked_row open_row(const struct svm_node *x) {
    asked_row r = {.node = x};
    int64_t size = 1;
    for (; x[r.count].index >= 0; r.count++)
        size = x[r.count].index >= size ? (int64_t)x[r.count].index + 1 : size;
    r.layout = layout_for(size);
    for (int64_t k = 0; k < r.count && r.layout; k++) {
        double *at = &r.layout->value[x[k].index];
        if (*at != 0 || x[k].value == 0)
            continue;
        *at = x[k].value;
        r.square += x[k].value * x[k].value;
        r.different++;
    }
    return r;
}

static void close_row(const asked_row *r) {
    for (int64_t k = 0; k < r->count && r->layout; k++)
        r->layout->value[r->node[k].index] = 0;
}

/* ---- Kernels ---- */

static double laid_out(const asked_row *r, int index) {
    return index < r->layout->size ? r->layout->value[index] : 0;
}

/* Inner product of rows whose indices rise. */
static double merged_product(const struct svm_node *x, const struct svm_node *z) {
    double sum = 0;
    while (x->index >= 0 && z->index >= 0)
        if (x->index == z->index)
            sum += x++->value * z++->value;
        else if (x->index < z->index)
            x++;
        else
            z++;
    return sum;
}

static double merged_distance(const struct svm_node *x, const struct svm_node *z) {
    double sum = 0;
    while (x->index >= 0 || z->index >= 0) {
        const bool both = x->index == z->index, left = z->index < 0 || (x->index >= 0 && x->index < z->index);
        const double u = both ? x->value - z->value : left ? x->value : z->value;
        sum += u * u;
        x += both || left;
        z += both || !left;
    }
    return sum;
}

/* Four sums, which need not wait for each other. */
static double product_with(const asked_row *r, const struct svm_node *z) {
    double sum[4] = {0};
    if (!r->layout)
        return merged_product(r->node, z);
    for (; z[0].index >= 0 && z[1].index >= 0 && z[2].index >= 0 && z[3].index >= 0; z += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += z[k].value * laid_out(r, z[k].index);
    for (; z->index >= 0; z++)
        sum[0] += z->value * laid_out(r, z->index);
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* |x - z|^2: over the nodes of z, and what x has beside them: nothing at all, to the last bit, where z meets every
   value of x. */
static double distance_to(const asked_row *r, const struct svm_node *z) {
    double sum[4] = {0}, met[4] = {0};
    int64_t values = 0;
    if (!r->layout)
        return merged_distance(r->node, z);
    for (; z[0].index >= 0 && z[1].index >= 0 && z[2].index >= 0 && z[3].index >= 0; z += 4)
        for (int k = 0; k < 4; k++) {
            const double x = laid_out(r, z[k].index), u = x - z[k].value;
            sum[k] += u * u;
            met[k] += x * x;
            values += x != 0;
        }
    for (; z->index >= 0; z++) {
        const double x = laid_out(r, z->index), u = x - z->value;
        sum[0] += u * u;
        met[0] += x * x;
        values += x != 0;
    }
    const double rest = values == r->different ? 0 : r->square - (met[0] + met[1] + met[2] + met[3]);
    return sum[0] + sum[1] + sum[2] + sum[3] + fmax(rest, 0);
}

/* By squaring. */
static double whole_power(double base, int degree) {
    double power = 1;
    for (; degree > 0; degree /= 2) {
        power *= degree % 2 ? base : 1;
        base *= base;
    }
    return power;
}

static double kernel_value(const struct svm_parameter *p, const asked_row *r, const struct svm_node *z) {
    switch (p->kernel_type) {
    case SVM_LINEAR: return product_with(r, z);
    case SVM_POLY: return whole_power(p->gamma * product_with(r, z) + p->coef0, p->degree);
    case SVM_RBF: return exp(-p->gamma * distance_to(r, z));
    case SVM_SIGMOID: return tanh(p->gamma * product_with(r, z) + p->coef0);
    default: return z->value >= 0 && z->value < (double)r->count ? r->node[(int64_t)z->value].value : NAN;
    }
}

/* ---- Decisions ---- */

static void fill_kernel_values(const struct svm_model *m, const struct svm_node *x, double *out) {
    const bool rows = m->param.kernel_type != SVM_PRECOMPUTED;
    asked_row r = {.node = x, .count = mc_node_count(x)};
    if (rows)
        r = open_row(x);
    for (int i = 0; i < m->l; i++)
        out[i] = kernel_value(&m->param, &r, m->SV[i]);
    if (rows)
        close_row(&r);
}

static double part_of_class(const struct svm_model *m, int column, int start, int count, const double *k) {
    double sum = 0;
    for (int i = start; i < start + count; i++)
        sum += m->sv_coef[column][i] * k[i];
    return sum;
}

static void decide_pairs(const struct svm_model *m, const double *k, double *values) {
    int64_t pair = 0;
    for (int a = 0, start_a = 0; a < m->nr_class; start_a += m->nSV[a++])
        for (int b = a + 1, start_b = start_a + m->nSV[a]; b < m->nr_class; start_b += m->nSV[b++], pair++)
            values[pair] = part_of_class(m, b - 1, start_a, m->nSV[a], k) + part_of_class(m, a, start_b, m->nSV[b], k)
                           - m->rho[pair];
}

static double decide_value(const struct svm_model *m, const double *k) {
    return part_of_class(m, 0, 0, m->l, k) - m->rho[0];
}

double svm_predict_values(const struct svm_model *m, const struct svm_node *x, double *values) {
    double *k = mc_svm_array(m->l, sizeof *k);
    double answer = NAN;
    if (!k)
        return answer;
    fill_kernel_values(m, x, k);
    if (mc_svm_type_has_classes(m->param.svm_type)) {
        decide_pairs(m, k, values);
        answer = m->label[mc_pair_winner(m->nr_class, values)];
    } else {
        values[0] = decide_value(m, k);
        answer = m->param.svm_type != SVM_ONE_CLASS ? values[0] : values[0] > 0 ? 1 : -1;
    }
    mc_svm_array_free(k);
    return answer;
}

double svm_predict(const struct svm_model *m, const struct svm_node *x) {
    const int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    double *values = mc_svm_array(pairs, sizeof *values);
    const double answer = values ? svm_predict_values(m, x, values) : NAN;
    mc_svm_array_free(values);
    return answer;
}

/* ---- Probabilities ---- */

/* Never quite 0 or 1, so that the coupling has an answer. */
static void fill_pair_probabilities(int classes, const double *A, const double *B, const double *values, double *r) {
    int64_t pair = 0;
    for (int a = 0; a < classes; a++)
        for (int b = a + 1; b < classes; b++, pair++) {
            const double p = mc_platt_value((mc_logistic_line){A[pair], B[pair]}, values[pair]);
            r[a * classes + b] = fmin(fmax(p, 1e-7), 1 - 1e-7);
            r[b * classes + a] = 1 - r[a * classes + b];
        }
}

int mc_probable_class(int classes, const double *A, const double *B, const double *values, double *room,
                      double *estimates) {
    double *r = room, *Q = r + (int64_t)classes * classes, *Qp = Q + (int64_t)classes * classes;
    fill_pair_probabilities(classes, A, B, values, r);
    if (classes == 2)
        memcpy(estimates, (const double[2]){r[1], r[2]}, 2 * sizeof *estimates);
    else
        mc_pairwise_coupling(classes, r, Q, Qp, estimates);
    return (int)mc_largest_index(estimates, classes);
}

int64_t mc_probability_room(int classes) {
    return (int64_t)classes * (2 * classes + 1);
}

double svm_predict_probability(const struct svm_model *m, const struct svm_node *x, double *estimates) {
    if (!mc_svm_type_has_classes(m->param.svm_type) || !m->probA || !m->probB)
        return svm_predict(m, x);
    const int64_t pairs = (int64_t)m->nr_class * (m->nr_class - 1) / 2;
    double *values = mc_svm_array(pairs + mc_probability_room(m->nr_class), sizeof *values);
    if (!values)
        return NAN;
    svm_predict_values(m, x, values);
    const int best = mc_probable_class(m->nr_class, m->probA, m->probB, values, values + pairs, estimates);
    mc_svm_array_free(values);
    return m->label[best];
}

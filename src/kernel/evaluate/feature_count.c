/* feature_count.c: the dimension of a feature map, and what its features can be wrong by, from the expression alone. */
#include "kernel/evaluate/feature_map.h"
#include "kernel/language/node.h"
#include <math.h>

int64_t mc_count_monomials(int64_t D, int64_t p, int64_t limit) {
    double count = 1;
    for (int64_t i = 1; i <= p && count <= (double)limit; i++)
        count = round(count * (double)(D + i - 1) / (double)i);
    return count <= (double)limit ? (int64_t)count : -1;
}

static bool whole_power(double p) {
    return p >= 1 && p <= 64 && p == floor(p);
}

static int64_t count_atom(const mc_node *node, int64_t d, int64_t limit) {
    if (node->atom == MC_LINEAR || node->atom == MC_COSINE)
        return d;
    if (node->atom == MC_FORM)
        return node->parameter[0].kind == MC_VALUE_MATRIX ? (int64_t)node->parameter[0].number : -1;
    if (node->atom != MC_POLY || node->parameter[1].kind != MC_VALUE_NUMBER || !whole_power(node->parameter[0].number))
        return -1;
    const double c = node->parameter[1].number;
    return c < 0 ? -1 : mc_count_monomials(d + (c > 0), (int64_t)node->parameter[0].number, limit);
}

static int64_t count_children(const mc_node *node, int64_t d, int64_t limit) {
    int64_t total = node->kind == MC_PRODUCT;
    for (int i = 0; i < node->children; i++) {
        const int64_t count = mc_features_count(node->child[i], d, limit);
        if (count < 0)
            return -1;
        total = node->kind == MC_PRODUCT ? total * count : total + count;
        if (total > limit)
            return -1;
    }
    return total;
}

int64_t mc_features_count(const mc_node *node, int64_t d, int64_t limit) {
    limit = limit < MC_FEATURES_MOST ? limit : MC_FEATURES_MOST;
    switch (node->kind) {
    case MC_NUMBER: return node->number < 0 ? -1 : 1;
    case MC_ATOM: {
        const int64_t count = count_atom(node, d, limit);
        return count <= limit ? count : -1;
    }
    case MC_SUM:
    case MC_PRODUCT: return count_children(node, d, limit);
    case MC_POWER: {
        const int64_t count = whole_power(node->number) ? mc_features_count(node->child[0], d, limit) : -1;
        return count < 0 ? -1 : mc_count_monomials(count, (int64_t)node->number, limit);
    }
    case MC_NORMALIZE:
    case MC_WEIGH: return mc_features_count(node->child[0], d, limit);
    case MC_COLUMNS: return mc_features_count(node->child[0], node->columns, limit);
    case MC_EXP:
    case MC_SERIES: return -1;
    }
    return -1;
}

/* ---- Rounding ---- */

/* Where features are sums, or come from functions of the row, all that is said is what holds for such. */
enum { UNKNOWN = 256 };

static double rounding_of_atom(const mc_node *node, int64_t d) {
    switch (node->atom) {
    case MC_LINEAR: return 0;
    case MC_COSINE: return (double)d + 8;
    case MC_POLY: return 6 * node->parameter[0].number + 10; /* a product for every power, and a root */
    default: return (double)d + UNKNOWN;
    }
}

double mc_rounding_of_features(const mc_node *node, int64_t d) {
    double most = 0, sum = 0;
    if (node->kind == MC_ATOM || node->kind == MC_NUMBER)
        return node->kind == MC_ATOM ? rounding_of_atom(node, d) : 1;
    for (int i = 0; i < node->children; i++) {
        const double below = mc_rounding_of_features(node->child[i], node->kind == MC_COLUMNS ? node->columns : d);
        most = fmax(most, below);
        sum += below + 1;
    }
    switch (node->kind) {
    case MC_PRODUCT: return sum;
    case MC_POWER: return node->number * (most + 4) + 10;
    case MC_NORMALIZE: return 2 * most + (double)mc_features_count(node, d, MC_FEATURES_MOST) + 8;
    case MC_WEIGH: return most + UNKNOWN;
    default: return most;
    }
}

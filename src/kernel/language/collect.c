/* collect.c: sums and products in canonical form: flat, with numbers gathered and equal parts merged.

   Order is the writer's own: a merged part stands where its first piece stood, the numeric factor of a product in
   front, and behind it powers of numbers (linear/3 is 3^-1*linear).

     a + (b + c) - (d - e)  =  a + b + c - d + e          2*linear*3       =  6*linear
     2*k + 3*k              =  5*k                        k*k^2            =  k^3
     k - k                  =  0                          0*k              =  0

   Numbers are the doubles they read as, and only what is exact is computed: 0.1*3*k and 0.1*k + 0.2*k stay as they are.
   A factor that was written stays a factor, 1*k too: it is a parameter that can be learned. Parts with ranges are not
   merged: each of them is to be chosen on its own. */
#include "base/memory.h"
#include "base/status.h"
#include "kernel/language/fold_numbers.h"
#include "kernel/language/node.h"
#include "kernel/language/simplify.h"
#include <math.h>
#include <string.h>

static bool is_number(const mc_node *node) {
    return node->kind == MC_NUMBER;
}

static void remove_child(mc_node *node, int i) {
    mc_node_free(node->child[i]);
    node->children--;
    memmove(node->child + i, node->child + i + 1, (size_t)(node->children - i) * sizeof *node->child);
}

static mercer_status insert_front(mercer_ctx *ctx, mc_node *node, double number) {
    mc_node *front = NULL;
    MC_TRY(mc_node_make_number(ctx, number, node->offset, &front));
    MC_TRY(mc_node_add(ctx, node, front));
    memmove(node->child + 1, node->child, (size_t)(node->children - 1) * sizeof *node->child);
    node->child[0] = front;
    return MERCER_OK;
}

bool mc_has_factor(const mc_node *node) {
    return node->kind == MC_PRODUCT && is_number(node->child[0]);
}

double mc_get_factor(const mc_node *node) {
    return mc_has_factor(node) ? node->child[0]->number : 1;
}

/* c^p, a number that no double holds: 3^-1. */
static bool is_number_power(const mc_node *node) {
    return node->kind == MC_POWER && (is_number(node->child[0]) || is_number_power(node->child[0]));
}

/* With no kernel behind it there is no factor to learn: 1*3^-1 is 3^-1. */
static bool is_made_of_numbers(const mc_node *node) {
    return is_number_power(node) || (node->kind == MC_PRODUCT && is_number_power(node->child[node->children - 1]));
}

/* The factor c in front, 1 too. */
static mercer_status put_factor(mercer_ctx *ctx, mc_node **io, double c) {
    if (mc_has_factor(*io)) {
        (*io)->child[0]->number = c;
        return MERCER_OK;
    }
    if ((*io)->kind != MC_PRODUCT)
        MC_TRY(mc_node_wrap(ctx, MC_PRODUCT, (*io)->offset, io));
    return insert_front(ctx, *io, c);
}

mercer_status mc_set_factor(mercer_ctx *ctx, mc_node **io, double c) {
    if (c != 1)
        return put_factor(ctx, io, c);
    if (mc_has_factor(*io)) {
        remove_child(*io, 0);
        if ((*io)->children == 1)
            mc_node_unwrap(io, 0);
    }
    return MERCER_OK;
}

/* ---- Flattening ---- */

/* -(a + b) inside of a sum: the signs go to the terms. */
static mercer_status push_minus(mercer_ctx *ctx, mc_node **io) {
    mc_node *node = *io;
    if (!mc_has_factor(node) || node->child[0]->number != -1 || node->children != 2 || node->child[1]->kind != MC_SUM)
        return MERCER_OK;
    mc_node_unwrap(io, 1);
    for (int i = 0; i < (*io)->children; i++) {
        mc_node **term = &(*io)->child[i];
        if (is_number(*term))
            (*term)->number = -(*term)->number;
        else
            MC_TRY(mc_set_factor(ctx, term, -mc_get_factor(*term)));
    }
    return MERCER_OK;
}

static int flat_count(const mc_node *node) {
    int count = 0;
    for (int i = 0; i < node->children; i++)
        count += node->child[i]->kind == node->kind ? node->child[i]->children : 1;
    return count;
}

static void move_children(mc_node *from, mc_node **to, int *count) {
    memcpy(to + *count, from->child, (size_t)from->children * sizeof *to);
    *count += from->children;
    from->children = 0;
    mc_node_free(from);
}

/* Children of the same kind give way to their own children, unless the list would become longer than the parser reads.
   */
static mercer_status flatten_children(mercer_ctx *ctx, mc_node *node) {
    const int total = flat_count(node);
    if (total == node->children || total > MC_CHILDREN_MAX)
        return MERCER_OK;
    int capacity = 1, count = 0;
    while (capacity < total) /* mc_node_add counts on room for a power of two */
        capacity *= 2;
    mc_node **flat = NULL;
    MC_TRY(MC_ALLOC(ctx, flat, capacity));
    for (int i = 0; i < node->children; i++) {
        if (node->child[i]->kind == node->kind)
            move_children(node->child[i], flat, &count);
        else
            flat[count++] = node->child[i];
    }
    mc_free(node->child);
    node->child = flat;
    node->children = count;
    return MERCER_OK;
}

/* ---- Sums ---- */

/* All numbers become one where the first stood; 0 goes. */
static void gather_terms(mc_node *node) {
    mc_exact_sum sum = {0};
    double total;
    for (int i = 0; i < node->children; i++)
        if (is_number(node->child[i]))
            mc_exact_add(&sum, node->child[i]->number);
    if (!mc_fold_sum(&sum, &total))
        return;
    for (int i = 0; i < node->children;) {
        mc_node *term = node->child[i];
        if (!is_number(term))
            i++;
        else if (total == 0)
            remove_child(node, i);
        else {
            term->number = total;
            total = 0;
            i++;
        }
    }
}

static const mc_node *factor_at(const mc_node *term, int i) {
    return term->kind == MC_PRODUCT ? term->child[i] : term;
}

/* The same but for the numeric factor in front. */
static bool same_tail(const mc_node *a, const mc_node *b) {
    const int a0 = mc_has_factor(a), b0 = mc_has_factor(b);
    const int n = a->kind == MC_PRODUCT ? a->children - a0 : 1, m = b->kind == MC_PRODUCT ? b->children - b0 : 1;
    if (n != m || is_number(a) || is_number(b))
        return false;
    for (int i = 0; i < n; i++)
        if (!mc_node_equal(factor_at(a, a0 + i), factor_at(b, b0 + i)))
            return false;
    return true;
}

/* The terms from the i-th on that differ from it by a factor only: how many, the sum of their factors where that is
   exact, and whether one of the factors was written, as 2 or 1 is and a minus sign is not. */
typedef struct likes {
    int count;
    bool exact, written;
    double factor;
} likes;

static likes find_likes(const mc_node *node, int i) {
    mc_exact_sum sum = {0};
    likes found = {0};
    for (int j = i; j < node->children; j++) {
        const mc_node *term = node->child[j];
        if (j > i && !same_tail(node->child[i], term))
            continue;
        found.count++;
        found.written |= mc_has_factor(term) && term->child[0]->number != -1;
        mc_exact_add(&sum, mc_get_factor(term));
    }
    found.exact = mc_fold_sum(&sum, &found.factor);
    return found;
}

static mercer_status merge_likes(mercer_ctx *ctx, mc_node *node, int i, const likes *found) {
    for (int j = node->children - 1; j > i; j--)
        if (same_tail(node->child[i], node->child[j]))
            remove_child(node, j);
    if (found->factor == 1 && found->written && !is_made_of_numbers(node->child[i]))
        return put_factor(ctx, &node->child[i], 1);
    return mc_set_factor(ctx, &node->child[i], found->factor);
}

static mercer_status merge_terms(mercer_ctx *ctx, mc_node *node) {
    for (int i = 0; i < node->children; i++) {
        if (is_number(node->child[i]) || mc_node_any(node->child[i], mc_node_ranges))
            continue;
        const likes found = find_likes(node, i);
        if (found.exact && found.count > 1)
            MC_TRY(merge_likes(ctx, node, i, &found));
        if (mc_has_factor(node->child[i]) && node->child[i]->child[0]->number == 0)
            remove_child(node, i--);
    }
    return MERCER_OK;
}

/* No child left: the neutral element. One left: itself. */
static void collapse_short_node(mc_node **io, double neutral) {
    mc_node *node = *io;
    if (node->children == 1)
        mc_node_unwrap(io, 0);
    else if (node->children == 0) {
        node->kind = MC_NUMBER;
        node->number = neutral;
    }
}

mercer_status mc_collect_sum(mercer_ctx *ctx, mc_node **io) {
    mc_node *node = *io;
    /* a minus that was pushed may meet a sum again: -(a + 1*(b + c)) */
    for (int before = 0; before < node->children;) {
        for (int i = 0; i < node->children; i++)
            MC_TRY(push_minus(ctx, &node->child[i]));
        before = node->children;
        MC_TRY(flatten_children(ctx, node));
    }
    MC_TRY(merge_terms(ctx, node));
    gather_terms(node);
    collapse_short_node(io, 0);
    return MERCER_OK;
}

/* ---- Products ---- */

/* A number takes in those after it whose product with it is exact. */
static void multiply_numbers(mc_node *node) {
    for (int i = 0; i < node->children; i++)
        for (int j = i + 1; is_number(node->child[i]) && j < node->children; j++) {
            double product;
            if (is_number(node->child[j])
                && mc_fold_product(node->child[i]->number, node->child[j]->number, &product)) {
                node->child[i]->number = product;
                remove_child(node, j);
                j = i; /* what did not fit before may fit the product */
            }
        }
}

/* The place, from begin on, of the first number above 1 in size, or of one that is not; begin when there is none. */
static int find_number(const mc_node *node, int begin, int end, bool above) {
    for (int i = begin; i < end; i++)
        if ((fabs(node->child[i]->number) > 1) == above)
            return i;
    return begin;
}

static void move_child(mc_node *node, int from, int to) {
    mc_node *child = node->child[from];
    memmove(node->child + to + 1, node->child + to, (size_t)(from - to) * sizeof *node->child);
    node->child[to] = child;
}

/* Large and small by turns, so that whoever multiplies from the left meets no overflow that the product does not have.
   */
static void balance_numbers(mc_node *node, int count) {
    double size = 0;
    for (int i = 0; i < count; i++) {
        move_child(node, i == 0 ? 0 : find_number(node, i, count, size < 0), i);
        size += log2(fabs(node->child[i]->number));
    }
}

/* The numbers that are left move to the front, with the sign of all of them on the first. */
static void line_up_numbers(mc_node *node) {
    int front = 0;
    bool minus = false;
    for (int i = 0; i < node->children; i++) {
        mc_node *number = node->child[i];
        if (!is_number(number))
            continue;
        minus ^= number->number < 0;
        number->number = fabs(number->number);
        move_child(node, i, front++);
    }
    balance_numbers(node, front);
    if (minus)
        node->child[0]->number = -node->child[0]->number;
}

/* Powers of numbers stand behind the numbers. */
static void line_up_number_powers(mc_node *node) {
    int front = 0;
    while (front < node->children && is_number(node->child[front]))
        front++;
    for (int i = front; i < node->children; i++)
        if (is_number_power(node->child[i]))
            move_child(node, i, front++);
}

static bool is_idle_one(const mc_node *node) {
    return node->child[0]->number == 1 && is_made_of_numbers(node);
}

/* Some number is more than a minus sign. */
static bool has_written(const mc_node *node) {
    for (int i = 0; i < node->children; i++)
        if (is_number(node->child[i]) && node->child[i]->number != -1)
            return true;
    return false;
}

/* All numbers become one in front, as far as that is exact; two minus signs go, and 0 takes everything with it. */
static void gather_factors(mc_node *node) {
    const bool written = has_written(node);
    multiply_numbers(node);
    line_up_numbers(node);
    line_up_number_powers(node);
    if (!mc_has_factor(node))
        return;
    if (is_idle_one(node) || (node->child[0]->number == 1 && !written))
        remove_child(node, 0);
    else if (node->child[0]->number == 0)
        while (node->children > 1)
            remove_child(node, 1);
}

/* k^p as (k, p) for a whole p, anything else as (itself, 1). */
static const mc_node *base_of(const mc_node *factor, double *p) {
    const bool power = factor->kind == MC_POWER && mc_is_whole(factor->number);
    *p = power ? factor->number : 1;
    return power ? factor->child[0] : factor;
}

static mercer_status merge_factors(mercer_ctx *ctx, mc_node *node, int i, int j, bool *merged) {
    double p, q;
    mc_node **a = &node->child[i];
    const mc_node *base = base_of(*a, &p);
    *merged = !is_number(base) && mc_node_equal(base, base_of(node->child[j], &q)) && mc_is_whole(p + q)
              && !mc_node_any(base, mc_node_ranges);
    if (!*merged)
        return MERCER_OK;
    if (base == *a)
        MC_TRY(mc_node_wrap(ctx, MC_POWER, (*a)->offset, a));
    (*a)->number = p + q;
    remove_child(node, j);
    return MERCER_OK;
}

static mercer_status merge_all_factors(mercer_ctx *ctx, mc_node *node) {
    for (int i = 0; i < node->children; i++)
        for (int j = i + 1; j < node->children;) {
            bool merged;
            MC_TRY(merge_factors(ctx, node, i, j, &merged));
            j += !merged;
        }
    return MERCER_OK;
}

mercer_status mc_collect_product(mercer_ctx *ctx, mc_node **io) {
    MC_TRY(flatten_children(ctx, *io));
    gather_factors(*io);
    MC_TRY(merge_all_factors(ctx, *io));
    collapse_short_node(io, 1);
    return MERCER_OK;
}

/* term.h: what the lines of a derivation speak about.

   A term is an expression of the kernel language, plus the few things an argument needs and the language has no word
   for: numbers that are not fixed yet ("2*gamma" of an rbf whose bandwidth the data will give), and squared distances.
   Terms are made in a pool, never change, and die with it. Makers take NULL children and then return NULL: a caller
   asks pool->status once, at the end. */
#ifndef MC_KERNEL_PROOF_TERM_H
#define MC_KERNEL_PROOF_TERM_H

#include "base/text.h"
#include "kernel/proof/interval.h"
#include "kernel/language/kernel.h"

typedef struct mc_pool {
    mercer_ctx *ctx;
    struct mc_pool_block *blocks;
    mercer_status status; /* MERCER_MEMORY once a request failed */
} mc_pool;

mc_pool mc_pool_open(mercer_ctx *ctx);
void *mc_pool_take(mc_pool *pool, int64_t count, size_t size); /* zeros; NULL when memory ends */
void mc_pool_close(mc_pool *pool);

/* factor, or factor * parameter for a parameter that is not one number. It stands for every value it may get. */
typedef struct mc_amount {
    double factor;
    const mc_value *value; /* NULL: just the factor */
    const char *name;
} mc_amount;

mc_amount mc_amount_number(double number);
/* factor: a power of two, so that the product is exact */
mc_amount mc_amount_of(double factor, const mc_node *atom, int parameter);
bool mc_amount_equal(mc_amount a, mc_amount b);
/* Every value it may have. A parameter that the data will give is any positive number. */
mc_interval mc_amount_range(mc_amount a);
mc_interval mc_value_range(const mc_value *value);
bool mc_value_is_zero(const mc_value *value);

/* Functions of x and z without a name in the language; j runs over the columns. Those with an owner take its
   parameters. */
typedef enum mc_special {
    MC_SPECIAL_NONE,
    MC_COLUMN_SQUARE,   /* (x_j - z_j)^2 */
    MC_COLUMN_DISTANCE, /* |x_j - z_j| */
    MC_SCALED_SQUARE,   /* the squared distance inside rbf, exponential, matern, rq */
    MC_SCALED_DISTANCE, /* its root */
    MC_SUM_DISTANCE,    /* sum_j gamma_j |x_j - z_j|, inside laplacian */
    MC_CIRCLE_SQUARE,   /* the squared distance on circles, inside periodic */
    MC_HARMONIC,        /* sum_j x_j z_j / (x_j + z_j) */
    MC_CHI2_DISTANCE,   /* gamma sum_j (x_j - z_j)^2 / (x_j + z_j) */
    MC_RQ_LOG,          /* -log of an rq */
    MC_MATERN_LOG,      /* -log of a matern */
    MC_REST_DOT,        /* sum_j x_j z_j over the columns after the first amount.factor */
    MC_MINUS_NORMS,     /* -sum_j amount_j (x_j^2 + z_j^2) */
    MC_DISTANCE_SQUARE, /* |x - z|^2 */
    MC_DISTANCE_PSI,    /* minus the power, log or multiquadric that owns it, not centred */
    MC_SIGN_MEAN        /* inside arccos: the mean over Gaussian w of s(x) s(z), see expand_unfolded.c */
} mc_special;

typedef enum mc_term_kind {
    MC_T_NUMBER, /* amount */
    MC_T_ATOM,   /* node */
    MC_T_DOT,    /* sum_j amount_j x_j z_j, for an amount with one number per column */
    MC_T_SUM,
    MC_T_PRODUCT,
    MC_T_POWER, /* child ^ amount.factor */
    MC_T_EXP,
    MC_T_NORMALIZE,
    MC_T_WEIGH,    /* by node->function, or by exp(-sum_j amount_j x_j^2) when node is NULL */
    MC_T_COLUMNS,  /* node's columns */
    MC_T_SPECIAL,  /* special; node: its owner or NULL */
    MC_T_SERIES,   /* a function of child by its power series; node says which */
    MC_T_REMAINDER /* child, a function of a kernel, less its powers up to `order` around amount: expand_taylor.c */
} mc_term_kind;

typedef struct mc_term {
    mc_term_kind kind;
    mc_special special;
    mc_amount amount;
    const mc_node *node;
    int order;
    int children;
    const struct mc_term *const *child;
} mc_term;

/* The tree's nodes are borrowed: they must outlive the pool's terms. */
const mc_term *mc_term_from(mc_pool *pool, const mc_node *node);
const mc_term *mc_term_number(mc_pool *pool, mc_amount amount);
const mc_term *mc_term_atom(mc_pool *pool, const mc_node *node);
const mc_term *mc_term_linear(mc_pool *pool);
const mc_term *mc_term_special(mc_pool *pool, mc_special special, const mc_node *owner);
const mc_term *mc_term_unary(mc_pool *pool, mc_term_kind kind, mc_amount amount, const mc_node *node,
                             const mc_term *child);
const mc_term *mc_term_binary(mc_pool *pool, mc_term_kind kind, const mc_term *a, const mc_term *b);

/* Surely the same function of x and z, whatever open parameters turn out to be. Two ranges for tune are two parameters.
   */
bool mc_term_equal(const mc_term *a, const mc_term *b);

/* The term as a function of the columns that all its parts see, *view (NULL before the call); NULL when they do not all
   see the same ones. */
const mc_term *mc_term_without_view(mc_pool *pool, const mc_term *term, const mc_node **view);

/* expand_taylor.c: what is left of a function after the terms of its power series around `at` up to the order. */
const mc_term *mc_term_remainder(mc_pool *pool, const mc_term *function, double at, int order);

/* It is a kernel as it is: of arccos and spline. */
bool mc_remainder_is_plain(const mc_term *remainder);
/* What must be a kernel for it to be one: u - c of exp(u), c - b of b^-a with b > 0; NULL: nothing makes it one. */
const mc_term *mc_remainder_kernel(mc_pool *pool, const mc_term *remainder);

/* A sum without its i-th summand; of two that is the other one. */
const mc_term *mc_term_without(mc_pool *pool, const mc_term *sum, int i);

/* Minus the term, the sign inside sums and before products. */
const mc_term *mc_term_negated(mc_pool *pool, const mc_term *term);

/* What an atom is by definition, as a term built from simpler ones: poly: gamma*linear + c (to be raised to its
   degree); rbf: weigh(exp(-gamma*norm2), exp(2*gamma*linear)). NULL for the others. */
const mc_term *mc_term_unfold(mc_pool *pool, const mc_node *atom);

/* All values a term may take at any two points; everything when nothing better is known. */
mc_interval mc_term_range(const mc_term *term);
/* All values k(x, x) may take. */
mc_interval mc_term_diagonal_range(const mc_term *term);
/* All values f may take at the points where it is defined: a root or a logarithm of what may be negative is taken only
   where it is not. */
mc_interval mc_function_range(const mc_function *f);
/* f >= 0 wherever it is defined, by its form alone. */
bool mc_function_nonnegative(const mc_function *f);

void mc_term_print(const mc_term *term, mc_text *out);
void mc_amount_print(mc_amount amount, mc_text *out);

#endif

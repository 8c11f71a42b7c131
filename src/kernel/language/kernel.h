/* kernel.h: the abstract syntax of the kernel language, and what the other folders ask of a kernel. A tree never
   changes once made.

   text -> lex.c, parse.c -> tree -> simplify.c -> canonical tree -> canonical_text.c -> canonical text -> parses
   back to the same tree. bind.c fills in what depends on the data. eval.c is the reference evaluator. shape.c,
   prove.c, check_proof.c, refute.c reason about the tree. */
#ifndef MC_KERNEL_LANGUAGE_KERNEL_H
#define MC_KERNEL_LANGUAGE_KERNEL_H

#include <mercer.h>

typedef enum mc_atom {
    MC_LINEAR,
    MC_POLY,
    MC_RBF,
    MC_LAPLACIAN,
    MC_EXPONENTIAL,
    MC_MATERN,
    MC_RQ,
    MC_PERIODIC,
    MC_COSINE,
    MC_CHI2,
    MC_INTERSECTION,
    MC_ARCCOS,
    MC_TANH,
    MC_WHITE,
    MC_FORM,
    MC_PRECOMPUTED,
    MC_USER,
    MC_SPECTRUM,
    MC_TANIMOTO,
    MC_ADDITIVE_CHI2,
    MC_WENDLAND,
    MC_SINC,
    MC_BROWNIAN,
    MC_SPLINE,
    MC_GIBBS,
    MC_RBF_FORM,
    MC_POWER_DISTANCE,
    MC_LOG,
    MC_MULTIQUADRIC,
    MC_THIN_PLATE,
    MC_SUBSEQUENCE,
    MC_WEIGHTED_DEGREE,
    MC_WORDS,
    MC_TFIDF,
    MC_MEAN_MAP,
    MC_ATOM_COUNT
} mc_atom;

/* What stands behind "gamma=". */
typedef enum mc_value_kind {
    MC_VALUE_AUTO, /* not given: from the data (rbf's gamma) */
    MC_VALUE_NUMBER,
    MC_VALUE_VECTOR, /* one number per column */
    /* rows x columns, row-major; symmetric. number: its rank, -1 when it is not positive semidefinite */
    MC_VALUE_MATRIX,
    MC_VALUE_FILE, /* form("A.npy"), read when the kernel is bound */
    MC_VALUE_USER, /* user("name"): a function of the program; file: its name */
    /* spectrum(p=3)[name]: its text column, parameter MC_TEXT_COLUMN (not written as one). file: the name; number: its
       place among the texts of the data, once bound */
    MC_VALUE_TEXT,
    MC_VALUE_WORDS, /* tfidf's words: kernel/evaluate/word_weights.h */
    MC_VALUE_RANGE, /* lo..hi, for tune */
    MC_VALUE_SET    /* {a, b, c}, for tune */
} mc_value_kind;

typedef struct mc_value {
    mc_value_kind kind;
    double number; /* NUMBER; the rank of a MATRIX; NaN for all others */
    /* RANGE; NUMBER chosen from one: what learning keeps to, where low < high. low of a MATRIX: 0 when it is surely
       positive semidefinite, else minus infinity */
    double low, high;
    int64_t rows, columns; /* VECTOR: 1 x columns; MATRIX; SET: 1 x columns */
    double *numbers;
    char *file;
    struct mc_user *user; /* USER; shared by copies */
    int64_t offset;       /* byte in the text, for messages */
} mc_value;

enum { MC_PARAMETERS_MAX = 4, MC_TEXT_COLUMN = 3, MC_CHOICES_MAX = 3 };

/* One row per parameter of an atom. A value in [low, high] parses; below kernel_low, or not whole where integer is set,
   it parses only to be refuted. A parameter with choices or integer set is never learned, one with
   fixed where its number was chosen from a range alone. */
typedef struct mc_parameter_row {
    const char *name, *alias; /* alias NULL: none. rbf takes sigma and length_scale instead of gamma: see atoms.c */
    double initial;           /* default; NaN: AUTO */
    double low, high;         /* closed range that parses; open ends are written as the nearest normal double */
    bool integer, vector;     /* vector: one number per column is allowed */
    bool fixed;               /* learned where a range was given, and only there */
    bool quiet;               /* not printed at its default */
    double kernel_low;        /* closed: smallest value for which the atom may be a kernel */
    int choices;              /* more than 0: one of these and nothing else */
    double choice[MC_CHOICES_MAX];
} mc_parameter_row;

typedef struct mc_atom_row {
    const char *name, *alias;
    int parameters;
    mc_parameter_row parameter[MC_PARAMETERS_MAX];
    bool nonnegative; /* defined on vectors without negative entries */
    bool pairwise;    /* no tile program: the reference evaluator has its values, one pair after the other */
    /* reads a column of text: an inner product of features (text_features.h), or mean_map (row_sets.h), whose child
       is a kernel of other rows */
    bool text;
    /* not a kernel, but sum w_i w_j k(x_i, x_j) >= 0 where w sums to zero: 1; where w is orthogonal to linear functions
       too: 2. The last parameter of those of order 1 says whether it is centred, which makes a kernel of it */
    int order;
    bool opaque; /* its values come from elsewhere: no sum over coordinates, nothing to search a refutation with */
} mc_atom_row;
extern const mc_atom_row mc_atoms[MC_ATOM_COUNT]; /* atoms.c */

typedef enum mc_kind {
    MC_NUMBER, /* the constant kernel k = number, of any sign: a negative one exists to be refuted */
    MC_ATOM,
    MC_SUM,
    MC_PRODUCT,   /* of the children; a - b is a + (-1)*b */
    MC_POWER,     /* child ^ number */
    MC_EXP,       /* exp(child) */
    MC_NORMALIZE, /* child / sqrt(child(x,x) child(z,z)); 0 where the denominator is 0 */
    MC_WEIGH,     /* f(x) child(x,z) f(z) */
    MC_COLUMNS,   /* child on some columns */
    MC_SERIES     /* a function of the child by its power series: power_series.h */
} mc_kind;

typedef enum mc_series {
    MC_LOGARITHMIC, /* -log(1 - t) */
    MC_ARCSIN,
    MC_BESSEL_I0,
    MC_SERIES_COUNT
} mc_series;

/* The function f of weigh: over norm2, norm, x[i] and numbers. */
typedef enum mc_function_kind {
    MC_F_NUMBER,
    MC_F_NORM2,
    MC_F_NORM,
    MC_F_COLUMN,
    MC_F_NEGATE,
    MC_F_ADD,
    MC_F_SUBTRACT,
    MC_F_MULTIPLY,
    MC_F_DIVIDE,
    MC_F_POWER,
    MC_F_EXP,
    MC_F_LOG,
    MC_F_SQRT,
    MC_F_SIN,
    MC_F_COS,
    MC_F_TANH,
    MC_F_ABS
} mc_function_kind;

typedef struct mc_function {
    mc_function_kind kind;
    double number;
    int64_t column;               /* from 0 */
    struct mc_function *child[2]; /* POWER: child[0] ^ child[1] */
} mc_function;

typedef struct mc_node mc_node;
struct mc_node {
    mc_kind kind;
    int64_t offset; /* byte in the text, for messages */
    double number;  /* NUMBER: value; POWER: exponent */
    mc_atom atom;
    mc_series series; /* SERIES */
    mc_value parameter[MC_PARAMETERS_MAX];
    int children;
    mc_node **child;
    mc_function *function; /* WEIGH, and the length scale of gibbs */
    int64_t columns;       /* COLUMNS */
    int64_t *column;       /* from 0; -1 while only the name is known */
    char **column_name;    /* NULL when all columns were given by number */
};

struct mercer_kernel {
    mc_node *root;  /* what computes: columns are those that a table keeps (localise.h) */
    mc_node *shown; /* the same in the numbers of users; NULL: these are the same */
    char *text;
    int64_t d;     /* columns it was bound to, as users count them; 0: not bound */
    bool open;     /* has AUTO, FILE or column names that binding must fill in */
    bool ranges;   /* has RANGE or SET: for tune only */
    int64_t slots; /* what a Gaussian process may learn; see mc_list_slots */
    struct mc_slot *slot;
    char *slot_names;   /* "rbf.gamma", ... one after the other, each closed by a zero */
    int64_t *slot_name; /* where each begins */
    char *texts;        /* the text columns it reads, separated by commas; NULL: none */
};

static inline const mc_node *mc_kernel_shown(const mercer_kernel *kernel) {
    return kernel->shown ? kernel->shown : kernel->root;
}

/* The reference evaluator: k(x, z) by the definition, in double. The kernel must be bound, or have nothing open. d is
   the length of x and z. Where it reads texts, they follow the d numbers as mc_data_row writes them. Equality of
   points, which white needs, is equality of all their columns in view. NaN where the definition has no value: a power
   that is not whole of a negative number, the logarithm of one in a function. */
double mc_eval_kernel(const mc_node *node, const double *x, const double *z, int64_t d);
double mc_function_eval(const mc_function *f, const double *x, int64_t d);

/* Parameters that a Gaussian process may learn, in the order they are printed: every NUMBER or VECTOR value of an atom
   that is not an integer, every positive term that is a number, and the number in front of a product where it is
   positive. */
typedef struct mc_slot {
    const mc_node *node;
    int parameter;   /* -1: node->number */
    int64_t element; /* of a vector; 0 otherwise */
} mc_slot;
int64_t mc_list_slots(const mc_node *root, mc_slot *out, int64_t capacity); /* the count; writes at most capacity */

/* Value and derivatives with respect to every slot, in order. */
double mc_eval_gradient(const mc_node *root, const double *x, const double *z, int64_t d, double *gradient);

mercer_shape mc_shape_of_node(const mc_node *node, int64_t d);

mercer_status mc_node_copy(mercer_ctx *ctx, const mc_node *node, mc_node **out);
void mc_node_free(mc_node *node);
bool mc_node_equal(const mc_node *a, const mc_node *b);
/* The same function without the factor 1 in front, which a tree keeps where one was written. */
const mc_node *mc_node_bare(const mc_node *node);
mercer_status mc_node_print(mercer_ctx *ctx, const mc_node *node, char **out);
/* A kernel around a tree it takes over: simplified, printed, its open and ranges flags set. Frees the tree on failure.
   */
mercer_status mc_kernel_wrap(mercer_ctx *ctx, mc_node *root, mercer_kernel **out);

/* mercer_kernel_with for use inside the library. */
mercer_status mc_kernel_with(mercer_ctx *ctx, const mercer_kernel *kernel, const double *parameters,
                             mercer_kernel **out);
/* mercer_kernel_bind for callers inside the library: the tree that computes is for the columns that data keep. */
mercer_status mc_kernel_bind(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data,
                             mercer_kernel **out);

/* An error that names the row and column when data break what the kernel needs (chi2, intersection: no negative
   values), when an open parameter or a range is left, or when d differs. */
mercer_status mc_kernel_check_data(mercer_ctx *ctx, const mercer_kernel *kernel, const mercer_data *data);
/* The inner product of all columns, with or without a factor 1. */
bool mc_kernel_linear(const mercer_kernel *kernel);
/* Some atom reads its values from the rows of a matrix: these must not be scaled. */
bool mc_kernel_precomputed(const mercer_kernel *kernel);
/* MERCER_NOT_A_KERNEL with the reason unless the kernel is proved. offered: the machine has an option to take it all
   the same. */
mercer_status mc_kernel_require(mercer_ctx *ctx, const mercer_kernel *kernel, int64_t d, bool offered);

#endif

/* refute.h: the search for a witness. */
#ifndef MC_KERNEL_PROOF_REFUTE_H
#define MC_KERNEL_PROOF_REFUTE_H

#include "kernel/proof/interval.h"
#include "kernel/proof/witness.h"

/* The Fourier transform of the expression on R^d is value, off by at most bound, at the frequency that is size in the
   first column, or in all; or, mean, its mean over R^d is. */
typedef enum mc_series_kind {
    MC_NO_SERIES,
    MC_SERIES_INNER,      /* in <x,z>, near 0 */
    MC_SERIES_SPHERES,    /* in <x,z>, on the unit spheres of all R^d */
    MC_SERIES_GEGENBAUER, /* in Gegenbauer's polynomials, on the unit sphere of R^d */
    MC_SERIES_KINDS
} mc_series_kind;

/* Or, with a series: the coefficient number `order` of it is. */
typedef struct mc_negative_frequency {
    bool found, in_all, mean;
    mc_series_kind series;
    int order;
    int64_t d;
    double size, value, bound;
} mc_negative_frequency;

/* Columns of texts that points may have, and the texts that are tried (search_texts.c). */
enum { MC_WITNESS_TEXTS = 4 };

typedef struct mc_refutation {
    bool found; /* by points; or by a frequency, when frequency.found */
    mc_witness witness;
    const char *text_column[MC_WITNESS_TEXTS]; /* the witness's; names that root or instance hold */
    mc_negative_frequency frequency;
    mc_node *instance; /* the expression with a value for everything that was open; the witness is about this one */
    bool instantiated; /* something was open */
    int64_t sets;      /* of points that were looked at */
} mc_refutation;

/* Look for a witness against root on R^d; d 0: for any d from least on. fixed: vectors or matrices in root say how many
   columns. Close in any case. */
mercer_status mc_refute_kernel(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t least, bool fixed,
                               mc_refutation *out);
void mc_refutation_close(mc_refutation *refutation);

/* instance.c: a copy of root, for rows of d columns, in which everything open or in a range has one of the values it
   may get on wide >= d columns; variant chooses which. *out is NULL when that cannot be done, as when a matrix is still
   in a file. */
mercer_status mc_make_instance(mercer_ctx *ctx, const mc_node *root, int64_t d, int64_t wide, int variant,
                               mc_node **out);
enum { MC_INSTANCES = 6 };
/* exact: the number of columns that vectors and matrices in root fix, 0 when they fix none; least: the fewest it can do
   with. */
void mc_needed_columns(const mc_node *root, int64_t *exact, int64_t *least);

/* search_witness.c: point sets, smallest first, on instance and exactly d columns. First the cheap ones (points, pairs,
   lines), asked for with MC_SEARCH_FIRST, then the others. share: this search gets so much of what one may compute. */
typedef enum mc_search_part { MC_SEARCH_FIRST, MC_SEARCH_THEN, MC_SEARCH_PARTS } mc_search_part;
mercer_status mc_search_witness(mercer_ctx *ctx, const mc_node *instance, int64_t d, mc_search_part part, double share,
                                mc_refutation *out);
/* search_texts.c: sets of texts, on instance, which reads some: its columns of texts are numbered. */
mercer_status mc_search_texts(mercer_ctx *ctx, mc_node *instance, int64_t d, mc_refutation *out);
/* negative_frequency.c: for d columns, and while none is found for more, up to most. */
mercer_status mc_find_negative_frequency(mercer_ctx *ctx, const mc_node *instance, int64_t d, int64_t most,
                                         mc_negative_frequency *out);
/* check_frequency.c: the same value by other formulas; false: it is not so, or the expression cannot be read there. */
bool mc_verify_frequency(const mc_node *instance, const mc_negative_frequency *claim);
/* The value, and whether it is surely negative. */
void mc_set_negative_value(mc_interval value, mc_negative_frequency *out);
/* negative_coefficient.c: for d columns; any: no kernel for every number of columns. */
mercer_status mc_find_negative_coefficient(mercer_ctx *ctx, const mc_node *instance, int64_t d, bool any,
                                           mc_negative_frequency *out);
/* check_coefficient.c: the same coefficient by other formulas; false: it is not so, or the expression cannot be read
   there. */
bool mc_verify_coefficient(const mc_node *instance, const mc_negative_frequency *claim);
/* search_lattice.c: as many points as the polynomial node needs against it, room for MC_WITNESS_POINTS x d; *count 0:
   it is none, or needs more. */
mercer_status mc_lattice_points(mercer_ctx *ctx, const mc_node *node, int64_t d, double *points, int64_t *count);

#endif

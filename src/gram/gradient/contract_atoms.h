/* contract_atoms.h: one atom on a tile of pairs, forwards and backwards. Used by contract.c. */
#ifndef MC_GRAM_GRADIENT_CONTRACT_ATOMS_H
#define MC_GRAM_GRADIENT_CONTRACT_ATOMS_H

#include "kernel/language/kernel.h"

enum { MC_CONTRACT_SIDE = 64 }; /* rows and columns of a tile */

/* The pairs (i, j) of a tile, and the columns an atom sees: x[p * SIDE + i] is column p of the i-th row. */
typedef struct mc_pairs {
    int64_t rows, columns, d;
    const double *x, *z;
} mc_pairs;

/* An atom is k = g(s), s a sum over columns. statistic and value: tiles of SIDE x SIDE numbers. */
typedef struct mc_contract_atom {
    /* s_ij, then k_ij from it. */
    void (*forward)(const mc_node *node, const mc_pairs *pairs, double *statistic, double *value);
    /* sums[p][element] += sum_ij A_ij dk_ij/d(parameter p), A the adjoint of the value; overwrites A. sums[p] NULL: not
     * wanted. */
    void (*backward)(const mc_node *node, const mc_pairs *pairs, const double *statistic, const double *value,
                     double *adjoint, double *const *sums);
} mc_contract_atom;

/* The row of an atom; forward NULL: the reference evaluator must do it. */
extern const mc_contract_atom mc_contract_atoms[MC_ATOM_COUNT];

#endif

/* atoms.h: questions to the table of atoms. */
#ifndef MC_KERNEL_LANGUAGE_ATOMS_H
#define MC_KERNEL_LANGUAGE_ATOMS_H

#include "kernel/language/kernel.h"

int mc_atom_find(const char *text, size_t length); /* an mc_atom; -1: there is none of this name */
/* What another name of an atom says of its parameters: set, and marked as given. */
void mc_atom_preset(mc_node *node, const char *text, size_t length, bool *given);
/* A parameter as it may be written: by its own name, an alias, or another measure of the same thing (rbf's sigma for
   its gamma). */
typedef struct mc_measure {
    mc_atom atom;
    int parameter; /* -1: the atom has none of this name */
    const char *name;
    double (*convert)(double); /* from what is written to the parameter */
    bool other;                /* another measure: positive, and falling as the parameter rises */
} mc_measure;
mc_measure mc_parameter_find(mc_atom atom, const char *text, size_t length);
mc_measure mc_parameter_itself(mc_atom atom, int i);
bool mc_parameter_allows(const mc_parameter_row *row, double v);
/* "above 0", "0.5, 1.5 or 2.5": what a value must be that is not v. */
void mc_parameter_range(const mc_parameter_row *row, double v, char *out, size_t capacity);

/* Of a wendland: on how many columns it is a kernel. */
int64_t mc_wendland_columns(const mc_node *wendland);
/* Of an atom with an order: its parameter "centred" is 1, for certain; 0, for certain. */
bool mc_atom_is_centred(const mc_node *atom);
bool mc_atom_is_conditional(const mc_node *atom);
/* No tile has its values: the reference evaluator is asked, one pair after the other. */
bool mc_atom_is_pairwise(const mc_node *atom);

#endif

/* check_atoms.h: the rules about single functions of the language and the distances that they are made of; see
   checker.h. */
#ifndef MC_KERNEL_PROOF_CHECK_ATOMS_H
#define MC_KERNEL_PROOF_CHECK_ATOMS_H

#include "kernel/proof/checker.h"

/* Kernels outright. */
rule_holds mc_verify_constant;
rule_holds mc_verify_white;
rule_holds mc_verify_linear;
rule_holds mc_verify_dot;
rule_holds mc_verify_form;
rule_holds mc_verify_rbf_form;
rule_holds mc_verify_intersection;
rule_holds mc_verify_arccos;
rule_holds mc_verify_harmonic;
rule_holds mc_verify_rest;
rule_holds mc_verify_sign_mean;
rule_holds mc_verify_tanh_constant;
rule_holds mc_verify_precomputed;
rule_holds mc_verify_user;
rule_holds mc_verify_spectrum;
rule_holds mc_verify_text_features;
rule_holds mc_verify_mean_map;
rule_holds mc_verify_whole_atom;
rule_holds mc_verify_brownian;
rule_holds mc_verify_wendland;
rule_holds mc_verify_powers_minimum; /* with all their powers, on one column */

/* Kernels by what they are made of. */
rule_holds mc_verify_poly;
rule_holds mc_verify_rbf;
rule_holds mc_verify_cosine;
rule_holds mc_verify_schoenberg;
rule_holds mc_verify_monotone;

/* Conditionally negative functions. */
rule_holds mc_verify_square;
rule_holds mc_verify_root;
rule_holds mc_verify_column_sum;
rule_holds mc_verify_chi2;
rule_holds mc_verify_log;

#endif

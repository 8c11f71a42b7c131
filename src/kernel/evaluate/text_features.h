/* text_features.h: texts as vectors: what a kernel of texts finds in one, feature by feature. k(x, z) is the inner
   product of these vectors. Features are given as often as they occur, and their values are to be added up. */
#ifndef MC_KERNEL_EVALUATE_TEXT_FEATURES_H
#define MC_KERNEL_EVALUATE_TEXT_FEATURES_H

#include "kernel/language/kernel.h"
#include <stddef.h>

enum { MC_SPAN_MAX = 16 }; /* bytes that a subsequence may span */

/* Which of the features it is: all of key, group and the bytes at `at` say so. */
typedef struct mc_text_feature {
    uint64_t key, group;
    const char *at;
    size_t length; /* bytes at `at`; 0: key and group say it all */
    double value;
} mc_text_feature;

typedef mercer_status mc_feature_visitor(void *arg, const mc_text_feature *feature);

/* The features of a text, in an order that depends on the text alone. Ends with the first failure of visit. */
mercer_status mc_text_features(const mc_node *atom, const char *text, mc_feature_visitor *visit, void *arg);
int64_t mc_text_feature_count(const mc_node *atom, const char *text); /* how often visit is called */
/* Different features that texts of so many letters can have, at most. */
int64_t mc_text_features_different(const mc_node *atom, int64_t letters);
bool mc_text_features_exact(const mc_node *atom); /* every length is 0 */
bool mc_text_features_whole(const mc_node *atom); /* every value is 1 */

/* What is wrong with numbers that are right by themselves, as a sentence after the name of the atom; NULL: nothing, or
   one of them is a range. */
const char *mc_text_parameters_fault(const mc_node *atom);

double mc_degree_weight(int64_t p, int64_t l); /* of equal strings of l bytes */

typedef struct mc_word {
    const char *at;
    size_t length; /* 0: there is none */
} mc_word;
mc_word mc_word_next(const char *text); /* the first from here on */

/* k(x, z) by the definition, from pairs of places. */
double mc_text_value(const mc_node *atom, const char *x, const char *z);
/* The derivative of subsequence with respect to its decay. */
double mc_text_decay_slope(const mc_node *atom, const char *x, const char *z);

#endif

/* words.h: strings as points: the parts of p bytes that occur in them, counted. */
#ifndef MC_GRAM_WORDS_H
#define MC_GRAM_WORDS_H

#include "gram/plan.h"

/* The dictionary of a spectrum part: every string of p bytes that occurs in the rows of x or z. Sets the coordinates of the part. */
mercer_status mc_words_open(mercer_ctx *ctx, mc_part *part, const mercer_data *x, const mercer_data *z);
void mc_words_close(mc_part *part);
/* The coordinates of row i, in the order they are met, and how often; seen: part->d zeros, which they are again afterwards. */
int64_t mc_words_row(const mc_part *part, const mercer_data *data, int64_t i, double *seen, int32_t *coordinate, double *count);
/* Bytes of text that a spectrum node reads, at most this many parts. */
int64_t mc_words_total(const mc_node *node, const mercer_data *data);

#endif

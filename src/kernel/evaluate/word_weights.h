/* word_weights.h: tfidf: words weighed by how few of the texts of the fit have them. */
#ifndef MC_KERNEL_EVALUATE_WORD_WEIGHTS_H
#define MC_KERNEL_EVALUATE_WORD_WEIGHTS_H

#include "data/table/data.h"
#include "kernel/language/kernel.h"
#include "kernel/language/parse.h"

/* The parameters of tfidf: how many texts there were, and "word:texts that have it word:..." in the order of the bytes.
   numbers of the second: a table of two columns by open addressing, where each word stands in that string, from 1 (0:
   free), and its weight 1 + log((1 + texts) / (1 + those that have it)). */
enum { MC_TFIDF_TEXTS, MC_TFIDF_WORDS };

mercer_status mc_parse_tfidf(mc_parser *parser, mc_node **out);
/* From the texts of the data, where they are not given. */
mercer_status mc_word_weights_bind(mercer_ctx *ctx, mc_node *tfidf, const mercer_data *data, int64_t text);
/* 0: no text of the fit had the word. */
double mc_word_weight(const mc_node *tfidf, const char *word, size_t length);

#endif

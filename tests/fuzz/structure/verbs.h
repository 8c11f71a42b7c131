/* verbs.h: everything a program can do with a model, done once. */
#ifndef FUZZ_VERBS_H
#define FUZZ_VERBS_H

#include <mercer.h>

/* What the verbs need beside the model. */
typedef struct company {
    mercer_ctx *ctx;
    const mercer_model *other; /* any model: for inner products and distances */
    const mercer_data *rows;   /* of some fit */
    int file;                  /* in memory, open: data as text */
} company;

/* Stops the program where something does not hold: a failure without a sentence, a model that does not survive its own
   file. */
void use_model(const company *c, const mercer_model *model);

#endif

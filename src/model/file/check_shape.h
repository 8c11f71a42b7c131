/* check_shape.h: which fields, arrays and forms go together in a model. A model from outside is compared with the table
   here: its shape before memory is taken for it, its arrays once they are read, then its words. What passes is a model
   that a fit could have made, so that no other code has to doubt it. */
#ifndef MC_MODEL_FILE_CHECK_SHAPE_H
#define MC_MODEL_FILE_CHECK_SHAPE_H

#include "model/file/format.h"

typedef enum mc_presence { MC_NEVER, MC_MAY, MC_MUST } mc_presence;

/* What the centres are: rows of the data, at least one; weights of features in their place where there are any; any
   number of rows, also none; frequencies, all of them twice. */
typedef enum mc_centre_kind {
    MC_CENTRES_ROWS,
    MC_CENTRES_OR_WEIGHTS,
    MC_CENTRES_ANY,
    MC_CENTRES_FREQUENCIES
} mc_centre_kind;

/* What a machine fitted by a solver keeps. */
typedef struct mc_model_kind {
    const char *machines, *solvers; /* names between | */
    unsigned forms;                 /* bits of mc_form */
    mc_presence labels, row, box, primal;
    mc_centre_kind centres;
    bool noise, spectrum;
    bool pair; /* pairs are for two classes alone */
} mc_model_kind;

/* NULL: there is no such machine, or it has no such solver. */
const mc_model_kind *mc_model_kind_of(const char *machine, const char *solver);

/* What is wrong, in words. */
typedef struct mc_flaw {
    char text[240];
} mc_flaw;

/* Whether the fields agree with each other. */
bool mc_shape_agrees(const mc_model_shape *shape, mc_flaw *why);
/* Whether the arrays of a model hold what this shape, which agrees, asks for; *agree false: why says what does not. */
mercer_status mc_arrays_agree(mercer_ctx *ctx, const mercer_model *model, const mc_model_shape *shape, bool *agree,
                              mc_flaw *why);
/* The same of its labels and kernel. */
mercer_status mc_texts_agree(mercer_ctx *ctx, const mercer_model *model, const mc_model_shape *shape, bool *agree,
                             mc_flaw *why);

#endif

/* libsvm_text.h: LIBSVM (svmlight) text: "label index:value index:value ... # comment", indices from 1, increasing. */
#ifndef MC_DATA_LIBSVM_LIBSVM_TEXT_H
#define MC_DATA_LIBSVM_LIBSVM_TEXT_H

#include "data/read/raw.h"

/* Whether the first lines look like it. */
bool mc_libsvm_looks(const mc_input *input);
mercer_status mc_libsvm_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);
/* Whether the settings ask for nothing that such text has not. */
mercer_status mc_libsvm_check(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading);
/* A plain file that is not loaded, by ranks, each of which reads some of its lines; *done stays false when there is
   something wrong in it, which is told by reading the whole. */
mercer_status mc_libsvm_share(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, bool *done,
                              mercer_data **out);

#endif

/* model_memory.h: the memory of LIBSVM's models, which is the C library's: programs free parts of it themselves. */
#ifndef MC_LIBSVM_MODEL_MEMORY_H
#define MC_LIBSVM_MODEL_MEMORY_H

#include "libsvm/svm_abi.h"

/* A model with its arrays, all zero: coefficients in classes - 1 rows, rho of all pairs, labels and counts where they
   are classes, probA and probB where asked for. NULL: there is no memory left. */
struct svm_model *mc_svm_model_new(const struct svm_parameter *param, int classes, int vectors, bool labels,
                                   bool probabilities);
/* count zeroed entries; NULL: no memory. */
void *mc_svm_array(int64_t count, size_t size);
void mc_svm_array_free(void *array);

#endif

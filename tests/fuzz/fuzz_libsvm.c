/* fuzz_libsvm.c: any bytes as a file named .svm. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_data(data, size, "input.svm");
}

/* fuzz_npy.c: any bytes as a file named .npy. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_data(data, size, "input.npy");
}

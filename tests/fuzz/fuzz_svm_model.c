/* fuzz_svm_model.c: any bytes as a model file through LIBSVM's C interface: loaded, asked, written and freed. */
#include "libsvm/model_file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct svm_model *model) {
    const struct svm_node rows[][4] = {{{-1, 0}}, {{0, 1}, {1, 2}, {-1, 0}}, {{1, -1}, {3, 0.5}, {70000, 2}, {-1, 0}}};
    const size_t k = (size_t)svm_get_nr_class(model);
    double *values = calloc(k * k + 1, sizeof *values);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && values; i++) {
        svm_predict_values(model, rows[i], values);
        svm_predict_probability(model, rows[i], values);
    }
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    const int fd = memfd_create("model", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    mercer_options options = mercer_options_defaults();
    options.memory_limit = 64 << 20;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    mercer_model *batch = NULL;
    struct svm_model *model = NULL;
    if (mercer_open(&options, &ctx))
        abort();
    (void)mc_svm_model_load(ctx, path, &model, &batch);
    if (model && svm_get_nr_class(model) < 1000) {
        ask(model);
        if (svm_save_model("/dev/null", model) != 0)
            abort();
    }
    svm_free_and_destroy_model(&model);
    mercer_model_free(batch);
    mercer_close(ctx);
    close(fd);
    return 0;
}

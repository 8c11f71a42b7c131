/* limits.c: a plan before the work, a limit on memory, a callback that can stop it, and a model that travels as bytes.
   */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

static int watch(void *user, const mercer_progress *progress) {
    ++*(int *)user;
    return progress->seconds > 60; /* stop after a minute */
}

static mercer_status there_and_back(mercer_ctx *ctx, const mercer_model *model, size_t *size) {
    mercer_status status = mercer_model_to_memory(ctx, model, NULL, 0, size);
    void *bytes = status ? NULL : malloc(*size);
    mercer_model *again = NULL;
    if (bytes)
        status = mercer_model_to_memory(ctx, model, bytes, *size, size);
    if (bytes && !status)
        status = mercer_model_from_memory(ctx, bytes, *size, &again);
    mercer_model_free(again);
    free(bytes);
    return status;
}

int main(void) {
    int calls = 0;
    size_t size = 0;
    mercer_options options = mercer_options_defaults();
    options.memory_limit = (size_t)64 << 20;
    options.progress = watch;
    options.progress_user = &calls;
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_plan plan = {.size = sizeof plan};
    const int failed = mercer_open(&options, &ctx) || mercer_data_generate(ctx, "friedman1", 300, 0.1, 1, &data)
                       || mercer_kernel_parse(ctx, "rbf", &kernel)
                       || mercer_plan_fit(ctx, "ridge", NULL, kernel, data, &plan)
                       || mercer_fit(ctx, "ridge", NULL, kernel, data, &model) || there_and_back(ctx, model, &size);
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    else
        printf("planned %s, fitted by %s within %zu MiB; %zu KiB of model went to memory and back\n",
               plan.chosen.solver, mercer_model_report(model)->solver, mercer_memory_limit(ctx) >> 20, size >> 10);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

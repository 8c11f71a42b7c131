/* margin.c: a support vector machine, and which rows hold it up. */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 80 };

int main(void) {
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_svm_view row[N];
    int64_t count[MERCER_VECTOR_BOUNDED + 1] = {0};
    mercer_svm set = mercer_svm_defaults("svc");
    set.C = 10;
    const int failed = mercer_open(NULL, &ctx) || mercer_data_generate(ctx, "moons", N, 0.2, 1, &data)
                       || mercer_kernel_parse(ctx, "rbf(gamma=1)", &kernel)
                       || mercer_fit(ctx, "svc", &set, kernel, data, &model) || mercer_svm_rows(ctx, model, data, row);
    for (int i = 0; i < N && !failed; i++)
        count[row[i].state]++;
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    else
        printf("%lld rows are not needed, %lld stand on the margin, %lld inside it\n",
               (long long)count[MERCER_VECTOR_UNUSED], (long long)count[MERCER_VECTOR_FREE],
               (long long)count[MERCER_VECTOR_BOUNDED]);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

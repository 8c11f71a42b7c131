/* product.c: K v for a Gram matrix that is never stored: 5000 rows would take 200 MB. */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 5000 };

int main(void) {
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL, *bound = NULL;
    double *v = malloc(N * sizeof *v), *Kv = malloc(N * sizeof *Kv);
    for (int i = 0; v && i < N; i++)
        v[i] = 1.0 / N;
    const int failed = !v || !Kv || mercer_open(NULL, &ctx) || mercer_data_generate(ctx, "friedman1", N, 0, 1, &data)
                       || mercer_kernel_parse(ctx, "rbf", &kernel) || mercer_kernel_bind(ctx, kernel, data, &bound)
                       || mercer_gram_apply(ctx, bound, data, NULL, MERCER_F32, v, 1, Kv);
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    else
        printf("mean similarity of the first row to all: %.4f\nmemory: %.1f MB at most\n", Kv[0],
               (double)mercer_memory_peak(ctx) / 1e6);
    mercer_kernel_free(bound);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    free(Kv);
    free(v);
    return failed;
}

/* band.c: a Gaussian process, its predictions and how far off they may be. */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 4 };

static mercer_status fit(mercer_ctx *ctx, mercer_model **model) {
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_status status = mercer_data_generate(ctx, "sinc", 60, 0.1, 1, &data);
    if (!status)
        status = mercer_kernel_parse(ctx, "rbf(sigma=1)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "gp", NULL, kernel, data, model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

int main(void) {
    const double x[M] = {0, 2, 5, 20}; /* the rows of the fit end at 10 */
    double mean[M], deviation[M];
    mercer_ctx *ctx = NULL;
    mercer_model *model = NULL;
    mercer_data *points = NULL;
    mercer_posterior *posterior = NULL;
    const mercer_table table = {.size = sizeof table, .n = M, .d = 1, .dtype = MERCER_F64, .values = x};
    const int failed = mercer_open(NULL, &ctx) || fit(ctx, &model) || mercer_data_make(ctx, &table, &points)
                       || mercer_predict(ctx, model, points, mean) || mercer_posterior_open(ctx, model, &posterior)
                       || mercer_posterior_std(ctx, posterior, points, deviation);
    for (int i = 0; i < M && !failed; i++)
        printf("f(%g) = %+.2f, give or take %.2f\n", x[i], mean[i], 2 * deviation[i]);
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    mercer_posterior_free(posterior);
    mercer_data_free(points);
    mercer_model_free(model);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* arrays.c: data from arrays in memory, a model saved, loaded and used on new points. */
#include <math.h>
#include <mercer.h>
#include <stdio.h>

enum { N = 60, M = 5 };

static mercer_status fit_and_save(mercer_ctx *ctx, const mercer_data *data, const char *path) {
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 1e-6;
    mercer_status status = mercer_kernel_parse(ctx, "rbf(sigma=1)", &kernel);
    if (!status)
        status = mercer_fit(ctx, "ridge", &set, kernel, data, &model);
    if (!status)
        status = mercer_model_save(ctx, model, path);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    return status;
}

static mercer_status load_and_predict(mercer_ctx *ctx, const char *path, const double *x, double *f) {
    mercer_model *model = NULL;
    mercer_data *points = NULL;
    mercer_status status = mercer_model_load(ctx, path, &model);
    if (!status)
        status = mercer_data_make(
            ctx, &(mercer_table){.size = sizeof(mercer_table), .n = M, .d = 1, .dtype = MERCER_F64, .values = x},
            &points);
    if (!status)
        status = mercer_predict(ctx, model, points, f);
    mercer_data_free(points);
    mercer_model_free(model);
    return status;
}

int main(void) {
    double x[N], y[N], new_x[M] = {0.5, 1, 2, 3, 5.5}, f[M];
    for (int i = 0; i < N; i++) {
        x[i] = 0.1 * i;
        y[i] = sin(x[i]);
    }
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    const int failed = mercer_open(NULL, &ctx) || mercer_data_make(ctx, &table, &data)
                       || fit_and_save(ctx, data, "sine.mercer") || load_and_predict(ctx, "sine.mercer", new_x, f);
    for (int i = 0; i < M && !failed; i++)
        printf("f(%.1f) = %+.4f, sin = %+.4f\n", new_x[i], f[i], sin(new_x[i]));
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    mercer_data_free(data);
    mercer_close(ctx);
    return failed;
}

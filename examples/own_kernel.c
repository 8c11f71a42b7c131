/* own_kernel.c: a kernel that is a function of this program: here min(x, z), the covariance of a random walk. */
#include <math.h>
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20 };

static int walk(void *user, int64_t d, int64_t n, const double *x, int64_t m, const double *z, double *out) {
    (void)user;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            out[i * m + j] = fmin(x[i * d], z[j * d]);
    return 0;
}

int main(void) {
    double x[N], y[N], f[N];
    for (int i = 0; i < N; i++) {
        x[i] = 0.1 * (i + 1);
        y[i] = i < N / 2 ? 1 : -1;
    }
    const mercer_user_kernel mine = {.size = sizeof mine, .name = "walk", .fill = walk, .positive = true};
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = 1, .dtype = MERCER_F64, .values = x, .target = y, .outputs = 1};
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 0.01;
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    const int failed = mercer_open(NULL, &ctx) || mercer_data_make(ctx, &table, &data)
                       || mercer_kernel_parse_with(ctx, "user(\"walk\") + 0.1", &mine, 1, &kernel)
                       || mercer_fit(ctx, "ridge", &set, kernel, data, &model) || mercer_predict(ctx, model, data, f);
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    else
        printf("f goes from %+.2f to %+.2f across the step\n", f[N / 2 - 2], f[N / 2 + 1]);
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

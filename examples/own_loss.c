/* own_loss.c: a loss of one's own: counts whose logarithm of the rate is a function of the kernel's space (Poisson
   regression). The loss is exp(F) - y F, its slope exp(F) - y has the range (-y, infinity), and its conjugate is left
   to Mercer. cc own_loss.c $(pkg-config --cflags --libs mercer) -lm -o own_loss && ./own_loss */
#include <math.h>
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 60 };

static double value(void *user, double y, double F) {
    (void)user;
    return exp(F) - y * F;
}

static double slope(void *user, double y, double F) {
    (void)user;
    return exp(F) - y;
}

static double curvature(void *user, double y, double F) {
    (void)user, (void)y;
    return exp(F);
}

static void range(void *user, double y, double *low, double *high) {
    (void)user;
    *low = -y;
    *high = INFINITY;
}

int main(void) {
    const mercer_own_loss poisson = {.size = sizeof poisson,
                                     .name = "poisson",
                                     .value = value,
                                     .slope = slope,
                                     .curvature = curvature,
                                     .range = range};
    mercer_loss set = mercer_loss_defaults("own-loss");
    set.own = &poisson;
    double hours[N], counts[N], rate[N];
    for (int i = 0; i < N; i++) { /* visitors by the hour, busiest at 14 */
        hours[i] = 24.0 * i / N;
        counts[i] = floor(20 * exp(-pow((hours[i] - 14) / 4, 2)) + i % 3);
    }
    const mercer_table table = {
        .size = sizeof table, .n = N, .d = 1, .dtype = MERCER_F64, .values = hours, .target = counts, .outputs = 1};
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    const int failed = mercer_open(NULL, &ctx) || mercer_data_make(ctx, &table, &data)
                       || mercer_kernel_parse(ctx, "rbf(sigma=3)", &kernel)
                       || mercer_fit(ctx, "own-loss", &set, kernel, data, &model)
                       || mercer_predict(ctx, model, data, rate);
    if (failed) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
    } else {
        printf("rate at 2 h %.1f, at 14 h %.1f\n", exp(rate[5]), exp(rate[35]));
        printf("%s at most %.0e of the objective\n", mercer_model_report(model)->certificate.kind, set.tolerance);
    }
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

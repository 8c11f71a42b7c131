/* first.c: fit ridge to a CSV file and predict its rows. The last column of the file is the target.
   cc first.c $(pkg-config --cflags --libs mercer) -o first && ./first table.csv */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *kernel = NULL;
    mercer_model *model = NULL;
    mercer_scores scores = {.size = sizeof scores};
    mercer_ridge set = mercer_ridge_defaults();
    set.lambda = 0.1;
    set.intercept = true;
    set.loo = true;
    const int failed = mercer_open(NULL, &ctx) || mercer_data_read(ctx, argc > 1 ? argv[1] : "table.csv", NULL, &data)
                       || mercer_kernel_parse(ctx, "rbf + 0.1*linear", &kernel)
                       || mercer_fit(ctx, "ridge", &set, kernel, data, &model)
                       || mercer_score(ctx, model, data, &scores);
    if (failed) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
    } else {
        const mercer_report *report = mercer_model_report(model);
        printf("kernel %s\n", mercer_kernel_text(mercer_model_kernel(model)));
        printf("RMSE %.4g on the %lld rows of the fit, %.4g on rows left out\n", scores.rmse, (long long)scores.n,
               report->loo_rmse);
        printf("within %.1g of the exact optimum\n", report->certificate.prediction_error_bound);
    }
    mercer_model_free(model);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

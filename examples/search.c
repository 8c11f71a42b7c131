/* search.c: kernels and settings chosen on rows they were not fitted to. */
#include <mercer.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    mercer_ctx *ctx = NULL;
    mercer_data *data = NULL;
    mercer_kernel *gauss = NULL, *line = NULL;
    mercer_search *search = NULL;
    mercer_model *model = NULL;
    const char *const ranges[] = {"C=0.1..1000", NULL};
    mercer_tune set = mercer_tune_defaults();
    set.ranges = ranges;
    set.points = 5;
    int failed = mercer_open(NULL, &ctx) || mercer_data_generate(ctx, "moons", 100, 0.2, 1, &data)
                 || mercer_kernel_parse(ctx, "rbf(gamma=0.01..100)", &gauss)
                 || mercer_kernel_parse(ctx, "linear", &line);
    const mercer_kernel *const kernels[] = {gauss, line};
    set.kernels = kernels;
    set.kernel_count = 2;
    failed = failed || mercer_tune_run(ctx, "svc", NULL, &set, data, &search)
             || mercer_search_fit(ctx, search, data, &model);
    if (failed) {
        fprintf(stderr, "%s\n", mercer_message(ctx));
    } else {
        const mercer_tune_report *result = mercer_search_report(search);
        const mercer_candidate best = mercer_search_candidate(search, result->best);
        printf("%s with %s: %s %.3f on %s, of %lld candidates\n", best.kernel, best.settings, result->score, best.score,
               result->splits, (long long)mercer_search_count(search));
    }
    mercer_model_free(model);
    mercer_search_free(search);
    mercer_kernel_free(gauss);
    mercer_kernel_free(line);
    mercer_data_free(data);
    mercer_close(ctx);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

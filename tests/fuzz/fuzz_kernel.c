/* fuzz_kernel.c: any bytes as a kernel expression. What parses must print to a text that parses to the same kernel,
   must keep its value and its slots, and must leave no memory behind. */
#include "kernel/language/fits.h"
#include "kernel/language/kernel.h"
#include "kernel/language/node.h"
#include "kernel/language/parameters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { D = 4 };
static const double X[D] = {0.5, 1.25, 2, 0}, Z[D] = {1, 0.25, 3, 0.125};

static void must(bool holds) {
    if (!holds)
        abort();
}

static mercer_ctx *open_small(void) {
    mercer_options options = mercer_options_defaults();
    options.memory_limit = (size_t)256 << 20;
    options.threads = 1;
    mercer_ctx *ctx = NULL;
    must(mercer_open(&options, &ctx) == MERCER_OK);
    return ctx;
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void evaluate(mercer_ctx *ctx, const mercer_kernel *kernel) {
    double value, again, *gradient = NULL;
    if (mercer_kernel_value(ctx, kernel, X, Z, D, &value))
        return;
    gradient = calloc((size_t)kernel->slots + 1, sizeof *gradient);
    must(mercer_kernel_gradient(ctx, kernel, X, Z, D, &again, gradient) == MERCER_OK && same_bits(value, again));
    must(mercer_kernel_value(ctx, kernel, Z, X, D, &again) == MERCER_OK && same_bits(value, again));
    free(gradient);
}

static void same_with_its_own_parameters(mercer_ctx *ctx, const mercer_kernel *kernel) {
    double *parameters = calloc((size_t)kernel->slots + 1, sizeof *parameters);
    mercer_kernel *with = NULL;
    for (int64_t i = 0; i < kernel->slots; i++) {
        must(mercer_kernel_parameter_name(kernel, i)[0] != '\0');
        parameters[i] = mercer_kernel_parameter(kernel, i);
    }
    must(mercer_kernel_with(ctx, kernel, parameters, &with) == MERCER_OK && mc_node_equal(kernel->root, with->root));
    mercer_kernel_free(with);
    free(parameters);
}

static void check_kernel(mercer_ctx *ctx, const mercer_kernel *kernel) {
    mercer_kernel *again = NULL;
    must(mercer_kernel_parse(ctx, mercer_kernel_text(kernel), &again) == MERCER_OK);
    must(strcmp(mercer_kernel_text(kernel), mercer_kernel_text(again)) == 0
         && mc_node_equal(kernel->root, again->root));
    mercer_kernel_free(again);
    mercer_shape shape = {.size = sizeof shape};
    must(mercer_kernel_shape(kernel, D, &shape));
    same_with_its_own_parameters(ctx, kernel);
    evaluate(ctx, kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mercer_ctx *ctx = open_small();
    const size_t empty = mercer_memory_used(ctx);
    char *text = malloc(size + 1);
    mercer_kernel *kernel = NULL;
    memcpy(text, data, size);
    text[size] = '\0';
    const mercer_status status = mercer_kernel_parse(ctx, text, &kernel);
    must(status == MERCER_OK || status == MERCER_SYNTAX || status == MERCER_MEMORY);
    must((status == MERCER_OK) == (kernel != NULL));
    if (status == MERCER_SYNTAX)
        must(mercer_message_offset(ctx) >= 0 && mercer_message_offset(ctx) <= (int64_t)strlen(text));
    if (kernel)
        check_kernel(ctx, kernel);
    mercer_kernel_free(kernel);
    free(text);
    must(mercer_memory_used(ctx) == empty);
    mercer_close(ctx);
    return 0;
}

/* prove.c: ask whether expressions are kernels. Proved ones come with a derivation, refuted ones with points and
 * weights. */
#include <mercer.h>
#include <stdio.h>

static int decide(mercer_ctx *ctx, const char *expression) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    const int failed = mercer_kernel_parse(ctx, expression, &kernel) || mercer_prove(ctx, kernel, 0, &proof);
    if (failed)
        fprintf(stderr, "%s\n", mercer_message(ctx));
    else
        printf("%s\n", mercer_proof_text(proof));
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
    return failed;
}

int main(void) {
    mercer_ctx *ctx = NULL;
    int failed = mercer_open(NULL, &ctx) != MERCER_OK;
    failed = failed || decide(ctx, "exp(0.5*linear) + rbf(sigma=1)*linear^2");
    failed = failed || decide(ctx, "rbf(gamma=1) - 2*rbf(gamma=2)");
    mercer_close(ctx);
    return failed;
}

/* write_proofs.c COUNT SEED: proof objects of random expressions, COUNT of each kind, for proof_objects.py. A byte 0
   ends each. */
#include <mercer.h>
#include "cancelling_kernel.h"
#include "hostile_kernel.h"
#include "likely_kernel.h"
#include "random_kernel.h"
#include <stdio.h>
#include <stdlib.h>

typedef void generator(mc_rng *rng, int64_t d, char text[RANDOM_KERNEL_SIZE]);

static generator *const generators[] = {likely_kernel, random_kernel, hostile_kernel, cancelling_kernel};
enum { KINDS = sizeof generators / sizeof generators[0] };

/* Expressions that mean nothing have no proof. */
static void write_proof(mercer_ctx *ctx, const char *text, int64_t d) {
    mercer_kernel *kernel = NULL;
    mercer_proof *proof = NULL;
    if (!mercer_kernel_parse(ctx, text, &kernel) && !mercer_prove(ctx, kernel, d, &proof)) {
        fputs(mercer_proof_object(proof), stdout);
        putchar(0);
    }
    mercer_proof_free(proof);
    mercer_kernel_free(kernel);
}

int main(int argc, char **argv) {
    mercer_ctx *ctx = NULL;
    char text[RANDOM_KERNEL_SIZE];
    if (argc != 3 || mercer_open(NULL, &ctx))
        return EXIT_FAILURE;
    mc_rng rng = mc_rng_at(strtoull(argv[2], NULL, 10), MC_STREAM_TEST, 77);
    for (int64_t i = 0; i < KINDS * atoll(argv[1]); i++) {
        const int64_t d = 2 + mc_rng_below(&rng, 3);
        text[0] = '\0';
        generators[i % KINDS](&rng, d, text);
        write_proof(ctx, text, d);
    }
    mercer_close(ctx);
    return EXIT_SUCCESS;
}

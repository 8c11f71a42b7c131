/* The sources that a card compiles, by the compiler that compiles them there, where it is found: it knows less than C's
   headers do, and needs no card. */
#include "base/ctx.h"
#include "base/memory.h"
#include "data/table/data.h"
#include "gram/device/device_program.h"
#include "gram/operator/gram.h"
#include "qp/device_smo.h"
#include "support.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct compiler {
    int (*create)(void **program, const char *source, const char *name, int headers, const char *const *header,
                  const char *const *included);
    int (*compile)(void *program, int count, const char *const *options);
    int (*log_size)(void *program, size_t *size);
    int (*log)(void *program, char *text);
    int (*destroy)(void **program);
} compiler;

static bool find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool open_compiler(compiler *c) {
    static const char *const names[] = {"libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library && find(library, "nvrtcCreateProgram", &c->create)
           && find(library, "nvrtcCompileProgram", &c->compile) && find(library, "nvrtcGetProgramLogSize", &c->log_size)
           && find(library, "nvrtcGetProgramLog", &c->log) && find(library, "nvrtcDestroyProgram", &c->destroy);
}

static void assert_compiles(const char *source) {
    static const char *const options[] = {"--gpu-architecture=sm_90", "--ftz=true", "--std=c++17"};
    compiler c;
    void *program = NULL;
    size_t size = 0;
    if (!open_compiler(&c))
        skip_test("libnvrtc is not here");
    assert_int_equal(c.create(&program, source, "mercer.cu", 0, NULL, NULL), 0);
    if (c.compile(program, 3, options)) {
        c.log_size(program, &size);
        char *text = calloc(size + 1, 1);
        c.log(program, text);
        fail_msg("%.2000s", text);
    }
    c.destroy(&program);
}

/* Every function of a step is in the prologue, whatever the kernel. */
static void test_products_and_blocks(void **state) {
    (void)state;
    static const char *const kernels[] = {"rbf(gamma=0.4)",
                                          "0.5*matern(nu=1.5, length_scale=0.9) + 0.2*laplacian(gamma=1)"};
    const double x[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const mercer_table table = {.size = sizeof table, .n = 4, .d = 2, .dtype = MERCER_F64, .values = x};
    mercer_ctx *ctx = open_ctx(1);
    mercer_data *data = NULL;
    assert_ok(ctx, mercer_data_make(ctx, &table, &data));
    for (int k = 0; k < 4; k++) {
        mercer_kernel *kernel = NULL;
        mc_gram *gram = NULL;
        char *source = NULL;
        assert_ok(ctx, mercer_kernel_parse(ctx, kernels[k / 2], &kernel));
        assert_ok(ctx, mc_gram_open(ctx, kernel, data, NULL, k % 2 ? MERCER_F64 : MERCER_F32, &gram));
        assert_ok(ctx, mc_device_source(ctx, gram, 1, true, &source));
        assert_compiles(source);
        mc_free(source);
        assert_ok(ctx, mc_device_block_source(ctx, gram, &source));
        assert_compiles(source);
        mc_free(source);
        mc_gram_close(gram);
        mercer_kernel_free(kernel);
    }
    mercer_data_free(data);
    close_clean(ctx);
}

static void test_working_sets(void **state) {
    (void)state;
    mercer_ctx *ctx = open_ctx(1);
    char *source = NULL;
    assert_ok(ctx, mc_device_smo_source(ctx, &source));
    assert_compiles(source);
    mc_free(source);
    close_clean(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_and_blocks),
        cmocka_unit_test(test_working_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

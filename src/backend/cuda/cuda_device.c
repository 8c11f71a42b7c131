/* cuda_device.c: libmercer_cuda.so: NVIDIA cards by the driver's own interface; programs are compiled by NVRTC for the
   card at hand. Nothing of Mercer is linked: backend/device.h is all that the two sides share. */
#include "backend/cuda/cuda_device.h"
#include "backend/cuda/program_cache.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Faults ---- */

static const char *name_of(CUresult result) {
    const char *text = NULL;
    return cuGetErrorString(result, &text) == CUDA_SUCCESS && text ? text : "unknown error";
}

mc_device_fault cuda_fault(device *d, mc_device_fault fault, const char *what, const char *why) {
    snprintf(d->message, sizeof d->message, "%s: %s", what, why);
    return fault;
}

mc_device_fault cuda_check(device *d, const char *what, CUresult result) {
    if (result == CUDA_SUCCESS)
        return MC_DEVICE_FINE;
    return cuda_fault(d, result == CUDA_ERROR_OUT_OF_MEMORY ? MC_DEVICE_FULL : MC_DEVICE_LOST, what, name_of(result));
}

/* Whichever thread calls. */
mc_device_fault cuda_enter(device *d) {
    return cuda_check(d, "the card is not to be reached", cuCtxSetCurrent(d->context));
}

/* ---- Cards ---- */

static int count_cards(char *why) {
    int count = 0;
    const CUresult began = cuInit(0);
    const CUresult result = began == CUDA_SUCCESS ? cuDeviceGetCount(&count) : began;
    if (result != CUDA_SUCCESS || count < 1)
        snprintf(why, MC_DEVICE_TEXT, "no NVIDIA card is to be used here (%s)",
                 result == CUDA_SUCCESS ? "the driver lists none" : name_of(result));
    return result == CUDA_SUCCESS ? count : 0;
}

static bool describe_card(int card, mc_card *out) {
    CUdevice it;
    size_t total = 0, left = 0;
    CUcontext context = NULL;
    if (cuDeviceGet(&it, card) != CUDA_SUCCESS || cuDeviceGetName(out->name, (int)sizeof out->name, it) != CUDA_SUCCESS)
        return false;
    cuDeviceGetAttribute(&out->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, it);
    if (cuDevicePrimaryCtxRetain(&context, it) != CUDA_SUCCESS)
        return false;
    const bool known = cuCtxSetCurrent(context) == CUDA_SUCCESS && cuMemGetInfo(&left, &total) == CUDA_SUCCESS;
    cuDevicePrimaryCtxRelease(it);
    out->bytes = total;
    out->bytes_free = left;
    return known;
}

/* What is freed serves again without a call of the system. */
static void keep_freed_memory(CUdevice card) {
    CUmemoryPool pool;
    cuuint64_t all = UINT64_MAX;
    if (cuDeviceGetDefaultMemPool(&pool, card) == CUDA_SUCCESS)
        cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all);
}

static void *open_card(int card, char *why) {
    device *d = calloc(1, sizeof *d);
    CUresult result = d ? cuDeviceGet(&d->card, card) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&d->context, d->card);
    if (result != CUDA_SUCCESS) {
        snprintf(why, MC_DEVICE_TEXT, "%s", name_of(result));
        free(d);
        return NULL;
    }
    keep_freed_memory(d->card);
    cuDeviceGetAttribute(&d->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->card);
    cuDeviceGetAttribute(&d->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->card);
    return d;
}

static void close_card(void *self) {
    device *d = self;
    if (cuCtxSetCurrent(d->context) == CUDA_SUCCESS && d->blas.handle)
        d->blas.destroy(d->blas.handle);
    cuda_close_solver(d);
    if (d->nvrtc.library)
        dlclose(d->nvrtc.library);
    if (cuCtxSetCurrent(d->context) == CUDA_SUCCESS)
        for (int i = 0; i < d->count; i++)
            cuModuleUnload(d->programs[i].module);
    cuDevicePrimaryCtxRelease(d->card);
    free(d);
}

/* ---- Opening beside other work ---- */

/* Starting the driver and making a context take a quarter of a second: the context that the thread holds is the one
   that open_card then asks for. */
typedef struct opening {
    pthread_t thread;
    CUdevice card;
    bool holds;
} opening;

static void *hold_context(void *argument) {
    opening *o = argument;
    CUcontext context = NULL;
    const int number = o->card;
    o->holds = cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&o->card, number) == CUDA_SUCCESS
               && cuDevicePrimaryCtxRetain(&context, o->card) == CUDA_SUCCESS;
    return NULL;
}

static void *begin_opening(int card) {
    opening *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    o->card = card;
    if (pthread_create(&o->thread, NULL, hold_context, o)) {
        free(o);
        return NULL;
    }
    return o;
}

static void end_opening(void *begun) {
    opening *o = begun;
    pthread_join(o->thread, NULL);
    if (o->holds)
        cuDevicePrimaryCtxRelease(o->card);
    free(o);
}

static const char *message_of(void *self) {
    return ((device *)self)->message;
}

/* ---- Memory ---- */

static mc_device_fault allocate_memory(void *self, size_t bytes, mc_address *out) {
    device *d = self;
    CUdeviceptr at = 0;
    const mc_device_fault fault = cuda_enter(d);
    if (fault)
        return fault;
    const CUresult result = cuMemAllocAsync(&at, bytes ? bytes : 1, NULL);
    *out = (mc_address)at;
    return cuda_check(d, "memory of the card", result);
}

static void release_memory(void *self, mc_address at) {
    if (cuda_enter(self) == MC_DEVICE_FINE)
        cuMemFreeAsync((CUdeviceptr)at, NULL);
}

static mc_device_fault upload_bytes(void *self, mc_address to, const void *from, size_t bytes) {
    const mc_device_fault fault = cuda_enter(self);
    return fault ? fault : cuda_check(self, "copying to the card", cuMemcpyHtoD((CUdeviceptr)to, from, bytes));
}

static mc_device_fault copy_back(void *self, void *to, mc_address from, size_t bytes) {
    const mc_device_fault fault = cuda_enter(self);
    return fault ? fault : cuda_check(self, "computing on the card", cuMemcpyDtoH(to, (CUdeviceptr)from, bytes));
}

static mc_device_fault wait_for(void *self) {
    const mc_device_fault fault = cuda_enter(self);
    return fault ? fault : cuda_check(self, "computing on the card", cuCtxSynchronize());
}

/* ---- Programs ---- */

/* ISO C has no cast from a pointer to data to one to code. */
bool cuda_find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol != NULL;
}

/* The compiler is large, and a program that was compiled before needs none: opened when it is first wanted. */
static void open_compiler(device *d) {
    char name[40];
    snprintf(name, sizeof name, "libnvrtc.so.%d", CUDA_VERSION / 1000);
    d->nvrtc.tried = true;
    void *library = d->nvrtc.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    d->nvrtc.found = library && cuda_find(library, "nvrtcCreateProgram", &d->nvrtc.create)
                     && cuda_find(library, "nvrtcDestroyProgram", &d->nvrtc.destroy)
                     && cuda_find(library, "nvrtcCompileProgram", &d->nvrtc.compile)
                     && cuda_find(library, "nvrtcGetProgramLogSize", &d->nvrtc.log_size)
                     && cuda_find(library, "nvrtcGetProgramLog", &d->nvrtc.log)
                     && cuda_find(library, "nvrtcGetCUBINSize", &d->nvrtc.image_size)
                     && cuda_find(library, "nvrtcGetCUBIN", &d->nvrtc.image)
                     && cuda_find(library, "nvrtcGetErrorString", &d->nvrtc.name);
}

/* What the compiler said, where somebody asks. */
static void print_log(device *d, const char *source, nvrtcProgram made) {
    char *log = NULL;
    size_t length = 0;
    if (!getenv("MERCER_CUDA_LOG"))
        return;
    if (made && d->nvrtc.log_size(made, &length) == NVRTC_SUCCESS && (log = calloc(length + 1, 1)))
        d->nvrtc.log(made, log);
    fprintf(stderr, "%s\n%s\n", source, log ? log : "");
    free(log);
}

static nvrtcResult take_image(device *d, nvrtcProgram made, char **image, size_t *size) {
    nvrtcResult result = d->nvrtc.image_size(made, size);
    *image = result == NVRTC_SUCCESS ? malloc(*size) : NULL;
    if (result == NVRTC_SUCCESS)
        result = *image ? d->nvrtc.image(made, *image) : NVRTC_ERROR_OUT_OF_MEMORY;
    return result;
}

static mc_device_fault compile_source(device *d, const char *source, char **image, size_t *size) {
    char architecture[40];
    const char *options[] = {architecture, "--ftz=true", "--std=c++17"};
    nvrtcProgram made = NULL;
    if (!d->nvrtc.tried)
        open_compiler(d);
    if (!d->nvrtc.found)
        return cuda_fault(d, MC_DEVICE_REFUSED, "a program is to be compiled", "libnvrtc is not here");
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", d->major, d->minor);
    nvrtcResult result = d->nvrtc.create(&made, source, "mercer.cu", 0, NULL, NULL);
    if (result == NVRTC_SUCCESS)
        result = d->nvrtc.compile(made, (int)(sizeof options / sizeof *options), options);
    if (result != NVRTC_SUCCESS)
        print_log(d, source, made);
    else
        result = take_image(d, made, image, size);
    d->nvrtc.destroy(&made);
    return result == NVRTC_SUCCESS
               ? MC_DEVICE_FINE
               : cuda_fault(d, MC_DEVICE_REFUSED, "a program does not compile", d->nvrtc.name(result));
}

/* What decides what is compiled, beside the source: the card, the toolkit and the driver. */
static void hash_program(const device *d, const char *source, uint64_t key[2]) {
    char head[80];
    int driver = 0;
    cuDriverGetVersion(&driver);
    snprintf(head, sizeof head, "sm_%d%d toolkit %d driver %d\n", d->major, d->minor, CUDA_VERSION, driver);
    cache_key(head, source, key);
}

static mc_device_fault load_program(device *d, const char *source, const uint64_t key[2], CUmodule *module) {
    size_t size = 0;
    char *image = cache_read(key, &size);
    if (image && cuModuleLoadData(module, image) == CUDA_SUCCESS) {
        free(image);
        return MC_DEVICE_FINE;
    }
    free(image); /* none, or one that the driver does not take: compiled again */
    image = NULL;
    mc_device_fault fault = compile_source(d, source, &image, &size);
    if (!fault)
        fault = cuda_check(d, "loading a program", cuModuleLoadData(module, image));
    if (!fault)
        cache_write(key, image, size);
    free(image);
    return fault;
}

static mc_device_fault build_program(void *self, const char *source, void **out) {
    device *d = self;
    uint64_t key[2];
    mc_device_fault fault = cuda_enter(d);
    *out = NULL;
    if (fault)
        return fault;
    hash_program(d, source, key);
    for (int i = 0; i < d->count; i++)
        if (memcmp(d->programs[i].key, key, sizeof key) == 0) {
            *out = d->programs[i].module;
            return MC_DEVICE_FINE;
        }
    if (d->count == PROGRAMS)
        return cuda_fault(d, MC_DEVICE_REFUSED, "programs", "too many of them in one context");
    program *p = &d->programs[d->count];
    fault = load_program(d, source, key, &p->module);
    if (fault)
        return fault;
    memcpy(p->key, key, sizeof key);
    d->count++;
    *out = p->module;
    return MC_DEVICE_FINE;
}

static mc_device_fault launch_kernel(void *self, void *made, const char *kernel, const mc_launch *shape,
                                     const void *argument, size_t bytes) {
    device *d = self;
    CUfunction function;
    mc_device_fault fault = cuda_enter(d);
    if (!fault)
        fault = cuda_check(d, kernel, cuModuleGetFunction(&function, made, kernel));
    if (fault)
        return fault;
    size_t size = bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)argument, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    return cuda_check(d, kernel,
                      cuLaunchKernel(function, (unsigned)shape->grid[0], (unsigned)shape->grid[1], 1,
                                     (unsigned)shape->threads, 1, 1, 0, NULL, NULL, extra));
}

/* ---- Matrix products ---- */

/* cuBLAS is large, and not everywhere: opened when it is first wanted. */
static void open_blas(device *d) {
    char name[40];
    snprintf(name, sizeof name, "libcublas.so.%d", CUBLAS_VER_MAJOR);
    d->blas.tried = true;
    d->blas.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!d->blas.library)
        return;
    const bool found = cuda_find(d->blas.library, "cublasCreate_v2", &d->blas.create)
                       && cuda_find(d->blas.library, "cublasDestroy_v2", &d->blas.destroy)
                       && cuda_find(d->blas.library, "cublasGemmEx_64", &d->blas.gemm);
    if (!found || d->blas.create(&d->blas.handle) != CUBLAS_STATUS_SUCCESS)
        d->blas.handle = NULL;
}

bool cuda_open_blas(device *d) {
    if (cuda_enter(d) == MC_DEVICE_FINE && !d->blas.tried)
        open_blas(d);
    return d->blas.handle != NULL;
}

static bool can_multiply(void *self) {
    return cuda_open_blas(self);
}

static bool has_matrix_units(void *self, mc_device_number number) {
    const int major = ((device *)self)->major;
    return number == MC_DEVICE_DOUBLES ? major == 9 || major == 10 : number == MC_DEVICE_HALVES && major >= 8;
}

/* Row-major C = A B' is column-major C' = B A'. */
static mc_device_fault multiply_matrices(void *self, mc_device_number number, int64_t m, int64_t n, int64_t k,
                                         mc_address A, int64_t lda, mc_address B, int64_t ldb, mc_address C,
                                         int64_t ldc) {
    device *d = self;
    static const cudaDataType factors[] = {CUDA_R_16F, CUDA_R_32F, CUDA_R_64F};
    static const cublasComputeType_t sums[] = {CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F};
    const bool wide = number == MC_DEVICE_DOUBLES;
    const double one = 1, none = 0;
    const float one_float = 1, none_float = 0;
    const cudaDataType factor = factors[number], sum = wide ? CUDA_R_64F : CUDA_R_32F;
    const mc_device_fault fault = cuda_enter(d);
    if (fault || !can_multiply(d))
        return fault ? fault : cuda_fault(d, MC_DEVICE_REFUSED, "matrix products", "cuBLAS is not here");
    const cublasStatus_t status = d->blas.gemm(
        d->blas.handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, wide ? (const void *)&one : &one_float,
        (const void *)(uintptr_t)B, factor, ldb, (const void *)(uintptr_t)A, factor, lda,
        wide ? (const void *)&none : &none_float, (void *)(uintptr_t)C, sum, ldc, sums[number], CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? MC_DEVICE_FINE
                                           : cuda_fault(d, MC_DEVICE_LOST, "matrix products", "cuBLAS failed");
}

__attribute__((visibility("default"))) const mc_device_calls *mercer_device_calls(void);
const mc_device_calls *mercer_device_calls(void) {
    static const mc_device_calls calls = {.abi = MC_DEVICE_ABI,
                                          .name = "cuda",
                                          .count = count_cards,
                                          .describe = describe_card,
                                          .open = open_card,
                                          .close = close_card,
                                          .allocate = allocate_memory,
                                          .release = release_memory,
                                          .upload = upload_bytes,
                                          .download = copy_back,
                                          .build = build_program,
                                          .launch = launch_kernel,
                                          .multiply = multiply_matrices,
                                          .can_multiply = can_multiply,
                                          .has_matrix_units = has_matrix_units,
                                          .wait = wait_for,
                                          .message = message_of,
                                          .dense = &cuda_dense,
                                          .begin = begin_opening,
                                          .end = end_opening};
    return &calls;
}

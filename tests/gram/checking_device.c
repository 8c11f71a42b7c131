/* checking_device.c: see checking_device.h. Threads of a block are fibres that take turns at every barrier. */
#include "checking_device.h"
#include "base/ctx.h"
#include "support.h"
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif

enum { BLOCKS = 256, PROGRAMS = 256, FIBRES = 256, STACK = 96 << 10 };
#define MASK 0x5a00000000000000u /* no address of a process */

typedef struct block {
    char *memory;
    size_t bytes;
} block;

typedef struct program {
    char *source;
    void *library;
} program;

static block blocks[BLOCKS];
static program programs[PROGRAMS];
static int program_count, opening_count, until_failure = -1;

void checking_device_fail_after(int calls) {
    until_failure = calls;
}

bool checking_device_failed(void) {
    return until_failure < 0;
}

int checking_device_blocks(void) {
    int count = 0;
    for (int i = 0; i < BLOCKS; i++)
        count += blocks[i].memory != NULL;
    return count;
}

bool checking_device_fails(void) {
    return until_failure >= 0 && until_failure-- == 0;
}

/* ---- Memory ---- */

char *checking_device_pointer(mc_address at, size_t bytes) {
    char *p = (char *)(uintptr_t)(at ^ MASK);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].memory && p >= blocks[i].memory && p + bytes <= blocks[i].memory + blocks[i].bytes)
            return p;
    fprintf(stderr, "# %zu bytes at an address that is not on the device\n", bytes);
    abort();
}

static mc_device_fault allocate(void *self, size_t bytes, mc_address *out) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_FULL;
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].memory) {
            blocks[i] = (block){malloc(bytes ? bytes : 1), bytes};
            memset(blocks[i].memory, 0xff, bytes); /* NaN: what nobody has written shows */
            *out = (mc_address)(uintptr_t)blocks[i].memory ^ MASK;
            return MC_DEVICE_FINE;
        }
    return MC_DEVICE_FULL;
}

static void release(void *self, mc_address at) {
    (void)self;
    char *p = checking_device_pointer(at, 0);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].memory == p) {
            free(p);
            blocks[i] = (block){0};
        }
}

static mc_device_fault upload_bytes(void *self, mc_address to, const void *from, size_t bytes) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    memcpy(checking_device_pointer(to, bytes), from, bytes);
    return MC_DEVICE_FINE;
}

static mc_device_fault download(void *self, void *to, mc_address from, size_t bytes) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    memcpy(to, checking_device_pointer(from, bytes), bytes);
    return MC_DEVICE_FINE;
}

/* ---- Programs ---- */

static const char words[] =
    "#include <math.h>\n#include <string.h>\n"
    "typedef struct place { int x, y; } place;\n"
    "place blockIdx, threadIdx;\n"
    "void (*barrier)(void);\n"
    "static inline int __float_as_int(float v) { int b; memcpy(&b, &v, sizeof b); return b; }\n"
    "static inline long long __double_as_longlong(double v) { long long b; memcpy(&b, &v, sizeof b); return b; }\n"
    "static inline float __int_as_float(int b) { float v; memcpy(&v, &b, sizeof v); return v; }\n"
    "static inline double __longlong_as_double(long long b) { double v; memcpy(&v, &b, sizeof v); return v; }\n"
    "#define FUNCTION static inline\n#define KERNEL(threads) void\n#define SHARED static\n"
    "#define SYNC() barrier()\n#define UNROLL\n#define AHEAD\n"
    "#define LOAD(to, from) memcpy(to, from, 16)\n#define LOAD8(to, from) memcpy(to, from, 8)\n"
    "#define AS_WRITTEN\n"
    "#define COPY16(to, from) memcpy(to, from, 16)\n"
    "#define COPY4(to, from, there) memcpy(to, (there) ? (const void *)(from) : (const void *)\"\\0\\0\\0\", 4)\n"
    "#define COPY8(to, from, there) memcpy(to, (there) ? (const void *)(from) : (const void "
    "*)\"\\0\\0\\0\\0\\0\\0\\0\", 8)\n"
    "#define COPIES_SENT()\n#define COPIES_HERE(but_one)\n";
/* What the lanes of a warp do together: each leaves what it has, and takes what it wants from the others'. */
static const char warps[] =
    "static struct { unsigned a[4], b[2]; double sum; } lanes[256];\n"
    "static double half_at(const unsigned *words, int word, int odd) {\n"
    "    const unsigned h = words[word] >> 16 * odd & 0xffff, e = h >> 10 & 31, m = h & 0x3ff;\n"
    "    const double v = e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);\n"
    "    return h & 0x8000 ? -v : v;\n"
    "}\n"
    "static void multiply_halves(float *c, const unsigned *a, const unsigned *b, int first) {\n"
    "    const int own = threadIdx.x, warp = own / 32 * 32, lane = own % 32;\n"
    "    memcpy(lanes[own].a, a, 16), memcpy(lanes[own].b, b, 8);\n"
    "    barrier();\n"
    "    for (int e = 0; e < 4; e++) {\n"
    "        const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;\n"
    "        double sum = first ? 0 : c[e];\n"
    "        for (int k = 0; k < 16; k++)\n"
    "            sum += half_at(lanes[warp + row % 8 * 4 + k % 8 / 2].a, row / 8 + k / 8 * 2, k % 2)\n"
    "                   * half_at(lanes[warp + column * 4 + k % 8 / 2].b, k / 8, k % 2);\n"
    "        c[e] = (float)sum;\n"
    "    }\n"
    "    barrier();\n"
    "}\n"
    "static struct { double a[2], b; } wide_lanes[256];\n"
    "static void multiply_doubles(double *c, const double *a, const double *b, int first) {\n"
    "    const int own = threadIdx.x, warp = own / 32 * 32, lane = own % 32;\n"
    "    memcpy(wide_lanes[own].a, a, 16), wide_lanes[own].b = *b;\n"
    "    barrier();\n"
    "    for (int e = 0; e < 4; e++) {\n"
    "        const int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;\n"
    "        c[e] = first ? 0 : c[e];\n"
    "        for (int k = 0; k < 4; k++)\n"
    "            c[e] = fma(wide_lanes[warp + row % 8 * 4 + k].a[row / 8], wide_lanes[warp + column * 4 + k].b, "
    "c[e]);\n"
    "    }\n"
    "    barrier();\n"
    "}\n"
    "static double add_four_lanes(double v) {\n"
    "    const int own = threadIdx.x, first = own / 4 * 4;\n"
    "    lanes[own].sum = v;\n"
    "    barrier();\n"
    "    v = (lanes[first].sum + lanes[first + 1].sum) + (lanes[first + 2].sum + lanes[first + 3].sum);\n"
    "    barrier();\n"
    "    return v;\n"
    "}\n"
    "#define MULTIPLY_FIRST(c, a, b) multiply_halves(c, a, b, 1)\n"
    "#define MULTIPLY_ADD(c, a, b) multiply_halves(c, a, b, 0)\n"
    "#define MULTIPLY_DOUBLES_FIRST(c, a, b) multiply_doubles(c, a, b, 1)\n"
    "#define MULTIPLY_DOUBLES_ADD(c, a, b) multiply_doubles(c, a, b, 0)\n"
    "#define ADD_FOUR_LANES add_four_lanes\n";
/* An entry for every kernel of the source: what follows KERNEL(threads) up to its parameter, where no macro is defined.
   */
static void write_entries(FILE *file, const char *source) {
    for (const char *at = source; (at = strstr(at, "\nKERNEL(")); at++) {
        const char *name = strchr(at, ')') + 2;
        const int length = (int)strcspn(name, "(");
        fprintf(file, "void run_%.*s(const void *a) { %.*s(*(const argument *)a); }\n", length, name, length, name);
    }
}

static void *compile(const char *source) {
    char folder[] = "/tmp/mercer-device-XXXXXX", path[64], command[256];
    if (!mkdtemp(folder))
        return NULL;
    snprintf(path, sizeof path, "%s/a.c", folder);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%s%s%s", words, warps, source);
        write_entries(file, source);
        fclose(file);
    }
    snprintf(command, sizeof command, "cc -O0 -w -ffp-contract=off -shared -fPIC %s -o %s/a.so -lm", path, folder);
    const int failed = system(command);
    snprintf(path, sizeof path, "%s/a.so", folder);
    void *library = failed ? NULL : dlopen(path, RTLD_NOW);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) ? NULL : library;
}

bool checking_device_works(void) {
    return system("cc --version > /dev/null 2>&1") == 0;
}

static mc_device_fault build(void *self, const char *source, void **out) {
    (void)self;
    if (checking_device_fails())
        return MC_DEVICE_REFUSED;
    for (int i = 0; i < program_count; i++)
        if (strcmp(programs[i].source, source) == 0) {
            *out = programs[i].library;
            return MC_DEVICE_FINE;
        }
    void *library = program_count < PROGRAMS ? compile(source) : NULL;
    if (!library)
        return MC_DEVICE_REFUSED;
    programs[program_count++] = (program){strdup(source), library};
    *out = library;
    return MC_DEVICE_FINE;
}

/* ---- Threads of a block ---- */

typedef struct place {
    int x, y;
} place;

static struct {
    ucontext_t scheduler, fibre[FIBRES];
    jmp_buf back, on[FIBRES]; /* to the scheduler, and into a fibre that waits */
    char *stack[FIBRES];
    bool begun[FIBRES], done[FIBRES];
    int now;
    void (*run)(const void *argument);
    const void *argument;
    place *thread;
} turn;

/* A fibre is begun by setcontext and waits and goes on by _longjmp, which asks nothing of the system; sanitizers
   follow stacks by swapcontext alone. */
static void leave_fibre(void) {
#ifdef SANITIZED
    swapcontext(&turn.fibre[turn.now], &turn.scheduler);
#else
    if (!_setjmp(turn.on[turn.now]))
        _longjmp(turn.back, 1);
#endif
}

static void enter_fibre(void) {
#ifdef SANITIZED
    swapcontext(&turn.scheduler, &turn.fibre[turn.now]);
#else
    if (_setjmp(turn.back))
        return;
    if (turn.begun[turn.now])
        _longjmp(turn.on[turn.now], 1);
    turn.begun[turn.now] = true;
    setcontext(&turn.fibre[turn.now]);
#endif
}

static void reach_barrier(void) {
    leave_fibre();
}

/* One thread of every block. */
static void run_fibre(void) {
    for (;;) {
        turn.run(turn.argument);
        turn.done[turn.now] = true;
        leave_fibre();
    }
}

static void start_fibre(int i) {
    turn.done[i] = false;
    if (turn.stack[i])
        return;
    turn.stack[i] = malloc(STACK);
    getcontext(&turn.fibre[i]);
    turn.fibre[i].uc_stack.ss_sp = turn.stack[i];
    turn.fibre[i].uc_stack.ss_size = STACK;
    makecontext(&turn.fibre[i], run_fibre, 0);
}

/* Everybody up to the next barrier, in turn, until all are done. */
static void run_block(int threads) {
    for (int i = 0; i < threads; i++)
        start_fibre(i);
    for (int left = threads; left > 0;)
        for (int i = 0; i < threads; i++)
            if (!turn.done[i]) {
                turn.now = i;
                turn.thread->x = i;
                enter_fibre();
                left -= turn.done[turn.now];
            }
}

static void *find(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol)
        abort();
    return symbol;
}

static bool block_contains(const block *b, mc_address word) {
    const mc_address begin = (mc_address)(uintptr_t)b->memory;
    return b->memory && (word ^ MASK) >= begin && (word ^ MASK) < begin + b->bytes;
}

/* Addresses in the argument, of blocks or inside them, become pointers. */
static void translate(char *argument, size_t bytes) {
    for (size_t at = 0; at + sizeof(mc_address) <= bytes; at += sizeof(mc_address)) {
        mc_address word;
        memcpy(&word, argument + at, sizeof word);
        for (int i = 0; i < BLOCKS; i++)
            if (block_contains(&blocks[i], word)) {
                word ^= MASK;
                memcpy(argument + at, &word, sizeof word);
            }
    }
}

static mc_device_fault launch(void *self, void *made, const char *kernel, const mc_launch *shape, const void *argument,
                              size_t bytes) {
    (void)self;
    char name[64], copy[MC_DEVICE_ARGUMENTS];
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    if (bytes > sizeof copy || shape->threads > FIBRES)
        return MC_DEVICE_REFUSED;
    memcpy(copy, argument, bytes);
    translate(copy, bytes);
    snprintf(name, sizeof name, "run_%s", kernel);
    void *run = find(made, name);
    void (*meet)(void) = reach_barrier;
    memcpy(&turn.run, &run, sizeof turn.run);
    memcpy(find(made, "barrier"), &meet, sizeof meet);
    turn.argument = copy;
    turn.thread = find(made, "threadIdx");
    place *at = find(made, "blockIdx");
    for (at->y = 0; at->y < shape->grid[1]; at->y++)
        for (at->x = 0; at->x < shape->grid[0]; at->x++)
            run_block(shape->threads);
    return MC_DEVICE_FINE;
}

/* ---- Matrix products ---- */

static bool can_multiply(void *self) {
    (void)self;
    return true;
}

static double half_at(const char *at, int64_t i) {
    const unsigned h = ((const uint16_t *)(const void *)at)[i], e = h >> 10 & 31, m = h & 0x3ff;
    const double v = e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static double element(mc_device_number number, const char *at, int64_t i) {
    return number == MC_DEVICE_HALVES   ? half_at(at, i)
           : number == MC_DEVICE_FLOATS ? (double)((const float *)(const void *)at)[i]
                                        : ((const double *)(const void *)at)[i];
}

static mc_device_fault multiply(void *self, mc_device_number number, int64_t m, int64_t n, int64_t k, mc_address A,
                                int64_t lda, mc_address B, int64_t ldb, mc_address C, int64_t ldc) {
    (void)self;
    static const size_t bytes[] = {2, sizeof(float), sizeof(double)};
    const size_t factor = bytes[number], sum_bytes = number == MC_DEVICE_DOUBLES ? sizeof(double) : sizeof(float);
    if (checking_device_fails())
        return MC_DEVICE_LOST;
    const char *a = checking_device_pointer(A, (size_t)((m - 1) * lda + k) * factor),
               *b = checking_device_pointer(B, (size_t)((n - 1) * ldb + k) * factor);
    char *c = checking_device_pointer(C, (size_t)((m - 1) * ldc + n) * sum_bytes);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += element(number, a, i * lda + l) * element(number, b, j * ldb + l);
            if (number == MC_DEVICE_DOUBLES)
                ((double *)(void *)c)[i * ldc + j] = sum;
            else
                ((float *)(void *)c)[i * ldc + j] = (float)sum;
        }
    return MC_DEVICE_FINE;
}

/* ---- The table ---- */

static int count_cards(char *why) {
    (void)why;
    return 1;
}

static bool describe_card(int card, mc_card *out) {
    *out = (mc_card){.name = "the processor, posing", .bytes = 1 << 30, .bytes_free = 1 << 30, .multiprocessors = 1};
    return card == 0;
}

static void *open_card(int card, char *why) {
    (void)card, (void)why;
    return &blocks;
}

static void close_card(void *self) {
    (void)self;
}

static bool has_matrix_units(void *self, mc_device_number number) {
    (void)self;
    return number != MC_DEVICE_FLOATS;
}

static void *begin_opening(int card) {
    static int opening;
    opening_count += card == 0;
    return card == 0 ? &opening : NULL;
}

static void end_opening(void *begun) {
    opening_count -= begun != NULL;
}

int checking_device_openings(void) {
    return opening_count;
}

static mc_device_fault wait_for(void *self) {
    (void)self;
    return checking_device_fails() ? MC_DEVICE_LOST : MC_DEVICE_FINE;
}

static const char *message_of(void *self) {
    (void)self;
    return "made to fail";
}

const mc_device_calls *checking_device_calls(void) {
    static const mc_device_calls calls = {.abi = MC_DEVICE_ABI,
                                          .name = "checking",
                                          .count = count_cards,
                                          .describe = describe_card,
                                          .open = open_card,
                                          .close = close_card,
                                          .allocate = allocate,
                                          .release = release,
                                          .upload = upload_bytes,
                                          .download = download,
                                          .build = build,
                                          .launch = launch,
                                          .multiply = multiply,
                                          .can_multiply = can_multiply,
                                          .has_matrix_units = has_matrix_units,
                                          .wait = wait_for,
                                          .message = message_of,
                                          .dense = &checking_device_dense,
                                          .begin = begin_opening,
                                          .end = end_opening};
    return &calls;
}

/* ---- For tests ---- */

bool on_a_card(void) {
    return getenv("MERCER_TEST_DEVICE") != NULL;
}

mc_device *open_test_device(mercer_ctx *ctx) {
    mc_device *device = NULL;
    assert_ok(ctx, on_a_card() ? mc_device_open(ctx, getenv("MERCER_TEST_DEVICE"), 0, &device)
                               : mc_device_open_calls(ctx, checking_device_calls(), 0, 0, &device));
    assert_true(mc_device_has_dense(ctx, device));
    return device;
}

mc_device *attach_test_device(mercer_ctx *ctx) {
    mc_device *device = open_test_device(ctx);
    device->least_operations = 0;
    device->least_pairs = 1e6;
    ctx->device.open = device;
    ctx->device.close = mc_device_close;
    ctx->device.tried = true;
    strcpy(ctx->device.wanted, "cuda");
    return device;
}

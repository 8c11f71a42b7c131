/* device.h: a device that computes beside the processor, as a table of functions that a library of its own supplies.
   The library is opened at run time: one build serves machines with and without a card.

   Memory on a device has addresses that are no pointers, so that nothing here can read it by mistake. Work is asked
   for in order and done in order; what comes back is right when mc_device_download returns. */
#ifndef MC_BACKEND_DEVICE_H
#define MC_BACKEND_DEVICE_H

#include "backend/device_price.h"

enum { MC_DEVICE_ABI = 4, MC_DEVICE_TEXT = 256, MC_DEVICE_ARGUMENTS = 3072 };

typedef uint64_t mc_address; /* on a device; 0: none */

typedef struct mc_card {
    char name[MC_DEVICE_TEXT];
    size_t bytes, bytes_free;
    int multiprocessors;
} mc_card;

/* What went wrong on a device: no memory left there, a program that does not compile, the device itself. */
typedef enum mc_device_fault { MC_DEVICE_FINE, MC_DEVICE_FULL, MC_DEVICE_REFUSED, MC_DEVICE_LOST } mc_device_fault;

/* What the factors of a matrix product are; sums of halves and of floats are floats. */
typedef enum mc_device_number { MC_DEVICE_HALVES, MC_DEVICE_FLOATS, MC_DEVICE_DOUBLES } mc_device_number;

typedef struct mc_launch {
    int64_t grid[2];
    int threads;
} mc_launch;

/* What the library of a device exports, by the name mercer_device_calls. why and message: MC_DEVICE_TEXT bytes. */
typedef struct mc_device_calls {
    int abi;
    const char *name; /* as in --device */
    /* Cards that can be used; 0 with the reason. */
    int (*count)(char *why);
    bool (*describe)(int card, mc_card *out);
    void *(*open)(int card, char *why);
    void (*close)(void *self);
    mc_device_fault (*allocate)(void *self, size_t bytes, mc_address *out);
    void (*release)(void *self, mc_address at);
    mc_device_fault (*upload)(void *self, mc_address to, const void *from, size_t bytes);
    mc_device_fault (*download)(void *self, void *to, mc_address from, size_t bytes);
    /* Source in CUDA C to a program, which the device keeps and hands out again for the same source. */
    mc_device_fault (*build)(void *self, const char *source, void **program);
    /* One kernel of a program; its one parameter is a struct of so many bytes. */
    mc_device_fault (*launch)(void *self, void *program, const char *kernel, const mc_launch *shape,
                              const void *argument, size_t bytes);
    /* C_ij <- sum over k of A_ik B_jk, row-major, m x n and k long, on the matrix units: floats are first rounded to
       the 11 bits that these hold. Where can_multiply says no, no library is there to do it. */
    mc_device_fault (*multiply)(void *self, mc_device_number number, int64_t m, int64_t n, int64_t k, mc_address A,
                                int64_t lda, mc_address B, int64_t ldb, mc_address C, int64_t ldc);
    bool (*can_multiply)(void *self);
    /* Whether programs may multiply by PTX's mma: halves of 16 x 8 x 16, or doubles of 16 x 8 x 4. */
    bool (*has_matrix_units)(void *self, mc_device_number number);
    mc_device_fault (*wait)(void *self);
    const char *(*message)(void *self);        /* of the last fault */
    const struct mc_device_dense_calls *dense; /* backend/device_dense.h; NULL: it does none */
    /* Begins to open a card on a thread of the library's own; open then finds it ready, or waits. end, which every
       begin has, waits too. NULL of begin: it has not begun. */
    void *(*begin)(int card);
    void (*end)(void *begun);
} mc_device_calls;
typedef const mc_device_calls *mc_device_entry(void);

/* A device that a context computes on. */
typedef struct mc_device {
    const mc_device_calls *calls;
    void *self;
    void *library; /* of dlopen; NULL: none */
    int card;
    char name[32];            /* as in --device */
    size_t limit, used, peak; /* bytes of it that this context may take, has taken, has had at most */
    bool failed;              /* a call of it did not end well, for another reason than memory */
    double least_operations;  /* of an algebra that is worth the way there, */
    double least_pairs;       /* and of a product, where it is named */
    bool dense_refused;       /* and the log has said so */
} mc_device;

/* The library of a device, by its name ("cuda"): from the folder this library lies in, else where the system looks.
   NULL with the reason. */
const mc_device_calls *mc_device_find(const char *name, void **library, char *why);
/* "cuda" or "cuda:1". limit 0: nine tenths of what is free there. */
mercer_status mc_device_open(mercer_ctx *ctx, const char *text, size_t limit, mc_device **out);
/* The same over a table that is at hand. */
mercer_status mc_device_open_calls(mercer_ctx *ctx, const mc_device_calls *calls, int card, size_t limit,
                                   mc_device **out);
void mc_device_close(mc_device *device);
/* Where a card was asked for by name and so many pairs of rows would go there, begins to open it, beside what the
   processor does until it is wanted. What fails here fails then, with its reason. */
void mc_device_begin(mercer_ctx *ctx, double pairs);
/* The same over a table that is at hand. */
void mc_device_begin_calls(mercer_ctx *ctx, const mc_device_calls *calls, int card, void *library);
/* The device of the context for products; NULL: the processor makes them. Under auto it is opened where that, and what
   the processor was left with since the call began, costs less there by count. A device that was asked for by name and
   is not there is an error; one that was not is done without. */
mercer_status mc_device_for_pairs(mercer_ctx *ctx, const mc_pairs_work *work, mc_device **out);
/* The same for dense algebra of so many operations, over bytes that are copied. */
mercer_status mc_device_for_operations(mercer_ctx *ctx, double operations, double bytes, mc_device **out);
/* After a fault: whether the processor takes over, which it does under auto, for the rest of the context. The failure
   is then cleared and told to the log. */
bool mc_device_do_without(mercer_ctx *ctx, const mc_device *device);
/* The same, and of a device that is full, whoever asked for it: the processor does this piece of work. */
bool mc_device_leaves_it(mercer_ctx *ctx, const mc_device *device, mercer_status status);
/* Whether auto decides; whether the processor was asked for. */
bool mc_device_is_automatic(const mercer_ctx *ctx);
bool mc_device_is_refused(const mercer_ctx *ctx);
/* The device of the context, opened where it was not; NULL under auto: there is none. */
mercer_status mc_device_of_context(mercer_ctx *ctx, mc_device **out);

/* Memory, under the limit. */
mercer_status mc_device_allocate(mercer_ctx *ctx, mc_device *device, size_t bytes, mc_address *out);
void mc_device_release(mc_device *device, mc_address at, size_t bytes);
mercer_status mc_device_upload(mercer_ctx *ctx, mc_device *device, mc_address to, const void *from, size_t bytes);
mercer_status mc_device_download(mercer_ctx *ctx, mc_device *device, void *to, mc_address from, size_t bytes);
mercer_status mc_device_build(mercer_ctx *ctx, mc_device *device, const char *source, void **program);
mercer_status mc_device_launch(mercer_ctx *ctx, mc_device *device, void *program, const char *kernel,
                               const mc_launch *shape, const void *argument, size_t bytes);
mercer_status mc_device_multiply(mercer_ctx *ctx, mc_device *device, mc_device_number number, int64_t m, int64_t n,
                                 int64_t k, mc_address A, int64_t lda, mc_address B, int64_t ldb, mc_address C,
                                 int64_t ldc);
mercer_status mc_device_wait(mercer_ctx *ctx, mc_device *device);
/* A fault in words. */
mercer_status mc_device_report(mercer_ctx *ctx, mc_device *device, mc_device_fault fault);

#endif

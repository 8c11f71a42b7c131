/* device.c: finding the library of a device, opening a card, and its memory under a limit. */
#include "backend/device.h"
#include "base/ctx.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/print.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- The library ---- */

const mc_device_calls *mc_device_find(const char *name, void **library, char *why) {
    *library = mc_library_open(name, why, MC_DEVICE_TEXT);
    if (!*library)
        return NULL;
    void *symbol = mc_library_symbol(*library, "mercer_device_calls");
    mc_device_entry *entry = NULL;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from a pointer to data to one to code */
    const mc_device_calls *calls = entry ? entry() : NULL;
    if (calls && calls->abi == MC_DEVICE_ABI)
        return calls;
    mc_print(why, MC_DEVICE_TEXT, "libmercer_%s.so belongs to another version of Mercer", name);
    dlclose(*library);
    *library = NULL;
    return NULL;
}

/* ---- A card ---- */

/* Operations of dense algebra below which the way to a card that is named does not pay. */
static const double LEAST_OPERATIONS = 5e8;
/* Pairs below which a product does not: a millisecond of copies, memory and launches is 5e7 of them on 16 threads. */
static const double LEAST_PAIRS = 5e7;

mercer_status mc_device_open_calls(mercer_ctx *ctx, const mc_device_calls *calls, int card, size_t limit,
                                   mc_device **out) {
    char why[MC_DEVICE_TEXT] = "";
    mc_card has = {0};
    *out = NULL;
    const int count = calls->count(why);
    if (count < 1)
        return mc_fail(ctx, MERCER_INVALID, "device %s: %s; use device cpu", calls->name, why);
    if (card >= count)
        return mc_fail(ctx, MERCER_INVALID, "device %s:%d: there %s %d, numbered from 0", calls->name, card,
                       count == 1 ? "is" : "are", count);
    mc_device *device = mc_alloc(ctx, 1, sizeof *device);
    if (!device)
        return MERCER_MEMORY;
    *device = (mc_device){.calls = calls, .card = card, .self = calls->open(card, why)};
    mc_print(device->name, sizeof device->name, "%s:%d", calls->name, card);
    if (!device->self || !calls->describe(card, &has)) {
        mc_device_close(device);
        return mc_fail(ctx, MERCER_INVALID, "device %s:%d does not open: %s; use device cpu", calls->name, card, why);
    }
    device->least_operations = LEAST_OPERATIONS;
    device->least_pairs = LEAST_PAIRS;
    device->limit = limit ? limit : has.bytes_free / 10 * 9;
    *out = device;
    return MERCER_OK;
}

/* "cuda:1" to its name and 1. */
static mercer_status read_device(mercer_ctx *ctx, const char *text, char name[16], int *card) {
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    char *end = NULL;
    const long number = colon ? strtol(colon + 1, &end, 10) : 0;
    const bool good =
        length > 0 && length < 16 && (!colon || (end > colon + 1 && !*end && number >= 0 && number < 1024));
    if (!good || length != 4 || strncmp(text, "cuda", 4) != 0)
        return mc_fail(ctx, MERCER_INVALID, "device must be auto, cpu, cuda or cuda:NUMBER, got '%s'", text);
    mc_print(name, 16, "%.*s", (int)length, text);
    *card = (int)number;
    return MERCER_OK;
}

mercer_status mc_device_open(mercer_ctx *ctx, const char *text, size_t limit, mc_device **out) {
    char name[16], why[MC_DEVICE_TEXT] = "";
    int card = 0;
    void *library = NULL;
    *out = NULL;
    MC_TRY(read_device(ctx, text, name, &card));
    const mc_device_calls *calls = mc_device_find(name, &library, why);
    if (!calls)
        return mc_fail(ctx, MERCER_INVALID, "device %s: %s; use device cpu", text, why);
    const mercer_status status = mc_device_open_calls(ctx, calls, card, limit, out);
    if (status)
        dlclose(library);
    else
        (*out)->library = library;
    return status;
}

void mc_device_close(mc_device *device) {
    if (!device)
        return;
    void *library = device->library;
    if (device->self)
        device->calls->close(device->self);
    mc_free(device);
    if (library)
        dlclose(library);
}

static void fill_card(const mc_card *has, mercer_card *out) {
    out->memory = has->bytes;
    out->memory_free = has->bytes_free;
    out->multiprocessors = has->multiprocessors;
    mc_print(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, has->name);
}

mercer_status mercer_card_at(mercer_ctx *ctx, int64_t i, mercer_card *out) {
    char why[MC_DEVICE_TEXT] = "";
    mercer_card card = {.size = sizeof card};
    mc_card has = {0};
    void *library = NULL;
    MC_NEED(ctx, out);
    mc_begin_call(ctx);
    MC_TRY(mc_sized_check(ctx, "mercer_card", out));
    const mc_device_calls *calls = mc_device_find("cuda", &library, why);
    const int count = calls ? calls->count(why) : 0;
    const bool known = i >= 0 && i < count && calls->describe((int)i, &has);
    if (library)
        dlclose(library);
    if (!known)
        return mc_fail(ctx, MERCER_INVALID, "card %lld: %s", (long long)i,
                       count > 0 ? "there is none of that number" : why);
    fill_card(&has, &card);
    mc_sized_write(&card, sizeof card, out);
    return MERCER_OK;
}

/* ---- The device of a context ---- */

static const char *wanted_device(const mercer_ctx *ctx) {
    const char *from_environment = getenv("MERCER_DEVICE");
    const bool said = from_environment && *from_environment;
    return ctx->device.wanted[0] ? ctx->device.wanted : said ? from_environment : "auto";
}

/* A card that another thread opens. */
typedef struct mc_device_opening {
    const mc_device_calls *calls;
    void *library; /* of dlopen; NULL: none */
    void *begun;
} mc_device_opening;

static void end_opening(mc_device_opening *opening) {
    opening->calls->end(opening->begun);
    if (opening->library)
        dlclose(opening->library);
    mc_free(opening);
}

void mc_device_begin_calls(mercer_ctx *ctx, const mc_device_calls *calls, int card, void *library) {
    mc_device_opening *opening = mc_alloc(ctx, 1, sizeof *opening);
    void *begun = opening ? calls->begin(card) : NULL;
    if (begun) {
        *opening = (mc_device_opening){calls, library, begun};
        ctx->device.opening = opening;
        ctx->device.end = end_opening;
        return;
    }
    mc_free(opening);
    if (library)
        dlclose(library);
    mc_clear_failure(ctx);
}

void mc_device_begin(mercer_ctx *ctx, double pairs) {
    char name[16], why[MC_DEVICE_TEXT];
    int card = 0;
    void *library = NULL;
    if (pairs < LEAST_PAIRS || ctx->job.whole || ctx->device.tried || ctx->device.opening || mc_device_is_automatic(ctx)
        || mc_device_is_refused(ctx))
        return;
    const mc_device_calls *calls =
        read_device(ctx, wanted_device(ctx), name, &card) ? NULL : mc_device_find(name, &library, why);
    mc_clear_failure(ctx);
    if (calls)
        mc_device_begin_calls(ctx, calls, card, library);
}

static mercer_status open_for_context(mercer_ctx *ctx, const char *name) {
    ctx->device.tried = true;
    ctx->device.close = mc_device_close;
    const mercer_status status = mc_device_open(ctx, name, ctx->options.device_memory_limit, &ctx->device.open);
    if (ctx->device.opening)
        end_opening(ctx->device.opening);
    ctx->device.opening = NULL;
    return status;
}

bool mc_device_is_automatic(const mercer_ctx *ctx) {
    return strcmp(wanted_device(ctx), "auto") == 0;
}

/* What a fit foresees is made on one side or the other as a whole. */
static bool pays_automatic(mercer_ctx *ctx, mc_pairs_work work) {
    const double start = ctx->device.open ? 0 : mc_price_card_start(), asked = mc_price_host(ctx->processors, &work);
    work.pairs = ctx->device.pairs > work.pairs ? ctx->device.pairs : work.pairs;
    const bool pays = mc_price_host(ctx->processors, &work) + ctx->device.spent > mc_price_card(&work) + start;
    ctx->device.spent += pays ? 0 : asked;
    return pays;
}

bool mc_device_is_refused(const mercer_ctx *ctx) {
    return strcmp(wanted_device(ctx), "cpu") == 0;
}

mercer_status mc_device_of_context(mercer_ctx *ctx, mc_device **out) {
    const bool automatic = mc_device_is_automatic(ctx);
    *out = NULL;
    if (!ctx->device.tried || (!automatic && !ctx->device.open)) {
        const mercer_status status = open_for_context(ctx, automatic ? "cuda" : wanted_device(ctx));
        if (status && !automatic)
            return status;
        if (status)
            mc_clear_failure(ctx);
    }
    *out = ctx->device.failed ? NULL : ctx->device.open;
    return MERCER_OK;
}

mercer_status mc_device_for_pairs(mercer_ctx *ctx, const mc_pairs_work *work, mc_device **out) {
    *out = NULL;
    if (mc_device_is_refused(ctx) || ctx->device.failed || (mc_device_is_automatic(ctx) && !pays_automatic(ctx, *work)))
        return MERCER_OK;
    MC_TRY(mc_device_of_context(ctx, out));
    *out = *out && work->pairs >= (*out)->least_pairs ? *out : NULL;
    return MERCER_OK;
}

mercer_status mc_device_for_operations(mercer_ctx *ctx, double operations, double bytes, mc_device **out) {
    const double host = mc_price_host_algebra(ctx->processors, operations),
                 card = mc_price_card_algebra(operations, bytes) + (ctx->device.open ? 0 : mc_price_card_start());
    *out = NULL;
    if (mc_device_is_refused(ctx) || ctx->device.failed)
        return MERCER_OK;
    if (mc_device_is_automatic(ctx) && host + ctx->device.spent <= card) {
        ctx->device.spent += host;
        return MERCER_OK;
    }
    MC_TRY(mc_device_of_context(ctx, out));
    *out = *out && operations >= (*out)->least_operations ? *out : NULL;
    return MERCER_OK;
}

bool mc_device_do_without(mercer_ctx *ctx, const mc_device *device) {
    if (!device->failed || !mc_device_is_automatic(ctx))
        return false;
    mc_print(ctx->device.note, sizeof ctx->device.note, "device %s failed (%.160s): the processor does its work",
             device->name, device->calls->message(device->self));
    mc_log_message(ctx, "%s", ctx->device.note);
    mc_clear_failure(ctx);
    ctx->device.failed = true;
    return true;
}

bool mc_device_leaves_it(mercer_ctx *ctx, const mc_device *device, mercer_status status) {
    if (status != MERCER_MEMORY)
        return mc_device_do_without(ctx, device);
    mc_log_message(ctx, "%s", mercer_message(ctx));
    mc_clear_failure(ctx);
    return true;
}

const char *mercer_device_note(const mercer_ctx *ctx) {
    return ctx ? ctx->device.note : "";
}

/* ---- What is asked of it ---- */

mercer_status mc_device_report(mercer_ctx *ctx, mc_device *device, mc_device_fault fault) {
    static const mercer_status status[] = {
        [MC_DEVICE_FULL] = MERCER_MEMORY, [MC_DEVICE_REFUSED] = MERCER_INTERNAL, [MC_DEVICE_LOST] = MERCER_INTERNAL};
    if (fault == MC_DEVICE_FINE)
        return MERCER_OK;
    device->failed |= fault != MC_DEVICE_FULL;
    return mc_fail(ctx, status[fault], "device %s: %s; device cpu goes without it", device->name,
                   device->calls->message(device->self));
}

mercer_status mc_device_allocate(mercer_ctx *ctx, mc_device *device, size_t bytes, mc_address *out) {
    char wanted[32], left[32];
    *out = 0;
    if (bytes > device->limit - device->used)
        return mc_fail(ctx, MERCER_MEMORY,
                       "device %s: %s are needed there and %s are left of its limit; use device cpu", device->name,
                       mc_bytes_text((double)bytes, wanted),
                       mc_bytes_text((double)(device->limit - device->used), left));
    MC_TRY(mc_device_report(ctx, device, device->calls->allocate(device->self, bytes, out)));
    device->used += bytes;
    device->peak = device->used > device->peak ? device->used : device->peak;
    return MERCER_OK;
}

void mc_device_release(mc_device *device, mc_address at, size_t bytes) {
    if (!at)
        return;
    device->calls->release(device->self, at);
    device->used -= bytes;
}

mercer_status mc_device_upload(mercer_ctx *ctx, mc_device *device, mc_address to, const void *from, size_t bytes) {
    return mc_device_report(ctx, device, device->calls->upload(device->self, to, from, bytes));
}

mercer_status mc_device_download(mercer_ctx *ctx, mc_device *device, void *to, mc_address from, size_t bytes) {
    return mc_device_report(ctx, device, device->calls->download(device->self, to, from, bytes));
}

mercer_status mc_device_build(mercer_ctx *ctx, mc_device *device, const char *source, void **program) {
    return mc_device_report(ctx, device, device->calls->build(device->self, source, program));
}

mercer_status mc_device_launch(mercer_ctx *ctx, mc_device *device, void *program, const char *kernel,
                               const mc_launch *shape, const void *argument, size_t bytes) {
    return mc_device_report(ctx, device, device->calls->launch(device->self, program, kernel, shape, argument, bytes));
}

mercer_status mc_device_multiply(mercer_ctx *ctx, mc_device *device, mc_device_number number, int64_t m, int64_t n,
                                 int64_t k, mc_address A, int64_t lda, mc_address B, int64_t ldb, mc_address C,
                                 int64_t ldc) {
    return mc_device_report(ctx, device,
                            device->calls->multiply(device->self, number, m, n, k, A, lda, B, ldb, C, ldc));
}

mercer_status mc_device_wait(mercer_ctx *ctx, mc_device *device) {
    return mc_device_report(ctx, device, device->calls->wait(device->self));
}

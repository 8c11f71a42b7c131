/* sized.c: copying structs whose size the caller says. */
#include "base/extremes.h"
#include "base/sized.h"
#include "base/status.h"
#include <string.h>

enum { MOST = 4096 }; /* no struct comes near it: a larger size was never written */

static size_t size_of(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

mercer_status mc_sized_check(mercer_ctx *ctx, const char *type, const void *out) {
    const size_t size = size_of(out);
    if (size > sizeof size && size <= MOST && size % sizeof size == 0)
        return MERCER_OK;
    return mc_fail(
        ctx, MERCER_INVALID,
        "%s.size is %zu: what gives the defaults of a struct sets it; where there are none, write {.size = sizeof(%s)}",
        type, size, type);
}

/* What the library does not know of the struct. */
static bool is_zero(const char *bytes, size_t count) {
    while (count && !bytes[count - 1])
        count--;
    return count == 0;
}

mercer_status mc_sized_read(mercer_ctx *ctx, const char *type, const void *given, void *copy, size_t ours) {
    if (!given)
        return MERCER_OK;
    MC_TRY(mc_sized_check(ctx, type, given));
    const size_t size = size_of(given);
    if (size > ours && !is_zero((const char *)given + ours, size - ours))
        return mc_fail(ctx, MERCER_INVALID,
                       "%s: a field beyond byte %zu is set, which version " MERCER_VERSION
                       " of the library does not know: link a newer one",
                       type, ours);
    memcpy(copy, given, mc_min_size(size, ours));
    memcpy(copy, &ours, sizeof ours);
    return MERCER_OK;
}

void mc_sized_write(const void *result, size_t ours, void *out) {
    const size_t size = size_of(out);
    memset(out, 0, size);
    memcpy(out, result, mc_min_size(size, ours));
    memcpy(out, &size, sizeof size);
}

void mc_sized_init(const void *defaults, size_t ours, void *out, size_t size) {
    if (!out || size < sizeof size)
        return;
    memcpy(out, &size, sizeof size);
    mc_sized_write(defaults, ours, out);
}

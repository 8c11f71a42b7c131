/* spread_points.c: see spread_points.h. A few panels at a time, so that little memory is taken here. */
#include "gram/device/spread_points.h"
#include "base/memory.h"
#include "base/status.h"
#include "gram/tile/multiply.h"
#include <string.h>

enum { BYTES_EACH = 8 << 20 };

typedef struct spread {
    const mc_packed_points *pack;
    int64_t width, d;
    size_t real;
} spread;

static void spread_panel(const spread *s, int64_t panel, char *out) {
    const int64_t first = panel * s->width, rest = s->pack->n - first, rows = rest < s->width ? rest : s->width;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = s->pack->start[first + r]; e < s->pack->start[first + r + 1]; e++)
            memcpy(out + (size_t)(s->pack->coordinate[e] * s->width + r) * s->real,
                   (const char *)s->pack->values + (size_t)e * s->real, s->real);
}

mercer_status mc_device_spread_points(mercer_ctx *ctx, mc_device *device, const mc_gram *g, const mc_tile_part *p,
                                      const mc_packed_points *pack, mc_address to) {
    const spread s = {pack, g->ops->columns, p->d, (size_t)mc_real_size(g)};
    const size_t panel = (size_t)(s.width * s.d) * s.real;
    const int64_t panels = (pack->n + s.width - 1) / s.width, some = (int64_t)(BYTES_EACH / panel) + 1;
    char *buffer = mc_alloc_unset(ctx, some, panel);
    mercer_status status = buffer ? MERCER_OK : MERCER_MEMORY;
    for (int64_t first = 0; first < panels && !status; first += some) {
        const int64_t count = panels - first < some ? panels - first : some;
        memset(buffer, 0, (size_t)count * panel);
        for (int64_t k = 0; k < count; k++)
            spread_panel(&s, first + k, buffer + (size_t)k * panel);
        status = mc_device_upload(ctx, device, to + (size_t)first * panel, buffer, (size_t)count * panel);
    }
    mc_free(buffer);
    return status;
}

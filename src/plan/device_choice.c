/* device_choice.c: see device_choice.h. A card is opened only where the price speaks for it or it was asked for. */
#include "plan/device_choice.h"
#include "backend/device.h"
#include "base/ctx.h"
#include "base/status.h"
#include "data/table/data.h"
#include "gram/device/device_stream.h"
#include "plan/speed.h"
#include <math.h>

enum { PROBE_ROWS = 16 };

/* What decides is the kernel and how rows are kept: a few of them tell. */
static mercer_status open_probe(mercer_ctx *ctx, const mc_problem *p, mercer_dtype precision, mercer_data **rows,
                                mc_gram **gram) {
    MC_TRY(mc_data_take(ctx, p->x, NULL, p->n < PROBE_ROWS ? p->n : PROBE_ROWS, rows));
    return mc_gram_open(ctx, p->kernel, *rows, NULL, precision, gram);
}

static mercer_status card_could(mercer_ctx *ctx, const mc_problem *p, bool *could) {
    mercer_data *rows = NULL;
    mc_gram *gram = NULL;
    const mercer_status status = open_probe(ctx, p, MERCER_F32, &rows, &gram);
    *could = !status && mc_device_can(gram);
    mc_gram_close(gram);
    mercer_data_free(rows);
    return status;
}

static const char *reason_of(const mercer_ctx *ctx, bool fits) {
    if (mc_device_is_automatic(ctx))
        return fits ? "products cost less there" : "products cost less there, by blocks of the rows";
    return fits ? "asked for" : "asked for; products go by blocks of the rows";
}

/* Certificates are in double: the most that products take there. */
static mercer_status forecast_memory(mercer_ctx *ctx, const mc_problem *p, mc_device *device, mercer_plan *out) {
    mercer_data *rows = NULL;
    mc_gram *gram = NULL;
    size_t bytes = 0;
    bool fits = true;
    mercer_status status = open_probe(ctx, p, MERCER_F64, &rows, &gram);
    MC_THEN(status, mc_device_stream_forecast(ctx, device, gram, p->n, &bytes, &fits));
    out->card_bytes = fits ? bytes : device->limit;
    out->device_reason = reason_of(ctx, fits);
    mc_gram_close(gram);
    mercer_data_free(rows);
    return status;
}

static mercer_status price_card(mercer_ctx *ctx, const mc_problem *p, const mc_solver_option *o, double *seconds) {
    mc_speed here;
    MC_TRY(mc_speed_measure(ctx, p, &here));
    const mc_speed there = mc_speed_with_card(p, &here);
    const double start = o->seconds - mc_speed_seconds(&here, o);
    *seconds = mc_speed_seconds(&there, o) + fmax(0, start) + mc_price_card_start();
    return MERCER_OK;
}

static mercer_status ask_for_card(mercer_ctx *ctx, const mc_problem *p, mercer_plan *out) {
    mc_device *device = NULL;
    MC_TRY(mc_device_of_context(ctx, &device));
    out->device = device ? device->name : "cpu";
    out->device_reason = "no card can be used here";
    return device && p->n > 0 ? forecast_memory(ctx, p, device, out) : MERCER_OK;
}

mercer_status mc_plan_device(mercer_ctx *ctx, const mc_problem *p, const mc_solver_option *chosen, mercer_plan *out) {
    bool could = false;
    out->device = "cpu";
    out->cpu_seconds = chosen->seconds;
    out->card_seconds = NAN;
    out->card_bytes = 0;
    MC_TRY(card_could(ctx, p, &could));
    if (could && chosen->pairs + chosen->fast > 0)
        MC_TRY(price_card(ctx, p, chosen, &out->card_seconds));
    if (mc_device_is_refused(ctx))
        out->device_reason = "asked for";
    else if (!could)
        out->device_reason = "no card makes products with this kernel on these rows";
    else if (mc_device_is_automatic(ctx) && !(out->card_seconds < out->cpu_seconds))
        out->device_reason = "less work than opening a card is worth";
    else
        return ask_for_card(ctx, p, out);
    return MERCER_OK;
}

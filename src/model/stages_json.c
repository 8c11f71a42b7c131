/* stages_json.c: how a model came about in stages, as JSON, written by hand: the same input gives the same bytes where
   no clock decides. */
#include "base/text.h"
#include "model/staged_fit.h"
#include <math.h>

static void add_stage(mc_text *text, const mc_fit_stage *stage, bool clock) {
    mc_text_add(text, "{\"rows\":%lld,\"landmarks\":%lld,\"solver\":", (long long)stage->rows,
                (long long)stage->landmarks);
    mc_text_quoted(text, stage->solver ? stage->solver : "");
    mc_text_field(text, "lambda", stage->lambda);
    mc_text_field(text, "error", stage->error);
    if (clock)
        mc_text_field(text, "seconds", stage->seconds);
    mc_text_add(text, ",\"kept\":%s}", stage->kept ? "true" : "false");
}

/* What more work would bring, by what the last one brought: where each step gains at most half of the one before, all
   that follow gain no more than it did. NaN: fewer than two were measured. */
static double error_with_more(const mc_fit_stages *s) {
    const double last = s->kept >= 0 ? s->stage[s->kept].error : NAN;
    double before = NAN;
    for (int64_t k = 0; k < s->kept; k++)
        before = s->stage[k].kept && isfinite(s->stage[k].error) ? s->stage[k].error : before;
    return fmax(0, last - (before - last)) + 0 * before;
}

mercer_status mc_fit_stages_record(mercer_ctx *ctx, const mc_fit_stages *s, char **out) {
    mc_text text = mc_text_open(ctx);
    mc_text_add(&text, "{\"by\":\"%s\",\"exact\":%s,\"rows\":%lld,\"held_out\":%lld", s->clock ? "time" : "work",
                s->exact ? "true" : "false", (long long)s->rows, (long long)s->held_out);
    if (s->measure)
        mc_text_add(&text, ",\"measure\":\"%s\"", s->measure);
    mc_text_field(&text, "constant", s->constant);
    mc_text_field(&text, "exact_seconds", s->exact_seconds);
    mc_text_field(&text, "error_with_more", s->exact ? NAN : error_with_more(s));
    mc_text_add(&text, ",\"chosen\":%lld,\"stages\":[", (long long)s->kept);
    for (int64_t k = 0; k < s->count; k++) {
        mc_text_add(&text, k ? "," : "");
        add_stage(&text, &s->stage[k], s->clock);
    }
    mc_text_add(&text, "]}");
    return mc_text_take(&text, out);
}

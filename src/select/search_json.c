/* search_json.c: a search as JSON, written by hand: the same search gives the same bytes. Times are left out for that
   reason. */
#include "base/memory.h"
#include "base/text.h"
#include "select/tune.h"
#include <math.h>

static void add_text(mc_text *text, const char *key, const char *value) {
    mc_text_add(text, ",\"%s\":", key);
    mc_text_quoted(text, value);
}

static void add_count(mc_text *text, const char *key, int64_t value) {
    mc_text_add(text, ",\"%s\":%lld", key, (long long)value);
}

static void add_parts(mc_text *text, const mercer_search *s, int64_t i) {
    mc_text_add(text, ",\"parts\":[");
    for (int64_t k = 0; k < s->parts && s->rows[i]; k++) {
        const double v = s->value[i * (s->parts + 1) + 1 + k];
        if (k)
            mc_text_bytes(text, ",", 1);
        if (isfinite(v))
            mc_text_number(text, v);
        else
            mc_text_add(text, "null");
    }
    mc_text_bytes(text, "]", 1);
}

static void add_candidate(mc_text *text, const mercer_search *s, int64_t i) {
    const mercer_candidate c = mercer_search_candidate(s, i);
    mc_text_add(text, "%s{\"kernel\":", i ? "," : "");
    mc_text_quoted(text, c.kernel);
    add_text(text, "settings", c.settings);
    mc_text_field(text, "score", c.score);
    mc_text_field(text, "standard_error", c.error);
    add_count(text, "rows", c.rows);
    add_parts(text, s, i);
    mc_text_bytes(text, "}", 1);
}

mercer_status mc_search_record(mercer_ctx *ctx, mercer_search *s) {
    const mercer_tune_report *r = &s->report;
    mc_text text = mc_text_open(ctx);
    mc_text_add(&text, "{\"machine\":");
    mc_text_quoted(&text, s->machine->name);
    add_text(&text, "score", r->score);
    mc_text_add(&text, ",\"larger_is_better\":%s", r->larger_is_better ? "true" : "false");
    add_text(&text, "splits", r->splits);
    add_text(&text, "stopped", r->stopped);
    mc_text_add(&text, ",\"halved\":%s", r->halved ? "true" : "false");
    add_count(&text, "count", s->space.count);
    add_count(&text, "measured", r->measured);
    add_count(&text, "best", r->best);
    add_count(&text, "first", r->first);
    add_count(&text, "within_one_error", r->within);
    mc_text_field(&text, "share_of_draws", r->share);
    mc_text_add(&text, ",\"candidates\":[");
    for (int64_t i = 0; i < s->space.count; i++)
        add_candidate(&text, s, i);
    mc_text_add(&text, "]}");
    return mc_text_take(&text, &s->json);
}

/* default_kernel.c: the kernel of data for which nobody has named one: rbf of the columns and, for every column of free
   text that was found while reading, spectrum of it, normalised so that all weigh the same. */
#include "base/ctx.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "data/table/data.h"
#include "kernel/language/parse.h"
#include <ctype.h>

/* A name that the language reads without quotes. */
static bool is_plain_name(const char *name) {
    bool plain = name && isalpha((unsigned char)name[0]);
    for (const char *p = name; plain && *p; p++)
        plain = isalnum((unsigned char)*p) || *p == '_';
    return plain;
}

/* By name, or by its place in the file. */
static void add_spectrum(mc_text *text, const mercer_data *data, int64_t k, const char *p) {
    const char *name = mc_data_text_name(data, k);
    mc_text_add(text, "%snormalize(spectrum(p=%s)[", text->length ? " + " : "", p);
    if (is_plain_name(name))
        mc_text_add(text, "%s])", name);
    else
        mc_text_add(text, "%lld])", (long long)mc_data_text_place(data, k) + 1);
}

mercer_status mc_kernel_default(mercer_ctx *ctx, const mercer_data *data, const char *p, mercer_kernel **out) {
    mc_text text = mc_text_open(ctx);
    char *words = NULL;
    for (int64_t k = 0; data->reads_texts && k < data->texts; k++)
        add_spectrum(&text, data, k, p);
    if (data->d > 0 || text.length == 0)
        mc_text_add(&text, "%srbf", text.length ? " + " : "");
    MC_TRY(mc_text_take(&text, &words));
    const mercer_status status = mc_kernel_parse(ctx, words, (mc_users){0}, out);
    mc_free(words);
    return status;
}

mercer_status mercer_kernel_default(mercer_ctx *ctx, const mercer_data *data, mercer_kernel **out) {
    MC_CLEAR(out);
    MC_NEED(ctx, data, out);
    mc_begin_call(ctx);
    return mc_kernel_default(ctx, data, "3", out);
}

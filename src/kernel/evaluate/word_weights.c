/* word_weights.c: the weights of words, from texts and from the canonical text of a kernel. Both go through the string
   that is printed, so that a kernel that was read back has the same bits. */
#include "kernel/evaluate/word_weights.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/text.h"
#include "kernel/evaluate/feature_numbering.h"
#include "kernel/evaluate/spectrum_kernel.h"
#include "kernel/language/node.h"
#include <math.h>
#include <string.h>

static uint64_t key_of(const char *word, size_t length) {
    uint64_t key = 0;
    for (size_t i = 0; i < length; i++)
        key = key * MC_LONG_BASE + (unsigned char)word[i];
    return mc_part_hash(key);
}

/* ---- The table ---- */

/* The row of the word, or the free one where it belongs. */
static double *row_of(const mc_value *words, const char *word, size_t length) {
    uint64_t s = key_of(word, length) & (uint64_t)(words->rows - 1);
    for (;; s = (s + 1) & (uint64_t)(words->rows - 1)) {
        double *row = &words->numbers[2 * s];
        const char *known = row[0] > 0 ? words->file + (int64_t)row[0] - 1 : NULL;
        if (!known || (strncmp(known, word, length) == 0 && known[length] == ':'))
            return row;
    }
}

double mc_word_weight(const mc_node *tfidf, const char *word, size_t length) {
    const mc_value *words = &tfidf->parameter[MC_TFIDF_WORDS];
    return words->kind == MC_VALUE_WORDS ? row_of(words, word, length)[1] : 0;
}

/* "word:12 " at `at`: the word, its number and where the next begins; false: that is something else. */
static bool read_entry(const char **at, mc_word *word, double *count) {
    *word = mc_word_next(*at);
    const char *digit = word->at + word->length;
    if (word->at != *at || word->length == 0 || *digit++ != ':' || *digit < '1' || *digit > '9')
        return false;
    for (*count = 0; *digit >= '0' && *digit <= '9'; digit++)
        *count = 10 * *count + (*digit - '0');
    *at = digit + (*digit == ' ');
    return *digit == ' ' ? digit[1] != '\0' : *digit == '\0';
}

static bool word_follows(const mc_word *before, const mc_word *word) {
    const size_t least = before->length < word->length ? before->length : word->length;
    const int order = before->at ? memcmp(before->at, word->at, least) : -1;
    return order < 0 || (order == 0 && before->length < word->length);
}

/* The place in the string where it is wrong; NULL: it is as it is printed. */
static const char *first_fault(const char *list, double texts, int64_t *count) {
    mc_word before = {0}, word;
    double number = 0;
    for (*count = 0; *list; ++*count, before = word) {
        const char *at = list;
        if (!read_entry(&list, &word, &number) || number > texts || !word_follows(&before, &word))
            return at;
    }
    return NULL;
}

/* Of a string without a fault. */
static mercer_status fill_table(mercer_ctx *ctx, double texts, int64_t count, mc_value *words) {
    mc_word word;
    double number = 0;
    int64_t slots = 2;
    while (slots < 2 * count)
        slots *= 2;
    MC_TRY(MC_ALLOC(ctx, words->numbers, 2 * slots));
    words->rows = slots;
    words->columns = 2;
    for (const char *at = words->file; *at;) {
        read_entry(&at, &word, &number);
        double *row = row_of(words, word.at, word.length);
        row[0] = (double)(word.at - words->file + 1);
        row[1] = 1 + log((1 + texts) / (1 + number));
    }
    words->kind = MC_VALUE_WORDS;
    return MERCER_OK;
}

/* ---- From texts ---- */

/* In how many of the texts each word is. */
typedef struct tally {
    mc_feature_numbering numbering;
    double *count; /* as long as the capacity */
    int64_t capacity, text;
} tally;

static mercer_status count_word(void *arg, const mc_text_feature *feature) {
    tally *t = arg;
    int32_t id;
    MC_TRY(mc_number_features(&t->numbering, feature, 1, &id));
    if (t->capacity < t->numbering.capacity) {
        double *grown = mc_grow_block(t->numbering.ctx, t->count, t->numbering.capacity, sizeof *grown);
        MC_TRY(grown ? MERCER_OK : MERCER_MEMORY);
        t->count = grown;
        t->capacity = t->numbering.capacity;
    }
    mc_numbered_feature *entry = &t->numbering.entry[id];
    if (entry->last_seen < 0)
        t->count[id] = 0;
    t->count[id] += entry->last_seen < t->text;
    entry->last_seen = t->text;
    return MERCER_OK;
}

static int compare_words(const void *arg, int64_t a, int64_t b) {
    const mc_numbered_bytes *word = arg;
    const size_t least = word[a].length < word[b].length ? word[a].length : word[b].length;
    const int order = memcmp(word[a].at, word[b].at, least);
    return order ? order : word[a].length < word[b].length ? -1 : 1;
}

static mercer_status write_words(mercer_ctx *ctx, const tally *t, char **out) {
    const int64_t n = t->numbering.count;
    int64_t *order = NULL;
    MC_TRY(MC_ALLOC(ctx, order, 2 * n));
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    mc_sort(order, order + n, n, compare_words, t->numbering.bytes);
    mc_text list = mc_text_open(ctx);
    for (int64_t i = 0; i < n; i++) {
        const mc_numbered_bytes *word = &t->numbering.bytes[order[i]];
        mc_text_string(&list, i ? " " : "");
        mc_text_bytes(&list, word->at, (int64_t)word->length);
        mc_text_add(&list, ":%.0f", t->count[order[i]]);
    }
    mc_free(order);
    return mc_text_take(&list, out);
}

static mercer_status count_words(mercer_ctx *ctx, const mc_node *tfidf, const mercer_data *data, int64_t text,
                                 tally *t) {
    t->numbering.ctx = ctx;
    for (t->text = 0; t->text < data->n; t->text++)
        MC_TRY(mc_text_features(tfidf, data->text[t->text * data->texts + text], count_word, t));
    return MERCER_OK;
}

mercer_status mc_word_weights_bind(mercer_ctx *ctx, mc_node *tfidf, const mercer_data *data, int64_t text) {
    mc_value *words = &tfidf->parameter[MC_TFIDF_WORDS], *texts = &tfidf->parameter[MC_TFIDF_TEXTS];
    if (words->kind == MC_VALUE_WORDS)
        return MERCER_OK;
    tally t = {0};
    mercer_status status = count_words(ctx, tfidf, data, text, &t);
    MC_THEN(status, write_words(ctx, &t, &words->file));
    MC_THEN(status, fill_table(ctx, (double)data->n, t.numbering.count, words));
    texts->kind = MC_VALUE_NUMBER;
    texts->number = (double)data->n;
    mc_close_numbering(&t.numbering);
    mc_free(t.count);
    return status;
}

/* ---- From the language ---- */

static mercer_status parse_words(mc_parser *p, mc_node *tfidf) {
    mc_value *words = &tfidf->parameter[MC_TFIDF_WORDS];
    int64_t count = 0;
    const int64_t offset = p->lexer.token.offset;
    if (p->lexer.token.kind != MC_TOKEN_STRING)
        return mc_lex_unexpected(&p->lexer, "words and in how many texts each is, as \"the:523 of:411\"");
    MC_TRY(mc_lex_string(&p->lexer, &words->file));
    const double texts = tfidf->parameter[MC_TFIDF_TEXTS].number;
    const char *fault = first_fault(words->file, texts, &count);
    if (fault)
        return mc_lex_fail(&p->lexer, offset,
                           "tfidf's words must be as it prints them, each once, in the order of their bytes and in at "
                           "most %.0f texts; see \"%.40s\"",
                           texts, fault);
    return fill_table(p->lexer.ctx, texts, count, words);
}

static mercer_status parse_named(mc_parser *p, const char *name) {
    if (!mc_lex_name_is(&p->lexer, name))
        return mc_lex_unexpected(&p->lexer, "texts= and words=, which come from the data and are for models");
    mc_lex_next(&p->lexer);
    return mc_lex_expect(&p->lexer, '=', "'='");
}

mercer_status mc_parse_tfidf(mc_parser *p, mc_node **out) {
    MC_TRY(mc_node_make_atom(p->lexer.ctx, MC_TFIDF, p->lexer.token.offset, out));
    mc_value *texts = &(*out)->parameter[MC_TFIDF_TEXTS];
    mc_lex_next(&p->lexer);
    if (!mc_lex_take(&p->lexer, '(') || mc_lex_take(&p->lexer, ')'))
        return MERCER_OK;
    MC_TRY(parse_named(p, "texts"));
    const int64_t offset = p->lexer.token.offset;
    MC_TRY(mc_parse_number(p, &texts->number));
    texts->kind = MC_VALUE_NUMBER;
    if (!(texts->number >= 1 && texts->number <= 0x1p53 && texts->number == floor(texts->number)))
        return mc_lex_fail(&p->lexer, offset, "tfidf's texts must be a whole number above 0, got %g", texts->number);
    MC_TRY(mc_lex_expect(&p->lexer, ',', "','"));
    MC_TRY(parse_named(p, "words"));
    MC_TRY(parse_words(p, *out));
    return mc_lex_expect(&p->lexer, ')', "')'");
}

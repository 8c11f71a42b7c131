/* cell.c: CSV cells after RFC 4180: a field may stand in double quotes and then hold delimiters, newlines and doubled
   quotes. Beyond the RFC, spaces around a field are dropped where it is a number or a name; text that is kept has them.
   */
#include "data/csv/cell.h"
#include "base/number.h"
#include <math.h>

static bool is_space(char c, char delimiter) {
    return c == ' ' || c == '\r' || (c == '\t' && delimiter != '\t');
}

static const char *fault_in_cell(mc_cell *cell, mc_cell_fault which, const char *place) {
    *cell = (mc_cell){.begin = place, .end = place, .fault = which};
    return place;
}

/* p: after the opening quote. */
static const char *scan_quoted(const char *p, const char *end, char delimiter, mc_cell *cell) {
    const char *open = p;
    while ((p = p < end ? memchr(p, '"', (size_t)(end - p)) : NULL) && p + 1 < end && p[1] == '"')
        p += 2;
    if (!p)
        return fault_in_cell(cell, MC_CELL_OPEN_QUOTE, open - 1);
    *cell = (mc_cell){.begin = open, .end = p++, .quoted = true};
    while (p < end && is_space(*p, delimiter))
        p++;
    return p >= end || *p == delimiter || *p == '\n' ? p : fault_in_cell(cell, MC_CELL_AFTER_QUOTE, p);
}

const char *mc_cell_scan(const char *p, const char *end, char delimiter, mc_cell *cell) {
    const char *const from = p;
    while (p < end && is_space(*p, delimiter))
        p++;
    if (p < end && *p == '"')
        return scan_quoted(p + 1, end, delimiter, cell);
    const char *stop = p;
    for (; stop < end && *stop != delimiter && *stop != '\n'; stop++)
        if (*stop == '"')
            return fault_in_cell(cell, MC_CELL_STRAY_QUOTE, stop);
    const char *last = stop;
    while (last > p && is_space(last[-1], delimiter))
        last--;
    const char *inside = last > p ? memchr(p, '\r', (size_t)(last - p)) : NULL;
    if (inside)
        return fault_in_cell(cell, MC_CELL_RETURN, inside);
    const bool returns = stop > from && stop[-1] == '\r' && (stop == end || *stop == '\n');
    *cell = (mc_cell){.begin = p, .end = last, .from = from, .to = stop - returns};
    return stop;
}

mc_cell mc_cell_untrimmed(const mc_cell *cell) {
    return cell->quoted ? *cell : (mc_cell){.begin = cell->from, .end = cell->to};
}

/* Whether the cell is this word, in any case. */
static bool is_word(const mc_cell *cell, const char *word) {
    const size_t length = (size_t)(cell->end - cell->begin);
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        const char c = cell->begin[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != word[i])
            return false;
    }
    return true;
}

static bool is_any(const mc_cell *cell, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_word(cell, words[i]))
            return true;
    return false;
}

mc_cell_kind mc_cell_read(const mc_cell *cell, double *value) {
    static const char *const missing[] = {"na", "nan", "null", "?"};
    static const char *const infinite[] = {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"};
    if (cell->begin == cell->end)
        return MC_CELL_MISSING;
    if (mc_number_read(cell->begin, cell->end, value) == cell->end)
        return isinf(*value) ? MC_CELL_INFINITE : MC_CELL_NUMBER;
    if (!cell->quoted && is_any(cell, missing, sizeof missing / sizeof missing[0]))
        return MC_CELL_MISSING;
    return is_any(cell, infinite, sizeof infinite / sizeof infinite[0]) ? MC_CELL_INFINITE : MC_CELL_TEXT;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool mc_cell_has_commas(const mc_cell *cell) {
    const char *p = cell->begin;
    p += p < cell->end && (*p == '-' || *p == '+');
    if (p >= cell->end || !is_digit(*p) || !is_digit(cell->end[-1]))
        return false;
    int commas = 0, points = 0;
    for (; p < cell->end && (is_digit(*p) || *p == ',' || *p == '.'); p++) {
        commas += *p == ',';
        points += *p == '.';
    }
    return p == cell->end && commas > 0 && points < 2;
}

int64_t mc_cell_copy(const mc_cell *cell, char *out) {
    char *to = out;
    for (const char *p = cell->begin; p < cell->end;) {
        *to++ = *p;
        p += cell->quoted && *p == '"' ? 2 : 1; /* a doubled quote */
    }
    *to = '\0';
    return to - out;
}

void mc_cell_text(const mc_cell *cell, mc_text *text) {
    text->length = 0;
    mc_text_bytes(text, cell->begin, cell->end - cell->begin);
    if (!text->status)
        text->length = mc_cell_copy(cell, text->bytes);
}

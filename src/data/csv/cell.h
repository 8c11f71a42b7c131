/* cell.h: one cell of CSV text, and how cells that are not plain numbers are kept among doubles. */
#ifndef MC_DATA_CSV_CELL_H
#define MC_DATA_CSV_CELL_H

#include "base/text.h"
#include <string.h>

typedef enum mc_cell_kind {
    MC_CELL_NUMBER,
    MC_CELL_MISSING,
    MC_CELL_INFINITE,
    MC_CELL_TEXT,
    MC_CELL_LONG /* a number in place of a name, which its double would not tell from others */
} mc_cell_kind;
enum { MC_CELL_KINDS = 5 };
typedef enum mc_cell_fault {
    MC_CELL_GOOD,
    MC_CELL_STRAY_QUOTE,
    MC_CELL_OPEN_QUOTE,
    MC_CELL_AFTER_QUOTE,
    MC_CELL_RETURN /* inside a field: the end of a line for some, and then the whole file is one line */
} mc_cell_fault;

/* What stands between two delimiters, without the spaces around it or the quotes. */
typedef struct mc_cell {
    const char *begin, *end;
    const char *from, *to; /* with the spaces, where there are no quotes */
    bool quoted;           /* doubled quotes may stand inside */
    mc_cell_fault fault;
} mc_cell;

/* The cell that begins at p; returns the delimiter or newline after it. A newline stands at end. On a fault begin is
 * its place. */
const char *mc_cell_scan(const char *p, const char *end, char delimiter, mc_cell *cell);
/* Number: *value is it. Missing: empty, NA, NaN, null or ?, in any case, without quotes (empty: with or without).
   Infinite: inf or infinity in any case, or a number past the largest double. */
mc_cell_kind mc_cell_read(const mc_cell *cell, double *value);
/* The cell as text that is kept: what stands in the quotes, or all there is between the delimiters. */
mc_cell mc_cell_untrimmed(const mc_cell *cell);
/* Digits with commas among them, such as 1,5 or 1,234.5: a number to a person, text by the rules. */
bool mc_cell_has_commas(const mc_cell *cell);
/* The content, doubled quotes halved and a zero after it, to out, which holds end - begin + 1 bytes; returns its
 * length. */
int64_t mc_cell_copy(const mc_cell *cell, char *out);
/* The same, in place of what text held. */
void mc_cell_text(const mc_cell *cell, mc_text *text);

/* A cell that is not a finite number is kept as a NaN with its kind in bits 48 to 50 and its place in the file below
 * them. */
static inline double mc_cell_box(mc_cell_kind kind, int64_t place) {
    const uint64_t bits = (uint64_t)0xfff8 << 48 | (uint64_t)kind << 48 | (uint64_t)place;
    double box;
    memcpy(&box, &bits, sizeof box);
    return box;
}

static inline mc_cell_kind mc_cell_kind_of(double box) {
    uint64_t bits;
    memcpy(&bits, &box, sizeof bits);
    return bits >> 51 == 0x1fff ? (mc_cell_kind)(bits >> 48 & 7) : MC_CELL_NUMBER;
}

static inline int64_t mc_cell_place(double box) {
    uint64_t bits;
    memcpy(&bits, &box, sizeof bits);
    return (int64_t)(bits & 0xffffffffffffu);
}

#endif

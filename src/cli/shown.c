/* shown.c: bytes from files and command lines as a terminal can have them. Labels, column names and file names are
   whatever somebody wrote: an escape sequence among them would move the cursor, change colours or retitle the window,
   and a newline could pass for a row of a report. UTF-8 stays as it is, but for controls and marks that change the
   direction of what follows. */
#include "cli.h"
#include <string.h>

/* Length of the UTF-8 character at p, its value in *code; 0: there is none. */
static int utf8_at(const unsigned char *p, const unsigned char *end, uint32_t *code) {
    static const struct {
        unsigned char mask, is;
        uint32_t least;
    } heads[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    int length = 1;
    while (length <= 4 && (p[0] & heads[length - 1].mask) != heads[length - 1].is)
        length++;
    if (length > 4 || end - p < length)
        return 0;
    *code = p[0] & (uint32_t)(unsigned char)~heads[length - 1].mask;
    for (int k = 1; k < length; k++) {
        if ((p[k] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (p[k] & 0x3F);
    }
    const bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return *code < heads[length - 1].least || *code > 0x10FFFF || surrogate ? 0 : length;
}

/* C0, DEL and C1; embeddings, overrides and isolates of direction; separators of lines and paragraphs. */
static bool is_control(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

void show_bytes(FILE *out, const char *bytes, size_t size, const char *keep) {
    const unsigned char *p = (const unsigned char *)bytes, *end = p + size;
    for (int length = 0; p < end; p += length ? length : 1) {
        uint32_t code = 0;
        length = utf8_at(p, end, &code);
        if (length == 0)
            fprintf(out, "\\x%02x", *p);
        else if (!is_control(code) || (code && code < 0x80 && strchr(keep, (int)code)))
            fwrite(p, 1, (size_t)length, out);
        else
            fprintf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    }
}

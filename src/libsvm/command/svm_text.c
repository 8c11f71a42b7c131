/* svm_text.c: LIBSVM text as LIBSVM's own programs read it: labels and values are all that strtod takes, an index
   may be 0, zeros are kept, and every line is a row. (Mercer's reader, data/libsvm, makes tables of it.) */
#include "libsvm/command/svm_command.h"
#include "base/number_fast.h"
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PAD = 64 };

static void *room_for(void *block, size_t size) {
    void *made = realloc(block, size);
    if (!made)
        svm_command_fail("can't allocate enough memory");
    return made;
}

static char *read_bytes(const char *path, const char *cannot_open, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 1 << 16;
    if (!file)
        svm_command_fail(cannot_open, path);
    *size = 0;
    for (size_t got = 1; got > 0; *size += got) {
        bytes = room_for(bytes, (room += room / 2) + PAD);
        got = fread(bytes + *size, 1, room - *size, file);
    }
    if (ferror(file))
        svm_command_fail(cannot_open, path);
    fclose(file);
    memset(bytes + *size, 0, PAD);
    return bytes;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* A number that ends where the word does; a line may end in other white space. */
static bool read_number(const char *p, const char *end, double *out) {
    const char *after = mc_number_fast(p, end, out);
    if (after && (after >= end || isspace((unsigned char)*after)))
        return true;
    char *stop = NULL;
    errno = 0;
    *out = strtod(p, &stop);
    return stop != p && stop <= end && !errno && (stop == end || isspace((unsigned char)*stop));
}

typedef struct text_rows {
    svm_text text;
    int64_t rows, row_room, node_room;
    int64_t *begin; /* of each row among the nodes */
} text_rows;

static void add_node(text_rows *r, int64_t *count, int index, double value) {
    if (*count == r->node_room) {
        r->node_room += r->node_room / 2 + 1024;
        r->text.nodes = room_for(r->text.nodes, (size_t)r->node_room * sizeof *r->text.nodes);
    }
    r->text.nodes[(*count)++] = (struct svm_node){index, value};
}

static void add_row(text_rows *r, int64_t begin, double label) {
    if (r->rows == r->row_room) {
        r->row_room += r->row_room / 2 + 256;
        r->begin = room_for(r->begin, (size_t)r->row_room * sizeof *r->begin);
        r->text.problem.y = room_for(r->text.problem.y, (size_t)r->row_room * sizeof *r->text.problem.y);
    }
    r->begin[r->rows] = begin;
    r->text.problem.y[r->rows++] = label;
}

/* The pairs of a line, in [p, end). */
static bool read_pairs(text_rows *r, const char *p, const char *end, int64_t *count) {
    int last = -1;
    for (;;) {
        while (p < end && is_blank(*p))
            p++;
        const char *colon = memchr(p, ':', (size_t)(end - p));
        if (!colon)
            return true; /* what else there is has no value and says nothing */
        char *stop = NULL;
        double value;
        errno = 0;
        const long index = strtol(p, &stop, 10);
        if (stop == p || stop != colon || errno || index <= last || index > INT_MAX - 1)
            return false;
        for (p = colon + 1; p < end && is_blank(*p);)
            p++;
        const char *word = p;
        while (p < end && !is_blank(*p))
            p++;
        if (word == p || !read_number(word, p, &value))
            return false;
        last = (int)index;
        add_node(r, count, last, value);
        r->text.listed++;
        r->text.most_index = last > r->text.most_index ? last : r->text.most_index;
    }
}

static bool read_line(text_rows *r, const char *p, const char *end, int64_t *count) {
    const int64_t begin = *count;
    double label;
    while (p < end && isspace((unsigned char)*p))
        p++;
    const char *word = p;
    while (p < end && !is_blank(*p))
        p++;
    if (word == p || !read_number(word, p, &label) || !read_pairs(r, p, end, count))
        return false;
    add_node(r, count, -1, 0);
    add_row(r, begin, label);
    return true;
}

static void finish_rows(text_rows *r) {
    if (r->rows > INT_MAX)
        svm_command_fail("more rows than an int can count");
    r->text.problem.l = (int)r->rows;
    r->text.problem.x = room_for(NULL, (size_t)(r->rows + 1) * sizeof *r->text.problem.x);
    for (int64_t i = 0; i < r->rows; i++)
        r->text.problem.x[i] = r->text.nodes + r->begin[i];
    free(r->begin);
}

svm_text svm_text_read(const char *path, const char *cannot_open, const char *wrong) {
    text_rows r = {0};
    size_t size;
    int64_t count = 0;
    char *bytes = read_bytes(path, cannot_open, &size);
    for (const char *p = bytes, *const end = bytes + size; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        if (!read_line(&r, p, stop, &count))
            svm_command_fail(wrong, (int)r.rows + 1);
        p = stop + 1;
    }
    free(bytes);
    finish_rows(&r);
    return r.text;
}

void svm_text_free(svm_text *text) {
    free(text->problem.x);
    free(text->problem.y);
    free(text->nodes);
    *text = (svm_text){0};
}

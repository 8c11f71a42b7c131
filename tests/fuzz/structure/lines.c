/* lines.c: see lines.h. */
#include "lines.h"
#include <stdio.h>
#include <string.h>

enum { LINES = 32, WIDTH = 160 };

const char *const libsvm_texts[LIBSVM_TEXTS] = {
    "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n1 1:0.5 "
    "3:1\n-1 2:1\n",
    "svm_type epsilon_svr\nkernel_type linear\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:0.5 3:1\n",
    "svm_type one_class\nkernel_type sigmoid\ngamma 0.5\ncoef0 0\nnr_class 2\ntotal_sv 1\nrho 0.5\nSV\n1 1:0.5 3:1\n",
    "svm_type c_svc\nkernel_type linear\nnr_class 1\ntotal_sv 0\nlabel 7\nSV\n",
    "svm_type nu_svc\nkernel_type polynomial\ndegree 3\ngamma 0.5\ncoef0 1\nnr_class 3\ntotal_sv 3\nrho 0.5 1 2\nlabel "
    "1 2 3\n"
    "probA 1 2 3\nprobB 1 2 3\nnr_sv 1 1 1\nSV\n1 2 1:0.5 3:1\n-1 1 2:1\n1 -2 3:1\n",
};

typedef struct lines {
    int count;
    char line[LINES][WIDTH];
} lines;

static void split(const char *text, lines *out) {
    out->count = 0;
    for (; *text && out->count < LINES; text += strcspn(text, "\n") + 1)
        snprintf(out->line[out->count++], WIDTH, "%.*s", (int)strcspn(text, "\n"), text);
}

static void insert(lines *l, int64_t at, const char *text) {
    char line[WIDTH]; /* it may be one of them */
    if (l->count == LINES)
        return;
    snprintf(line, sizeof line, "%s", text);
    memmove(l->line[at + 1], l->line[at], (size_t)(l->count++ - at) * WIDTH);
    snprintf(l->line[at], WIDTH, "%s", line);
}

/* One word of a line becomes another. */
static void change_word(mc_rng *rng, char *line) {
    static const char *const words[] = {
        "0",   "1",     "2",          "3",       "-1",           "30",     "0.5",         "1e308", "nan",    "inf",
        "1e9", "0:1",   "0:2",        "1:1",     "2147483647:1", "1e99:1", "precomputed", "rbf",   "linear", "nu_svr",
        "",    "c_svc", "4294967296", "1 2 3 4", "5:0",          "x"};
    char copy[WIDTH];
    size_t begin = (size_t)mc_rng_below(rng, (int64_t)strlen(line) + 1);
    while (begin > 0 && line[begin - 1] != ' ')
        begin--;
    const size_t end = begin + strcspn(line + begin, " ");
    snprintf(copy, sizeof copy, "%.*s%s%s", (int)begin, line, words[mc_rng_below(rng, sizeof words / sizeof *words)],
             line + end);
    snprintf(line, WIDTH, "%s", copy);
}

static void change(mc_rng *rng, lines *l) {
    lines other;
    split(libsvm_texts[mc_rng_below(rng, LIBSVM_TEXTS)], &other);
    const int64_t at = mc_rng_below(rng, l->count), from = mc_rng_below(rng, other.count);
    switch (mc_rng_below(rng, 6)) {
    case 0: memmove(l->line[at], l->line[at + 1], (size_t)(--l->count - at) * WIDTH); break;
    case 1: insert(l, at, other.line[from]); break;
    case 2: snprintf(l->line[at], WIDTH, "%s", other.line[from]); break;
    case 3: insert(l, mc_rng_below(rng, l->count), l->line[at]); break;
    default: change_word(rng, l->line[at]);
    }
    if (l->count == 0)
        insert(l, 0, "SV");
}

size_t mutate_lines(mc_rng *rng, char *out, size_t capacity) {
    lines l;
    size_t at = 0;
    split(libsvm_texts[mc_rng_below(rng, LIBSVM_TEXTS)], &l);
    for (int64_t k = 1 + mc_rng_below(rng, 4); k > 0; k--)
        change(rng, &l);
    for (int k = 0; k < l.count && at + WIDTH < capacity; k++)
        at += (size_t)snprintf(out + at, capacity - at, "%s\n", l.line[k]);
    return at;
}

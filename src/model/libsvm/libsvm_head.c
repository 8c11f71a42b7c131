/* libsvm_head.c: the head of a model file of LIBSVM: lines of "key value ..." in any order after nr_class, until "SV".
   Whatever the file says is checked against what it holds before memory is taken for it. Estimates of probabilities
   (probA, probB) are read for who asks for them; prob_density_marks are passed over. */
#include "model/libsvm/libsvm_head.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/print.h"
#include "base/status.h"
#include <math.h>
#include <string.h>

/* ---- Words ---- */

bool mc_libsvm_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(mc_libsvm_reader *r) {
    while (r->p < r->end && mc_libsvm_blank(*r->p))
        r->p++;
}

bool mc_libsvm_line_end(mc_libsvm_reader *r) {
    skip_blanks(r);
    return r->p >= r->end || *r->p == '\n';
}

mercer_status mc_libsvm_damaged(mercer_ctx *ctx, const mc_libsvm_reader *r, const char *what) {
    return mc_fail_line(ctx, r->input, r->p < r->end ? r->p : r->end, "the LIBSVM model is damaged: %s", what);
}

/* The next word on this line, its length 0 at the end of the line. */
static size_t read_word(mc_libsvm_reader *r, const char **out) {
    skip_blanks(r);
    *out = r->p;
    while (r->p < r->end && !mc_libsvm_blank(*r->p) && *r->p != '\n')
        r->p++;
    return (size_t)(r->p - *out);
}

mercer_status mc_libsvm_real(mercer_ctx *ctx, mc_libsvm_reader *r, double *out) {
    skip_blanks(r);
    const char *after = mc_number_read(r->p, r->end, out);
    if (!after || !isfinite(*out) || !(after >= r->end || mc_libsvm_blank(*after) || *after == '\n' || *after == ':'))
        return mc_libsvm_damaged(ctx, r, "a number was expected here");
    r->p = after;
    return MERCER_OK;
}

mercer_status mc_libsvm_whole(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t low, int64_t high, int64_t *out) {
    double value;
    const char *place = r->p;
    MC_TRY(mc_libsvm_real(ctx, r, &value));
    if (value != floor(value) || !(value >= (double)low && value <= (double)high)) {
        r->p = place;
        return mc_libsvm_damaged(ctx, r, "a whole number in range was expected here");
    }
    *out = (int64_t)value;
    return MERCER_OK;
}

static mercer_status read_choice(mercer_ctx *ctx, mc_libsvm_reader *r, const char *const *names, int count, int *out) {
    const char *text;
    const size_t length = read_word(r, &text);
    for (int k = 0; k < count; k++)
        if (strlen(names[k]) == length && memcmp(names[k], text, length) == 0) {
            *out = k;
            return MERCER_OK;
        }
    return mc_libsvm_damaged(ctx, r, "svm_type or kernel_type is none that LIBSVM has");
}

/* ---- The head ---- */

static mercer_status read_reals(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t count, double **out) {
    mc_free(*out);
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, *out, count));
    for (int64_t k = 0; k < count; k++)
        MC_TRY(mc_libsvm_real(ctx, r, &(*out)[k]));
    return MERCER_OK;
}

static mercer_status read_wholes(mercer_ctx *ctx, mc_libsvm_reader *r, int64_t low, int64_t high, int64_t **out) {
    mc_free(*out);
    *out = NULL;
    MC_TRY(MC_ALLOC(ctx, *out, r->head.classes));
    for (int64_t k = 0; k < r->head.classes; k++)
        MC_TRY(mc_libsvm_whole(ctx, r, low, high, &(*out)[k]));
    return MERCER_OK;
}

/* Each of so many things takes two bytes of the file at least: a count beyond that is a lie. */
static int64_t largest_count(const mc_libsvm_reader *r) {
    return r->input->size;
}

static mercer_status read_classes(mercer_ctx *ctx, mc_libsvm_reader *r) {
    MC_TRY(mc_libsvm_whole(ctx, r, 1, largest_count(r), &r->head.classes));
    r->decisions = r->head.classes * (r->head.classes - 1) / 2;
    return r->decisions <= largest_count(r) ? MERCER_OK : mc_libsvm_damaged(ctx, r, "it has more classes than bytes");
}

mercer_status mc_libsvm_skip_line(mc_libsvm_reader *r) {
    while (r->p < r->end && *r->p != '\n')
        r->p++;
    return MERCER_OK;
}

typedef enum header_key {
    TYPE,
    KERNEL,
    DEGREE,
    GAMMA,
    COEF0,
    CLASSES,
    VECTORS,
    RHO,
    LABEL,
    COUNT,
    PROB_A,
    PROB_B,
    MARKS,
    VECTORS_FOLLOW,
    KEYS
} header_key;
static const char *const keys[KEYS] = {"svm_type",           "kernel_type", "degree", "gamma", "coef0", "nr_class",
                                       "total_sv",           "rho",         "label",  "nr_sv", "probA", "probB",
                                       "prob_density_marks", "SV"};

static mercer_status read_value(mercer_ctx *ctx, mc_libsvm_reader *r, header_key k) {
    switch (k) {
    case TYPE: return read_choice(ctx, r, mc_libsvm_types, MC_LIBSVM_TYPES, &r->head.type);
    case KERNEL: return read_choice(ctx, r, mc_libsvm_kernels, MC_LIBSVM_KERNELS, &r->head.kernel);
    case DEGREE: return mc_libsvm_whole(ctx, r, 0, INT32_MAX, &r->head.degree);
    case GAMMA: return mc_libsvm_real(ctx, r, &r->head.gamma);
    case COEF0: return mc_libsvm_real(ctx, r, &r->head.coef0);
    case CLASSES: return read_classes(ctx, r);
    case VECTORS: return mc_libsvm_whole(ctx, r, 0, largest_count(r), &r->head.vectors);
    case RHO: return read_reals(ctx, r, r->decisions, &r->head.rho);
    case LABEL: return read_wholes(ctx, r, INT32_MIN, INT32_MAX, &r->head.label);
    case COUNT: return read_wholes(ctx, r, 0, largest_count(r), &r->head.count);
    case PROB_A: return read_reals(ctx, r, r->decisions, &r->head.probA);
    case PROB_B: return read_reals(ctx, r, r->decisions, &r->head.probB);
    default: return mc_libsvm_skip_line(r);
    }
}

static mercer_status read_line(mercer_ctx *ctx, mc_libsvm_reader *r, bool *vectors) {
    const char *text;
    const size_t length = read_word(r, &text);
    int k = 0;
    while (k < KEYS && (strlen(keys[k]) != length || memcmp(keys[k], text, length) != 0))
        k++;
    if (k == KEYS && length > 0) {
        r->p = text;
        return mc_libsvm_damaged(ctx, r, "this word is none that a model has");
    }
    *vectors = k == VECTORS_FOLLOW;
    if (length > 0 && r->seen & 1u << k)
        return mc_libsvm_damaged(ctx, r, "this word stood before: what it said then has been counted by");
    r->seen |= length > 0 ? 1u << k : 0;
    if ((k == RHO || k == LABEL || k == COUNT || k == PROB_A || k == PROB_B) && r->head.classes < 1)
        return mc_libsvm_damaged(ctx, r, "nr_class must stand before what is counted by it");
    if (length > 0)
        MC_TRY(read_value(ctx, r, (header_key)k));
    if (!mc_libsvm_line_end(r))
        return mc_libsvm_damaged(ctx, r, "the line goes on after its value");
    r->p += r->p < r->end;
    return MERCER_OK;
}

static bool counts_agree(const mc_libsvm_reader *r) {
    int64_t sum = 0;
    for (int64_t k = 0; k < r->head.classes; k++)
        sum += r->head.count[k];
    return sum == r->head.vectors;
}

/* What the kernel is made of is written by every program that writes models: a file without it has lost a line. */
static const char *missing_parameter(const mc_libsvm_reader *r) {
    static const struct {
        int kernel;
        header_key key;
    } needs[] = {{MC_LIBSVM_POLYNOMIAL, DEGREE}, {MC_LIBSVM_POLYNOMIAL, GAMMA}, {MC_LIBSVM_POLYNOMIAL, COEF0},
                 {MC_LIBSVM_RBF, GAMMA},         {MC_LIBSVM_SIGMOID, GAMMA},    {MC_LIBSVM_SIGMOID, COEF0}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].kernel == r->head.kernel && !(r->seen & 1u << needs[i].key))
            return keys[needs[i].key];
    return NULL;
}

mercer_status mc_libsvm_read_head(mercer_ctx *ctx, mc_libsvm_reader *r) {
    for (bool vectors = false; !vectors;) {
        if (r->p >= r->end)
            return mc_libsvm_damaged(ctx, r, "it ends before its support vectors (SV)");
        MC_TRY(read_line(ctx, r, &vectors));
    }
    const bool classes = r->head.type == MC_LIBSVM_C_SVC || r->head.type == MC_LIBSVM_NU_SVC;
    if (r->head.classes < 1 || (!r->head.rho && r->decisions > 0) || (!classes && r->head.classes != 2))
        return mc_libsvm_damaged(ctx, r, "nr_class or rho is missing or wrong");
    if (classes && (!r->head.label || (r->head.classes > 1 && (!r->head.count || !counts_agree(r)))))
        return mc_libsvm_damaged(ctx, r, "label or nr_sv is missing, or nr_sv does not add up to total_sv");
    if (missing_parameter(r)) {
        char text[64];
        mc_print(text, sizeof text, "%s, which its kernel needs, is missing", missing_parameter(r));
        return mc_libsvm_damaged(ctx, r, text);
    }
    return MERCER_OK;
}

bool mc_libsvm_is_model(const char *bytes, size_t size) {
    for (int k = 0; k < VECTORS_FOLLOW; k++) {
        const size_t length = strlen(keys[k]);
        if (size > length && memcmp(bytes, keys[k], length) == 0 && mc_libsvm_blank(bytes[length]))
            return true;
    }
    return false;
}

void mc_libsvm_head_free(mc_libsvm_head *head) {
    void *const arrays[] = {head->rho, head->probA, head->probB, head->label, head->count};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        mc_free(arrays[k]);
    *head = (mc_libsvm_head){0};
}

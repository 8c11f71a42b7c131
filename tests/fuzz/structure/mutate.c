/* mutate.c: see mutate.h. */
#include "mutate.h"
#include "model/file/crc64.h"
#include "model/file/format.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t size_of(const char *dtype) {
    return dtype[0] && dtype[1] == '3' ? 4 : dtype[0] == 'U' ? 1 : 8;
}

static int64_t bytes_of(const array *a) {
    const int64_t cells = a->shape[0] * (a->dims == 2 ? a->shape[1] : 1);
    return cells < 0 || cells > BYTES_MOST ? BYTES_MOST + 1 : cells * (int64_t)size_of(a->dtype);
}

/* ---- Apart ---- */

static bool take_field(const char *key, const json_t *value, field *out) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    const bool fits = text && strlen(text) < sizeof out->value && strlen(key) < sizeof out->key;
    if (fits) {
        snprintf(out->key, sizeof out->key, "%s", key);
        snprintf(out->value, sizeof out->value, "%s", text);
    }
    free(text);
    return fits;
}

static bool take_array(const char *name, const json_t *entry, const unsigned char *bytes, array *out) {
    const json_t *shape = json_object_get(entry, "shape");
    *out = (array){.dims = (int)json_array_size(shape), .shape = {0, 1}};
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->dtype, sizeof out->dtype, "%s", json_string_value(json_object_get(entry, "dtype")));
    for (int k = 0; k < out->dims; k++)
        out->shape[k] = json_integer_value(json_array_get(shape, (size_t)k));
    const int64_t size = bytes_of(out),
                  begin = json_integer_value(json_array_get(json_object_get(entry, "data_offsets"), 0));
    if (size > BYTES_MOST)
        return false;
    memcpy(out->bytes, bytes + begin, (size_t)size);
    return true;
}

bool parts_of(const unsigned char *bytes, size_t size, parts *out) {
    size_t length = 0;
    for (int i = 0; i < 8; i++)
        length |= (size_t)bytes[i] << 8 * i;
    json_t *root = size > 8 + length ? json_loadb((const char *)bytes + 8, length, 0, NULL) : NULL, *value;
    const char *key;
    bool good = root != NULL;
    out->fields = out->arrays = 0;
    json_object_foreach(json_object_get(root, "__metadata__"), key,
                        value) if (good && strcmp(key, "format") != 0 && strcmp(key, "checksum") != 0) good =
        out->fields < FIELDS_MOST && take_field(key, value, &out->field[out->fields++]);
    json_object_foreach(root, key, value) if (good && strcmp(key, "__metadata__") != 0) good =
        out->arrays < ARRAYS_MOST && take_array(key, value, bytes + 8 + length, &out->array[out->arrays++]);
    json_decref(root);
    return good;
}

static void copy_field(const field *from, field *to) {
    memcpy(to->key, from->key, sizeof to->key);
    memcpy(to->value, from->value, strlen(from->value) + 1);
}

/* What a larger shape reaches beyond is zero. */
static void copy_array(const array *from, array *to) {
    const int64_t size = bytes_of(from);
    memcpy(to, from, offsetof(array, bytes));
    memcpy(to->bytes, from->bytes, (size_t)(size > BYTES_MOST ? BYTES_MOST : size));
    if (size < BYTES_MOST)
        memset(to->bytes + size, 0, (size_t)(BYTES_MOST - size));
}

void parts_copy(const parts *from, parts *to) {
    to->fields = from->fields;
    to->arrays = from->arrays;
    for (int k = 0; k < from->fields; k++)
        copy_field(&from->field[k], &to->field[k]);
    for (int k = 0; k < from->arrays; k++)
        copy_array(&from->array[k], &to->array[k]);
}

/* ---- Together ---- */

static size_t add(char *out, size_t at, const char *format, const char *a, const char *b) {
    return at < FILE_MOST ? at + (size_t)snprintf(out + at, FILE_MOST - at, format, a, b) : at;
}

static size_t write_header(const parts *p, char *out) {
    size_t at = add(out, 0, "%s%s0000000000000000\"", MC_FORMAT_BEGIN MC_FORMAT_VERSION, MC_FORMAT_MIDDLE);
    int64_t offset = 0;
    for (int k = 0; k < p->fields; k++)
        at = add(out, at, ",\"%s\":%s", p->field[k].key, p->field[k].value);
    at = add(out, at, "%s%s", "}", "");
    for (int k = 0; k < p->arrays && at < FILE_MOST; k++) {
        const array *a = &p->array[k];
        char shape[64], offsets[64];
        snprintf(shape, sizeof shape, a->dims == 2 ? "[%lld,%lld]" : "[%lld]", (long long)a->shape[0],
                 (long long)a->shape[1]);
        snprintf(offsets, sizeof offsets, "[%lld,%lld]", (long long)offset, (long long)(offset + bytes_of(a)));
        at = add(out, at, ",\"%s\":{\"dtype\":\"%s\"", a->name, a->dtype);
        at = add(out, at, ",\"shape\":%s,\"data_offsets\":%s}", shape, offsets);
        offset += bytes_of(a);
    }
    return add(out, at, "%s%s", "}", "");
}

static void put_sum(unsigned char *bytes, size_t size) {
    char digits[MC_CHECKSUM_DIGITS + 1];
    static mc_crc64 fresh, crc;
    if (!fresh.table[0][1])
        mc_crc64_open(&fresh);
    crc = fresh;
    mc_crc64_add(&crc, bytes, size);
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)mc_crc64_value(&crc));
    memcpy(bytes + 8 + MC_CHECKSUM_PLACE, digits, MC_CHECKSUM_DIGITS);
}

size_t parts_join(const parts *p, unsigned char *out) {
    const size_t length = write_header(p, (char *)out + 8);
    size_t at = 8 + length;
    if (at >= FILE_MOST - 8)
        return 0;
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(length >> 8 * i);
    for (int k = 0; k < p->arrays; k++) {
        const int64_t size = bytes_of(&p->array[k]);
        if (size > BYTES_MOST || at + (size_t)size > FILE_MOST)
            return 0;
        memcpy(out + at, p->array[k].bytes, (size_t)size);
        at += (size_t)size;
    }
    put_sum(out, at);
    return at;
}

/* ---- Changes ---- */

#define PICK(rng, list) (list)[mc_rng_below((rng), (int64_t)(sizeof(list) / sizeof *(list)))]

static const char *const edges[] = {"\"0\"",
                                    "\"1\"",
                                    "\"2\"",
                                    "\"3\"",
                                    "\"4\"",
                                    "\"8\"",
                                    "\"-1\"",
                                    "\"4294967296\"",
                                    "\"9223372036854775807\"",
                                    "\"1e308\"",
                                    "\"-1e308\"",
                                    "\"1e-320\"",
                                    "\"nan\"",
                                    "\"inf\"",
                                    "\"-inf\"",
                                    "\"0.5\"",
                                    "\"\"",
                                    "\"x\"",
                                    "7",
                                    "null",
                                    "true",
                                    "[]",
                                    "{}",
                                    "\"*/ int x; /*\"",
                                    "\"a\\u001b[31mb\"",
                                    "\"<script>\""};
static const char *const machines[] = {"ridge",     "gp",       "svc",      "nu-svc",   "svr",        "nu-svr",
                                       "one-class", "lms",      "pca",      "knn",      "logistic",   "squared-hinge",
                                       "huber",     "quantile", "absolute", "own-loss", "svc|nu-svc", "perceptron"};
static const char *const solvers[] = {"cholesky",      "eigen",          "mixed",  "pcg",    "primal",
                                      "nystrom",       "fourier",        "smo",    "libsvm", "batch features",
                                      "sample stored", "batch streamed", "update", "dense",  "krylov",
                                      "rows",          "cholesky|pcg",   "magic"};
static const char *const forms[] = {"values", "pairs", "region", "neighbours", "regions"};
static const char *const kernels[] = {"linear",
                                      "rbf(gamma=1)",
                                      "poly(degree=2)",
                                      "poly(degree=3, c=1)",
                                      "precomputed",
                                      "spectrum(p=2)",
                                      "rbf(gamma=[1, 2, 3])",
                                      "form([[1, 0], [0, 1]])",
                                      "linear[1]",
                                      "linear[9]",
                                      "rbf(gamma=1)[2:3]",
                                      "0",
                                      "chi2(gamma=1)",
                                      "weigh(x[1], linear)",
                                      "exp(linear)",
                                      "cosine",
                                      "linear^2 + 1",
                                      "user(\\\"f\\\")",
                                      "rbf",
                                      "rbf(gamma=1..2)",
                                      "white",
                                      "periodic(period=1, length_scale=1)",
                                      "-linear",
                                      "1e308*linear",
                                      "normalize(linear + 0.1)",
                                      "spectrum(p=3) + linear",
                                      "linear*linear*linear",
                                      "poly(degree=1, c=0)"};
static const char *const lists[] = {"\"[]\"",
                                    "\"[\\\"a\\\"]\"",
                                    "\"[\\\"a\\\",\\\"a\\\"]\"",
                                    "\"[\\\"-1\\\",\\\"1\\\"]\"",
                                    "\"[\\\"1\\\",\\\"-1\\\"]\"",
                                    "\"[\\\"*/\\\",\\\"\\\\\\\"\\\"]\"",
                                    "\"[\\\"a\\\",\\\"b\\\",\\\"c\\\"]\"",
                                    "\"{}\"",
                                    "\"[1,2]\"",
                                    "\"[[]]\""};

static field *find(parts *p, const char *key) {
    for (int k = 0; k < p->fields; k++)
        if (strcmp(p->field[k].key, key) == 0)
            return &p->field[k];
    return NULL;
}

static void set_field(parts *p, const char *key, const char *value) {
    field *at = find(p, key);
    if (!at && p->fields < FIELDS_MOST) {
        at = &p->field[p->fields++];
        snprintf(at->key, sizeof at->key, "%s", key);
    }
    if (at)
        snprintf(at->value, sizeof at->value, "%s", value);
}

static void set_word(parts *p, const char *key, const char *word) {
    char quoted[128];
    snprintf(quoted, sizeof quoted, "\"%s\"", word);
    set_field(p, key, quoted);
}

static void drop_field(parts *p, int k) {
    memmove(&p->field[k], &p->field[k + 1], (size_t)(--p->fields - k) * sizeof(field));
}

static void drop_array(parts *p, int k) {
    memmove(&p->array[k], &p->array[k + 1], (size_t)(--p->arrays - k) * sizeof(array));
}

static void set_array(parts *p, const array *from) {
    for (int k = 0; k < p->arrays; k++)
        if (strcmp(p->array[k].name, from->name) == 0) {
            p->array[k] = *from;
            return;
        }
    if (p->arrays < ARRAYS_MOST)
        p->array[p->arrays++] = *from;
}

/* A count of the model with everything that seems to follow it. */
static void resize(mc_rng *rng, parts *p) {
    static const char *const counts[] = {"centres", "columns", "outputs", "features", "stored", "rows", "neighbors"};
    static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 17};
    const char *key = PICK(rng, counts);
    const field *at = find(p, key);
    const int64_t old = at ? strtoll(at->value + 1, NULL, 10) % 100 : -1, new = PICK(rng, sizes);
    char text[32];
    snprintf(text, sizeof text, "\"%lld\"", (long long)new);
    set_field(p, key, text);
    for (int k = 0; k < p->arrays; k++)
        for (int i = 0; i < p->array[k].dims; i++) {
            int64_t *dim = &p->array[k].shape[i];
            for (int64_t more = 0; more < 2; more++)
                if (*dim == old + more && mc_rng_below(rng, 8)) {
                    *dim = new + more;
                    break;
                }
        }
    const field *n = find(p, "centres"), *d = find(p, "columns"), *layout = find(p, "layout");
    if (n && d && layout && strcmp(layout->value, "\"dense\"") == 0 && mc_rng_below(rng, 8)) {
        snprintf(text, sizeof text, "\"%lld\"",
                 (long long)(strtoull(n->value + 1, NULL, 10) * strtoull(d->value + 1, NULL, 10)));
        set_field(p, "stored", text);
    }
}

static void change_number(mc_rng *rng, array *a) {
    static const double reals[] = {0, -0.0, 1, -1, 0.5, 1e308, -1e308, 5e-324, 1e-300, 1e16, 3, 1.0 / 0.0, 0.0 / 0.0};
    static const int64_t wholes[] = {0, 1, -1, 2, 3, 5, 8, INT64_MAX, INT64_MIN, INT32_MAX, (int64_t)1 << 32, 100};
    const size_t size = size_of(a->dtype);
    const int64_t count = bytes_of(a) / (int64_t)size;
    if (count < 1 || bytes_of(a) > BYTES_MOST)
        return;
    unsigned char *at = a->bytes + (size_t)mc_rng_below(rng, count) * size;
    const double real = PICK(rng, reals);
    const float single = (float)real;
    const int64_t whole = PICK(rng, wholes);
    if (a->dtype[0] == 'F')
        memcpy(at, size == 8 ? (const void *)&real : (const void *)&single, size);
    else
        memcpy(at, &whole, size);
}

/* A word inside a text: of lists, schemas and kernels. */
static void change_text(mc_rng *rng, field *at) {
    static const char *const pieces[] = {"\\\"number\\\"",
                                         "\\\"levels\\\"",
                                         "\\\"text\\\"",
                                         "\\\"target\\\"",
                                         "\\\"weight\\\"",
                                         "true",
                                         "false",
                                         "null",
                                         "[",
                                         "]",
                                         ",",
                                         "1",
                                         "0",
                                         "\\\\u0000",
                                         "1e999",
                                         "nan",
                                         "\\\"serial\\\":true,",
                                         "\\\"levels\\\":[]"};
    const size_t length = strlen(at->value), from = (size_t)mc_rng_below(rng, (int64_t)length + 1);
    const size_t cut = (size_t)mc_rng_below(rng, (int64_t)(length - from) + 1) % 12;
    const char *piece = mc_rng_below(rng, 3) ? PICK(rng, pieces) : "";
    if (length + strlen(piece) + 1 >= sizeof at->value)
        return;
    char rest[TEXT_MOST];
    snprintf(rest, sizeof rest, "%s", at->value + from + cut);
    snprintf(at->value + from, sizeof at->value - from, "%s%s", piece, rest);
}

static void graft(mc_rng *rng, parts *p, const parts *other) {
    static const char *const together[] = {"machine", "solver", "form",     "neighbors", "row",
                                           "box",     "primal", "features", "weighting"};
    for (size_t k = 0; k < sizeof together / sizeof *together; k++)
        for (int i = 0; i < other->fields; i++)
            if (strcmp(other->field[i].key, together[k]) == 0 && mc_rng_below(rng, 6))
                set_field(p, together[k], other->field[i].value);
}

static void change_array(mc_rng *rng, parts *p, const parts *other) {
    static const char *const dtypes[] = {"F64", "F32", "I64", "I32", "U8", "F16"};
    array *a = &p->array[mc_rng_below(rng, p->arrays)];
    const int64_t before = a->shape[0];
    switch (mc_rng_below(rng, 8)) {
    case 0: set_array(p, &other->array[mc_rng_below(rng, other->arrays)]); break;
    case 1: drop_array(p, (int)(a - p->array)); break;
    case 2: a->shape[mc_rng_below(rng, 2)] = mc_rng_below(rng, 12); break;
    case 3:
        a->shape[0] = a->shape[1];
        a->shape[1] = before;
        break;
    case 4: snprintf(a->dtype, sizeof a->dtype, "%s", PICK(rng, dtypes)); break;
    case 5:
        a->bytes[mc_rng_below(rng, BYTES_MOST) % (bytes_of(a) < 1 || bytes_of(a) > BYTES_MOST ? 1 : bytes_of(a))] ^=
            (unsigned char)(1 << mc_rng_below(rng, 8));
        break;
    default: change_number(rng, a);
    }
}

static void change_field(mc_rng *rng, parts *p, const parts *other) {
    const int k = (int)mc_rng_below(rng, p->fields), from = (int)mc_rng_below(rng, other->fields);
    switch (mc_rng_below(rng, 12)) {
    case 0: snprintf(p->field[k].value, TEXT_MOST, "%s", PICK(rng, edges)); break;
    case 1: set_field(p, other->field[from].key, other->field[from].value); break;
    case 2: snprintf(p->field[k].value, TEXT_MOST, "%s", other->field[from].value); break;
    case 3: drop_field(p, k); break;
    case 4:
        if (p->fields < FIELDS_MOST)
            p->field[p->fields++] = other->field[from];
        break;
    case 5: set_word(p, "machine", PICK(rng, machines)); break;
    case 6: set_word(p, "solver", PICK(rng, solvers)); break;
    case 7: set_word(p, "form", PICK(rng, forms)); break;
    case 8: set_word(p, "kernel", PICK(rng, kernels)); break;
    case 9:
        set_field(p, mc_rng_below(rng, 2) ? "labels" : mc_rng_below(rng, 2) ? "strings" : "names", PICK(rng, lists));
        break;
    case 10:
        set_word(p, mc_rng_below(rng, 2) ? "layout" : "scale", mc_rng_below(rng, 2) ? "sparse" : "standard");
        break;
    default: change_text(rng, &p->field[k]);
    }
}

static void change(mc_rng *rng, parts *p, const parts *other) {
    const int64_t what = mc_rng_below(rng, 20);
    if (what == 0) { /* the words of one file, the arrays of another */
        p->arrays = other->arrays;
        for (int k = 0; k < p->arrays; k++)
            copy_array(&other->array[k], &p->array[k]);
    } else if (what < 3) {
        graft(rng, p, other);
    } else if (what < 6) {
        resize(rng, p);
    } else if (what < 13 && p->arrays) {
        change_array(rng, p, other);
    } else if (p->fields) {
        change_field(rng, p, other);
    }
}

void mutate(mc_rng *rng, parts *p, const parts *others, int count) {
    for (int64_t changes = 1 + mc_rng_below(rng, 4); changes > 0; changes--)
        change(rng, p, &others[mc_rng_below(rng, count)]);
}

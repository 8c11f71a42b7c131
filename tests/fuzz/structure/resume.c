/* resume.c: checkpoints of fits and journals of searches that lie, with right hashes. What is taken up must end in an
   answer whose certificate is true, which the same fit without a checkpoint tells, or in a sentence.

     fuzz_resume [-n FILES] [-s SEED] [-o FILE]

   MERCER_FUZZ_MUTANTS and MERCER_TEST_SEED are other ways to say how many and the seed, which is a fresh one without.
   */
#include "../must.h"
#include "base/hash.h"
#include "base/rng.h"
#include "watch.h"
#include "zoo.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 56, PARTS = 4, SIZE_MOST = 1 << 16 };

/* A fit that keeps its work. */
typedef struct fit {
    const char *machine, *kernel;
    int set;
    int64_t iterations;
    mercer_model *clean; /* of a run that was left alone */
    unsigned char bytes[SIZE_MOST];
    size_t size;
} fit;

static fit fits[] = {{"svc", "rbf(gamma=0.5)", 2, 1000000, NULL, {0}, 0},
                     {"svc", "linear", 3, 1000000, NULL, {0}, 0},
                     {"svr", "rbf(gamma=0.5)", 0, 1000000, NULL, {0}, 0},
                     {"nu-svc", "rbf(gamma=0.5)", 2, 1000000, NULL, {0}, 0},
                     {"nu-svr", "linear", 1, 1000000, NULL, {0}, 0},
                     {"one-class", "rbf(gamma=0.5)", 0, 1000000, NULL, {0}, 0},
                     {"svc", "rbf(gamma=0.5)", 3, 2, NULL, {0}, 0},
                     {"ridge", "rbf(gamma=0.5)", 0, 0, NULL, {0}, 0},
                     {"ridge", "matern(nu=1.5, length_scale=1)", 3, 0, NULL, {0}, 0}};
enum { FITS = sizeof fits / sizeof *fits };
static char place[] = "/tmp/mercer-resume-XXXXXX", path[64];

/* ---- Files ---- */

static void write_file(const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "a file is written");
}

static size_t read_file(unsigned char *bytes) {
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, SIZE_MOST, file) : 0;
    if (file)
        fclose(file);
    return size;
}

/* As learn/common/checkpoint.c makes it, over parts of the sizes that the head says. */
static void put_hash(unsigned char *bytes, size_t size) {
    uint64_t hash = mc_hash(0, bytes, HEAD), part[PARTS];
    size_t at = HEAD;
    memcpy(part, bytes + 24, sizeof part);
    for (int k = 0; k < PARTS && at + part[k] + 8 <= size && part[k] <= size; at += part[k++])
        if (part[k])
            hash = mc_hash(hash, bytes + at, part[k]);
    memcpy(bytes + size - 8, &hash, 8);
}

static void change(mc_rng *rng, unsigned char *bytes, size_t size) {
    static const double reals[] = {0, 1, -1, 0.5, 1e308, -1e308, 5e-324, 1e-12, INFINITY, NAN};
    static const int64_t wholes[] = {0, 1, -1, 2, 3, 127, 128, 8192, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
    const size_t front = mc_rng_below(rng, 3) ? HEAD + (size_t)mc_rng_below(rng, 400)
                                              : 24 + (size_t)mc_rng_below(rng, (int64_t)size - 40);
    const size_t at = front / 8 * 8;
    const double real = reals[mc_rng_below(rng, sizeof reals / sizeof *reals)];
    const int64_t whole = wholes[mc_rng_below(rng, sizeof wholes / sizeof *wholes)];
    if (at + 16 > size)
        return;
    switch (mc_rng_below(rng, 4)) {
    case 0: memcpy(bytes + at, &real, 8); break;
    case 1: memcpy(bytes + at, &whole, 8); break;
    case 2: bytes[at + (size_t)mc_rng_below(rng, 8)] = (unsigned char)mc_rng_below(rng, 256); break;
    default: memmove(bytes + at, bytes + 8 * (size_t)mc_rng_below(rng, (int64_t)size / 8), 8);
    }
}

/* ---- Fits ---- */

static mercer_status run(mercer_ctx *ctx, const fit *f, const char *checkpoint, mercer_model **out) {
    mercer_svm svm = mercer_svm_defaults(f->machine);
    mercer_ridge ridge = mercer_ridge_defaults();
    mercer_data *data = zoo_data(ctx, f->set);
    mercer_kernel *kernel = NULL;
    svm.nu = svm.nu > 0 ? 0.3 : 0;
    svm.iterations = f->iterations;
    svm.checkpoint = ridge.checkpoint = checkpoint;
    ridge.solver = "pcg";
    must(!mercer_kernel_parse(ctx, f->kernel, &kernel), "a kernel");
    const void *settings = strcmp(f->machine, "ridge") ? (const void *)&svm : (const void *)&ridge;
    const mercer_status status = mercer_fit(ctx, f->machine, settings, kernel, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* Each of two duality gaps of one problem holds the optimum; two residuals bound how far two functions are apart. With
   nu, the problem that is certified follows from the answer. */
static void compare(mercer_ctx *ctx, const fit *f, const mercer_model *model) {
    if (strncmp(f->machine, "nu-", 3) == 0)
        return;
    const mercer_certificate a = mercer_model_report(f->clean)->certificate,
                             b = mercer_model_report(model)->certificate;
    if (strcmp(a.kind, "gap") == 0) {
        const double slack = a.rounding + b.rounding + 1e-8 * (fabs(a.primal) + fabs(b.primal));
        char text[240];
        snprintf(text, sizeof text, "a gap holds the optimum of %s: [%.17g, %.17g] and [%.17g, %.17g] beside %.3g",
                 f->machine, a.dual, a.primal, b.dual, b.primal, slack);
        must(!(b.dual > a.primal + slack) && !(a.dual > b.primal + slack), text);
        return;
    }
    mercer_data *data = zoo_data(ctx, f->set);
    double x[64], y[64];
    must(!mercer_predict(ctx, f->clean, data, x) && !mercer_predict(ctx, model, data, y), "it predicts");
    const double bound = a.prediction_error_bound + b.prediction_error_bound;
    for (int64_t i = 0; i < mercer_data_rows(data) * mercer_model_outputs(model); i++)
        must(!(fabs(x[i] - y[i]) > 1.01 * bound), "predictions are within their bounds");
    mercer_data_free(data);
}

static int64_t taken;

static void try_fit(mercer_ctx *ctx, mc_rng *rng) {
    static unsigned char bytes[SIZE_MOST];
    const fit *f = &fits[mc_rng_below(rng, FITS)];
    mercer_model *model = NULL;
    memcpy(bytes, f->bytes, f->size);
    for (int64_t k = 1 + mc_rng_below(rng, 3); k > 0; k--)
        change(rng, bytes, f->size);
    put_hash(bytes, f->size);
    write_file(bytes, f->size);
    const mercer_status status = run(ctx, f, path, &model);
    must(!status || strlen(mercer_message(ctx)) > 10, "a failure says why");
    taken += !status;
    if (model)
        compare(ctx, f, model);
    mercer_model_free(model);
}

/* ---- Searches ---- */

static char journal[SIZE_MOST];

static mercer_status search(mercer_ctx *ctx, mercer_search **out) {
    const char *const ranges[] = {"C=0.1..10", NULL};
    mercer_data *data = zoo_data(ctx, 3);
    mercer_kernel *kernel = NULL;
    mercer_tune how = mercer_tune_defaults();
    must(!mercer_kernel_parse(ctx, "rbf(gamma=0.1..1)", &kernel), "a kernel");
    const mercer_kernel *const kernels[] = {kernel};
    how.kernels = kernels;
    how.kernel_count = 1;
    how.ranges = ranges;
    how.points = 2;
    how.folds = 2;
    how.journal = path;
    const mercer_status status = mercer_tune_run(ctx, "svc", NULL, &how, data, out);
    mercer_kernel_free(kernel);
    mercer_data_free(data);
    return status;
}

/* Lines with other numbers, each with its check. */
static void try_search(mercer_ctx *ctx, mc_rng *rng) {
    static const char *const numbers[] = {
        "0", "1", "-1", "2", "1e308", "-1e308", "nan", "inf", "-inf", "9223372036854775807", "0.5", "x", ""};
    static char text[2 * SIZE_MOST];
    size_t at = strcspn(journal, "\n") + 1;
    memcpy(text, journal, at);
    for (const char *line = journal + at; *line; line += strcspn(line, "\n") + 1) {
        char word[4][64] = {"", "", "", ""}, made[300];
        if (sscanf(line, "%63s %63s %63s %63s", word[0], word[1], word[2], word[3]) < 4)
            break;
        if (!mc_rng_below(rng, 4))
            snprintf(word[mc_rng_below(rng, 4)], sizeof word[0], "%s",
                     numbers[mc_rng_below(rng, sizeof numbers / sizeof *numbers)]);
        snprintf(made, sizeof made, "%s %s %s %s", word[0], word[1], word[2], word[3]);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s %016llx\n", made,
                               (unsigned long long)mc_hash(0, made, strlen(made)));
    }
    mercer_search *found = NULL;
    write_file(text, at);
    const mercer_status status = search(ctx, &found);
    must(!status || strlen(mercer_message(ctx)) > 10, "a failure says why");
    taken += !status;
    mercer_search_free(found);
}

/* ---- All of it ---- */

static void open_all(mercer_ctx *ctx) {
    must(mkdtemp(place) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/state", place);
    for (int k = 0; k < FITS; k++) {
        mercer_model *model = NULL;
        const mercer_status status = run(ctx, &fits[k], "", &fits[k].clean);
        must(!status && !run(ctx, &fits[k], path, &model), mercer_message(ctx));
        fits[k].size = read_file(fits[k].bytes);
        must(fits[k].size > HEAD && fits[k].size < SIZE_MOST, "a checkpoint was left");
        compare(ctx, &fits[k], model); /* and the clean model has what it keeps between predictions */
        mercer_model_free(model);
        remove(path);
    }
    mercer_search *found = NULL;
    must(!search(ctx, &found), mercer_message(ctx));
    mercer_search_free(found);
    must(read_file((unsigned char *)journal) > 100, "a journal was left");
}

int main(int argc, char **argv) {
    const wishes w = read_wishes(argc, argv, 1000);
    mercer_ctx *ctx = zoo_context();
    open_all(ctx);
    watch_for(60);
    for (mutant = w.first; mutant < w.last && go_on(&w); mutant++) {
        mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, (uint64_t)mutant);
        const size_t before = mercer_memory_used(ctx);
        if (mc_rng_below(&rng, 8))
            try_fit(ctx, &rng);
        else
            try_search(ctx, &rng);
        must(mercer_memory_used(ctx) == before, "no block is left behind");
    }
    printf("%d fits, %lld files made of theirs, %lld taken up\n", FITS, (long long)(mutant - w.first),
           (long long)taken);
    for (int k = 0; k < FITS; k++)
        mercer_model_free(fits[k].clean);
    remove(path);
    rmdir(place);
    mercer_close(ctx);
    return 0;
}

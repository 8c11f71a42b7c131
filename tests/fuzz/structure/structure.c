/* structure.c: model files whose structure lies. Every specimen of the zoo is taken apart, changed and put together
   again with a right checksum; what the loader accepts is put through every verb. Whatever happens must be an answer or
   a sentence, under sanitizers.

     fuzz_structure [-n MUTANTS] [-t SECONDS] [-s SEED] [-o MUTANT] [-w FOLDER]

   MERCER_FUZZ_MUTANTS is another way to say how many, MERCER_TEST_SEED another way to say the seed, which is a fresh
   one without. -o: that mutant alone. -w: models that were accepted become files there, for the command (command.py).
   */
#include "../must.h"
#include "lines.h"
#include "model/libsvm/libsvm_model.h"
#include "mutate.h"
#include "verbs.h"
#include "watch.h"
#include <string.h>
#include <sys/mman.h>

static int file_of(const char *text) {
    const int fd = memfd_create("data.csv", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "a file in memory");
    return fd;
}

typedef struct campaign {
    zoo zoo;
    parts *parts; /* of each specimen */
    mercer_model *model[ZOO_MOST];
    mercer_data *rows[ZOO_MOST];
    int file[2];
    int64_t accepted;
    const char *folder; /* for the files of those; NULL: none is written */
} campaign;

static void open_campaign(mercer_ctx *ctx, campaign *c) {
    zoo_open(ctx, &c->zoo);
    c->parts = calloc((size_t)c->zoo.count, sizeof *c->parts);
    for (int k = 0; k < c->zoo.count; k++) {
        specimen *one = &c->zoo.one[k];
        must(parts_of(one->bytes, one->size, &c->parts[k]), one->name);
        if (mercer_model_from_memory(ctx, one->bytes, one->size, &c->model[k])) {
            fprintf(stderr, "%s\n%s\n", one->name, mercer_message(ctx));
            abort();
        }
        c->rows[k] = zoo_data(ctx, one->set);
    }
    c->file[0] = file_of(zoo_file(0));
    c->file[1] = file_of("1 1:0.5 3:1\n2 2:1 4:0.25\n1 1:1\n");
}

static void close_campaign(campaign *c) {
    for (int k = 0; k < c->zoo.count; k++) {
        mercer_model_free(c->model[k]);
        mercer_data_free(c->rows[k]);
    }
    close(c->file[0]);
    close(c->file[1]);
    zoo_close(&c->zoo);
    free(c->parts);
}

/* FOLDER/NUMBER.mercer. */
static void write_model(const char *folder, const unsigned char *bytes, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/%lld.mercer", folder, (long long)mutant);
    FILE *file = fopen(path, "wb");
    must(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "a file is written");
}

/* A file of the zoo, or one of LIBSVM, that lies. */
static mercer_status load_mutant(mercer_ctx *ctx, campaign *c, mc_rng *rng, int k, mercer_model **out) {
    static parts p;
    static unsigned char bytes[FILE_MOST];
    mc_input input;
    if (!mc_rng_below(rng, 16)) {
        const size_t length = mutate_lines(rng, (char *)bytes, sizeof bytes);
        must(!mc_input_copy(ctx, "mutant", bytes, (int64_t)length, &input), "text");
        const mercer_status status = mc_libsvm_model_read(ctx, &input, out);
        mc_input_close(&input);
        return status;
    }
    parts_copy(&c->parts[k], &p);
    mutate(rng, &p, c->parts, c->zoo.count);
    const size_t size = parts_join(&p, bytes);
    const mercer_status status = mercer_model_from_memory(ctx, bytes, size, out);
    if (!status && c->folder)
        write_model(c->folder, bytes, size);
    return status;
}

static void try_mutant(mercer_ctx *ctx, campaign *c, int64_t i) {
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, (uint64_t)i);
    const int k = (int)mc_rng_below(&rng, c->zoo.count), other = (int)mc_rng_below(&rng, c->zoo.count);
    const size_t before = mercer_memory_used(ctx);
    mercer_model *model = NULL;
    const mercer_status status = load_mutant(ctx, c, &rng, k, &model);
    must((status == MERCER_OK) == (model != NULL), "a model, or a failure");
    must(!status || strlen(mercer_message(ctx)) > 10, "a failure says why");
    if (model) {
        c->accepted++;
        use_model(&(company){.ctx = ctx,
                             .other = c->model[mc_rng_below(&rng, 2) ? k : other],
                             .rows = c->rows[mc_rng_below(&rng, 4) ? k : other],
                             .file = c->file[mc_rng_below(&rng, 2)]},
                  model);
    }
    mercer_model_free(model);
    must(mercer_memory_used(ctx) == before, "no block is left behind");
}

int main(int argc, char **argv) {
    static campaign c;
    const wishes w = read_wishes(argc, argv, 10000);
    watch_for(60);
    c.folder = w.folder;
    mercer_ctx *ctx = zoo_context();
    open_campaign(ctx, &c);
    for (mutant = w.first; mutant < w.last && go_on(&w); mutant++)
        try_mutant(ctx, &c, mutant);
    printf("%d specimens, %lld mutants of them, %lld accepted and used\n", c.zoo.count, (long long)(mutant - w.first),
           (long long)c.accepted);
    close_campaign(&c);
    mercer_close(ctx);
    return 0;
}

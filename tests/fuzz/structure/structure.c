/* structure.c: model files whose structure lies. Every specimen of the zoo is taken apart, changed and put together again with a right
   checksum; what the loader accepts is put through every verb. Whatever happens must be an answer or a sentence, under sanitizers.

     fuzz_structure [-n MUTANTS] [-t SECONDS] [-s SEED] [-o MUTANT]

   MERCER_FUZZ_MUTANTS is another way to say how many, MERCER_TEST_SEED another way to say the seed, which is a fresh one without. -o: that
   mutant alone. */
#include "../must.h"
#include "mutate.h"
#include "verbs.h"
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60 }; /* seconds for one mutant */

static volatile uint64_t seed;
static volatile int64_t now;

/* Said on the way down, so that the mutant can be made again. */
static void say_which(int signal_number) {
    char text[160];
    const int length = snprintf(text, sizeof text, "%s mutant %lld: again with -s %llu -o %lld\n",
                                signal_number == SIGALRM ? "too long:" : "fell over", (long long)now,
                                (unsigned long long)seed, (long long)now);
    if (write(STDERR_FILENO, text, (size_t)length) < 0)
        _exit(3);
    if (!signal_number)
        return;
    signal(signal_number, SIG_DFL);
    raise(signal_number == SIGALRM ? SIGABRT : signal_number);
}

/* A sanitizer ends the program without a signal. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
static void on_death(void) {
    say_which(0);
}

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

static void try_mutant(mercer_ctx *ctx, campaign *c, int64_t i) {
    static parts p;
    static unsigned char bytes[FILE_MOST];
    mc_rng rng = mc_rng_at(seed, MC_STREAM_TEST, (uint64_t)i);
    const int k = (int)mc_rng_below(&rng, c->zoo.count), other = (int)mc_rng_below(&rng, c->zoo.count);
    parts_copy(&c->parts[k], &p);
    mutate(&rng, &p, c->parts, c->zoo.count);
    const size_t size = parts_join(&p, bytes), before = mercer_memory_used(ctx);
    mercer_model *model = NULL;
    if (!size)
        return;
    const company all = {.ctx = ctx,
                         .other = c->model[mc_rng_below(&rng, 2) ? k : other],
                         .rows = c->rows[mc_rng_below(&rng, 4) ? k : other],
                         .file = c->file[mc_rng_below(&rng, 2)]};
    const mercer_status status = mercer_model_from_memory(ctx, bytes, size, &model);
    must((status == MERCER_OK) == (model != NULL), "a model, or a failure");
    must(!status || strlen(mercer_message(ctx)) > 10, "a failure says why");
    if (model) {
        c->accepted++;
        use_model(&all, model);
    }
    mercer_model_free(model);
    if (mercer_memory_used(ctx) != before)
        must(false, "no block is left behind");
}

static uint64_t fresh_seed(void) {
    struct timespec t;
    const char *text = getenv("MERCER_TEST_SEED");
    clock_gettime(CLOCK_REALTIME, &t);
    return text ? strtoull(text, NULL, 10) : (uint64_t)t.tv_sec * 1000003u + (uint64_t)t.tv_nsec;
}

/* What the command line asks for. */
typedef struct wishes {
    int64_t first, last; /* mutants */
    double seconds;
} wishes;

static wishes read_wishes(int argc, char **argv) {
    const char *count = getenv("MERCER_FUZZ_MUTANTS");
    wishes w = {.last = count ? atoll(count) : 10000, .seconds = 1e9};
    for (int i = 1; i + 1 < argc; i += 2)
        switch (argv[i][1]) {
        case 's': seed = strtoull(argv[i + 1], NULL, 10); break;
        case 'o': w.last = (w.first = atoll(argv[i + 1])) + 1; break;
        case 't':
            w.seconds = atof(argv[i + 1]);
            w.last = INT64_MAX;
            break;
        default: w.last = atoll(argv[i + 1]);
        }
    return w;
}

static void watch(void) {
    const int fatal[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t k = 0; k < sizeof fatal / sizeof *fatal; k++)
        signal(fatal[k], say_which);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(on_death);
}

int main(int argc, char **argv) {
    static campaign c;
    seed = fresh_seed();
    const wishes w = read_wishes(argc, argv);
    const time_t began = time(NULL);
    watch();
    printf("seed %llu (set MERCER_TEST_SEED to repeat another)\n", (unsigned long long)seed);
    mercer_ctx *ctx = zoo_context();
    open_campaign(ctx, &c);
    for (now = w.first; now < w.last && difftime(time(NULL), began) < w.seconds; now++) {
        alarm(PATIENCE);
        try_mutant(ctx, &c, now);
    }
    alarm(0);
    printf("%d specimens, %lld mutants of them, %lld accepted and used\n", c.zoo.count, (long long)(now - w.first),
           (long long)c.accepted);
    close_campaign(&c);
    mercer_close(ctx);
    return 0;
}

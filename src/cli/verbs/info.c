/* info.c: mercer info: what this build is and what it found on this machine. */
#include "cli/cli.h"
#include <sys/resource.h>

/* What a run may take beside the limit: what this process has taken so far, which is code and libraries, a few MiB that
   work in BLAS, zlib and the C library's own buffers add, and the stack and buffers of each further thread.
   tests/cli/memory.py measures runs against it. */
static size_t memory_beside(const session *s) {
    struct rusage now;
    const size_t so_far = getrusage(RUSAGE_SELF, &now) == 0 && now.ru_maxrss > 0 ? (size_t)now.ru_maxrss << 10 : 0;
    return so_far + ((size_t)8 << 20) + ((size_t)2 << 20) * (size_t)mercer_threads(s->ctx);
}

static const report_row info_rows[] = {
    {"version", NULL, "{version}"},
    {"instructions", NULL, "{isa}"},
    {"threads", NULL, "{threads} ({threads_decided})"},
    {"ranks", NULL, "{ranks_found}"},
    {"BLAS", NULL, "{blas}"},
    {"cards", "cards_found", "{cards_found}"},
    {"memory", NULL,
     "at most {memory_limit_bytes:size} for data and work; code, libraries and their threads take some "
     "{memory_beside_bytes:size} more"},
    {0},
};

/* The cards, or why there are none. */
static void list_cards(session *s, json_t *object) {
    json_t *cards = json_array();
    mercer_card card = {.size = sizeof card};
    for (int64_t i = 0; !mercer_card_at(s->ctx, i, &card); i++) {
        json_t *one = json_object();
        json_put(one, "name", json_text(card.name));
        json_put(one, "memory_bytes", json_integer((json_int_t)card.memory));
        json_put(one, "memory_free_bytes", json_integer((json_int_t)card.memory_free));
        json_put(one, "multiprocessors", json_integer(card.multiprocessors));
        json_array_append_new(cards, one);
    }
    const json_t *first = json_array_get(cards, 0);
    json_put(object, first ? "cards_found" : "no_cards",
             first ? json_sprintf("%zu, the first %s", json_array_size(cards),
                                  json_string_value(json_object_get(first, "name")))
                   : json_text(mercer_message(s->ctx)));
    json_put(object, "cards", cards);
}

static json_t *describe_ranks(const session *s) {
    const int ranks = mercer_ranks(s->ctx);
    return ranks == 1 ? json_text("1: this process works alone")
                      : json_sprintf("%d processes share the work, by MPI; threads and memory are of each", ranks);
}

static int run_info(session *s) {
    json_t *object = json_object();
    json_put(object, "version", json_text(mercer_version()));
    json_put(object, "isa", json_text(mercer_isa(s->ctx)));
    json_put(object, "threads", json_integer(mercer_threads(s->ctx)));
    json_put(object, "threads_decided", json_text(mercer_threads_decided(s->ctx)));
    json_put(object, "ranks", json_integer(mercer_ranks(s->ctx)));
    json_put(object, "ranks_found", describe_ranks(s));
    json_put(object, "blas", json_text(mercer_blas()));
    list_cards(s, object);
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    json_put(object, "memory_beside_bytes", json_integer((json_int_t)memory_beside(s)));
    return report_fields(s, object, info_rows);
}

const verb verb_info = {
    .name = "info",
    .summary = "print version, instruction set, threads, BLAS and memory limit",
    .usage = "[options]",
    .notes = "What this build is and what it found on this machine. MERCER_ISA=portable|avx2|avx512 forces an "
             "instruction set.\n"
             "Threads: --threads, else the fewest of the processors that taskset and the like leave, the quota of the "
             "control group,\n"
             "OMP_NUM_THREADS and OMP_THREAD_LIMIT; info says which of them it was.\n"
             "--memory limits what is taken for data, matrices, models and the work on them. The process is larger by "
             "its code, its "
             "libraries\n"
             "and their threads; info says by how much at most.\n\n"
             "  mercer info\n"
             "  mercer info --json\n"
             "  mercer info --memory 4G --threads 2",
    .least = 0,
    .most = 0,
    .tables = {common_options},
    .computes = true, /* to show the BLAS as the verbs that compute have it */
    .run = run_info,
};

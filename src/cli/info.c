/* info.c: mercer info: what this build is and what it found on this machine. */
#include "cli.h"

static int run_info(session *s) {
    say(s, "version", "%s", mercer_version());
    say(s, "instructions", "%s", mercer_isa(s->ctx));
    say(s, "threads", "%d", mercer_threads(s->ctx));
    say(s, "BLAS", "%s", mercer_blas());
    say(s, "memory", "at most %s", text_size(mercer_memory_limit(s->ctx)).bytes);
    json_t *object = json_object();
    json_put(object, "version", json_text(mercer_version()));
    json_put(object, "isa", json_text(mercer_isa(s->ctx)));
    json_put(object, "threads", json_integer(mercer_threads(s->ctx)));
    json_put(object, "blas", json_text(mercer_blas()));
    json_put(object, "memory_limit_bytes", json_integer((json_int_t)mercer_memory_limit(s->ctx)));
    return json_finish(s, object);
}

const verb verb_info = {
    .name = "info",
    .summary = "print version, instruction set, threads, BLAS and memory limit",
    .usage = "[options]",
    .notes = "What this build is and what it found on this machine. MERCER_ISA=portable|avx2|avx512 forces an "
             "instruction set.\n\n"
             "  mercer info\n"
             "  mercer info --json\n"
             "  mercer info --memory 4G --threads 2",
    .least = 0,
    .most = 0,
    .tables = {common_options},
    .computes = true, /* to show the BLAS as the verbs that compute have it */
    .run = run_info,
};

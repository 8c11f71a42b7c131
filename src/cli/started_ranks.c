/* started_ranks.c: the command as one of several processes that mpirun or srun has started together. All do the same
   run and share its work; the first alone prints and writes, and says what went wrong on any of them. */
#include "cli/cli.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What starters of processes say in the environment. Slurm says it in a batch script too, which is one process: only
   steps count. */
static const struct {
    const char *count, *rank;
    int least;
} starters[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", 1},
                {"PMI_SIZE", "PMI_RANK", 1},
                {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", 2}};

static int number_in(const char *name) {
    const char *found = getenv(name);
    return found ? atoi(found) : 0;
}

static int count_started(int *rank) {
    for (size_t i = 0; i < sizeof starters / sizeof *starters; i++) {
        const int count = number_in(starters[i].count);
        *rank = number_in(starters[i].rank);
        if (count >= starters[i].least && getenv(starters[i].rank))
            return count;
    }
    *rank = 0;
    return 0;
}

/* Before the options are read: what is wrong with them is said once. */
static bool refuses_ranks(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--ranks=none") == 0
            || (strcmp(argv[i], "--ranks") == 0 && i + 1 < argc && strcmp(argv[i + 1], "none") == 0))
            return true;
    return false;
}

static bool hushed, joined;

void ranks_hush(int argc, char **argv) {
    int rank;
    hushed = count_started(&rank) && rank > 0 && !refuses_ranks(argc, argv);
    if (hushed && (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
        exit(EXIT_BAD);
}

/* mpirun ends all processes when one fails: those that have not met yet leave the first the time to say why. */
void ranks_depart(int code) {
    if (hushed && !joined && code != EXIT_DONE)
        sleep(1);
}

int ranks_options(const session *s, mercer_options *options) {
    static const char *const names[] = {"auto", "none", "mpi"};
    int choice = 0, rank;
    options->ranks = "none";
    if (s->args.verb == &verb_plan && args_text(&s->args, "rows")) /* of plan: --ranks is how many there would be */
        return EXIT_DONE;
    TRY(args_choice(&s->args, "ranks", "auto|none|mpi", &choice));
    options->ranks = choice ? names[choice] : count_started(&rank) ? "mpi" : "none";
    return EXIT_DONE;
}

int ranks_check(const session *s) {
    int rank;
    const int count = count_started(&rank);
    joined = mercer_ranks(s->ctx) > 1;
    if (args_text(&s->args, "ranks") || !count || mercer_ranks(s->ctx) == count)
        return EXIT_DONE;
    return print_error("%d processes were started together, and MPI knows of %d: start them with the mpirun of the MPI "
                       "that Mercer was built with, or under Slurm with srun --mpi=pmix",
                       count, mercer_ranks(s->ctx));
}

int ranks_finish(session *s, int code) {
    static const mercer_status of[] = {[EXIT_BAD] = MERCER_INVALID,
                                       [EXIT_STOPPED] = MERCER_CANCELLED,
                                       [EXIT_MEMORY] = MERCER_MEMORY,
                                       [EXIT_NUMERIC] = MERCER_NUMERIC};
    if (!s->ctx)
        return code;
    const mercer_status status = mercer_agree(s->ctx, of[code]);
    return of[code] == MERCER_OK && status ? session_fail(s, status) : code;
}

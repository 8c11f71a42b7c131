/* start.c: what must be looked at before the libraries start.

   OpenBLAS maps 128 MiB for every core as it is loaded, and where the address space is limited (ulimit -v, ulimit -d)
   asks for them again and again, for ever, before main is reached. Functions in .preinit_array run before those of any
   library: where the limit leaves too little, it is said here; where it leaves little, OpenBLAS is told to be content
   with one core, whose threads Mercer does not use. */
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static int has_memory(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return 0;
    munmap(block, bytes);
    return 1;
}

static int is_limited(int which) {
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* The same command with OMP_NUM_THREADS=1, whatever it was, which is kept beside it: what is set here the C library
   would not hand on. Returns only where that fails. */
static void restart_with_one_thread(char **argv, char **environment) {
    static char one[] = "OMP_NUM_THREADS=1", before[64] = "MERCER_OMP_NUM_THREADS=";
    int count = 0, kept = 0;
    while (environment[count])
        count++;
    char *ours[count + 3];
    for (int i = 0; i < count; i++)
        if (strncmp(environment[i], one, strlen(one) - 1) != 0)
            ours[kept++] = environment[i];
        else
            strncat(before, environment[i] + strlen(one) - 1, 16);
    ours[kept++] = one;
    ours[kept++] = before;
    ours[kept] = NULL;
    execve("/proc/self/exe", argv, ours);
}

static int is_told(char **environment) {
    for (; *environment; environment++)
        if (strcmp(*environment, "OMP_NUM_THREADS=1") == 0)
            return 1;
    return 0;
}

static void look_at_limits(int argc, char **argv, char **environment) {
    static const size_t buffer = (size_t)128 << 20, rest = (size_t)32 << 20;
    static const char text[] = "mercer: the limit on the address space (ulimit -v or -d) leaves less than the 160 MiB "
                               "that the linear algebra library takes as it starts; raise it to 500 MiB or more\n";
    (void)argc;
    if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA))
        return;
    if (!has_memory(buffer + rest)) {
        const ssize_t written = write(STDERR_FILENO, text, strlen(text));
        _exit(written < 0 ? 2 : 5);
    }
    if (!is_told(environment))
        restart_with_one_thread(argv, environment);
}

__attribute__((section(".preinit_array"), used)) static void (*const look)(int, char **, char **) = look_at_limits;

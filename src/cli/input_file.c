/* input_file.c: kernels, data files and model files, as several verbs read them. */
#include "cli.h"
#include "data/helpers.h"
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const option data_options[] = {
    {"target", 0, "NAME|INDEX",
     "target column by name or number from 1, several separated by commas (default: the last)"},
    {"no-target", 0, NULL, "there is no target: every column is an input"},
    {"target-kind", 0, "KIND", "auto|number|class: what the target is (default auto)"},
    {"missing", 0, "HOW", "error|mean|drop: what to do with missing values (default error)"},
    {"header", 0, "HOW", "auto|yes|no: whether the first line of CSV names the columns (default auto)"},
    {"drop", 0, "COLUMNS", "columns left out, by name or number from 1, separated by commas"},
    {0},
};

const option missing_options[] = {
    {"missing", 0, "HOW", "error|mean|drop: what to do with missing values (default error)"},
    {"header", 0, "HOW", "auto|yes|no: whether the first line of CSV names the columns (default auto)"},
    {"drop", 0, "COLUMNS", "columns left out, by name or number from 1, separated by commas"},
    {0},
};

/* The name in a folder nearest to the one wanted, the first by the alphabet of equals; "" when none is near. */
static void nearest_file(const char *folder, const char *wanted, char found[256]) {
    DIR *listed = opendir(folder);
    int distance = 0;
    found[0] = '\0';
    for (const struct dirent *entry; listed && (entry = readdir(listed)) != NULL;) {
        mc_suggestion one = {.text = wanted};
        mc_suggestion_try(&one, entry->d_name);
        const bool better =
            !*found || one.distance < distance || (one.distance == distance && strcmp(entry->d_name, found) < 0);
        if (one.name && entry->d_name[0] != '.' && better) {
            snprintf(found, 256, "%s", entry->d_name);
            distance = one.distance;
        }
    }
    if (listed)
        closedir(listed);
}

/* A file that is not there and has a neighbour of nearly its name; anything else is for the reader to say. */
static int check_file(const char *path) {
    char folder[4096], found[256];
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0 || access(path, F_OK) == 0 || errno != ENOENT)
        return EXIT_DONE;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
    nearest_file(*folder ? folder : ".", slash ? slash + 1 : path, found);
    return *found ? print_error("%s: there is no such file; did you mean '%s%s'?", path, folder, found) : EXIT_DONE;
}

int input_kernel(session *s, const char *expression, mercer_kernel **out) {
    const mercer_status status = mercer_kernel_parse(s->ctx, expression, out);
    return status ? session_fail_at(s, status, expression) : EXIT_DONE;
}

static int read_missing(const session *s, mercer_read *set) {
    static const mercer_missing ways[] = {MERCER_MISSING_ERROR, MERCER_MISSING_MEAN, MERCER_MISSING_DROP};
    int way = s->describes ? 1 : 0;
    TRY(args_choice(&s->args, "missing", "error|mean|drop", &way));
    set->missing = ways[way];
    return EXIT_DONE;
}

/* What any reading of a file is asked. */
static int read_layout(const session *s, mercer_read *set) {
    static const mercer_header ways[] = {MERCER_HEADER_AUTO, MERCER_HEADER_YES, MERCER_HEADER_NO};
    int way = 0;
    TRY(args_choice(&s->args, "header", "auto|yes|no", &way));
    set->header = ways[way];
    set->drop = args_text(&s->args, "drop");
    return read_missing(s, set);
}

static int read_target(const args *a, mercer_target wanted, mercer_read *set) {
    static const mercer_target kinds[] = {MERCER_TARGET_AUTO, MERCER_TARGET_NUMBER, MERCER_TARGET_CLASS};
    int kind = 0;
    TRY(args_choice(a, "target-kind", "auto|number|class", &kind));
    set->kind = kinds[kind];
    if (!args_text(a, "target-kind") && (wanted == MERCER_TARGET_CLASS || wanted == MERCER_TARGET_NUMBER))
        set->kind = wanted;
    set->target = args_text(a, "target");
    if (!args_flag(a, "no-target"))
        return EXIT_DONE;
    if (set->target)
        return print_error("--target %s and --no-target contradict each other", set->target);
    set->target = "";
    set->kind = MERCER_TARGET_NONE;
    return EXIT_DONE;
}

/* kept: the columns of text to keep where the kernel names none. */
static int read_table(session *s, const mercer_kernel *kernel, const char *path, const char *weights,
                      mercer_target wanted, const char *kept, mercer_data **out) {
    mercer_read set = mercer_read_defaults();
    set.text = kept;
    TRY(read_target(&s->args, wanted, &set));
    TRY(read_layout(s, &set));
    set.weights = weights;
    const char *groups = args_text(&s->args, "groups");
    char both[4096];
    if (kernel)
        mercer_kernel_reading(kernel, &set);
    if (groups && set.text && *set.text) {
        snprintf(both, sizeof both, "%s,%s", groups, set.text);
        set.text = both;
    } else if (groups)
        set.text = groups;
    if (is_model(path))
        return print_error("'%s' is a model, not data; to see it: %s", path, advise_file("show", path, "").bytes);
    TRY(check_file(path));
    TRY_CTX(s, mercer_data_read(s->ctx, path, &set, out));
    return EXIT_DONE;
}

int input_data(session *s, const mercer_kernel *kernel, const char *path, const char *weights, mercer_target wanted,
               mercer_data **out) {
    return read_table(s, kernel, path, weights, wanted, NULL, out);
}

/* Texts of groups are no inputs, and a file of its own for the test would be read for itself. */
int input_data_for_fit(session *s, const mercer_kernel *kernel, const char *path, const char *weights,
                       mercer_target wanted, mercer_data **out) {
    const args *a = &s->args;
    const bool open = !args_text(a, "kernel") && !args_text(a, "groups") && !args_text(a, "test");
    return read_table(s, kernel, path, weights, wanted, open ? "*" : NULL, out);
}

int input_model(session *s, const char *path, mercer_model **out) {
    const args *a = &s->args;
    if (a->operands == 2 && !is_model(path) && is_model(a->operand[1]))
        return print_error("'%s' is not a model but '%s' is: give the model first", path, a->operand[1]);
    TRY(check_file(path));
    TRY_CTX(s, mercer_model_load(s->ctx, path, out));
    return EXIT_DONE;
}

int input_data_for(session *s, const mercer_model *model, const char *path, mercer_target wanted, mercer_data **out) {
    mercer_read set = mercer_read_defaults();
    set.kind = wanted;
    TRY(read_layout(s, &set));
    TRY(check_file(path));
    TRY_CTX(s, mercer_model_read(s->ctx, model, path, &set, out));
    if (mercer_data_unused(*out))
        print_note(s, "%s: not columns of the model, and not read: %s", path, mercer_data_unused(*out));
    return EXIT_DONE;
}

bool is_model(const char *path) {
    unsigned char head[9] = {0};
    FILE *file = is_plain_file(path) ? fopen(path, "rb") : NULL; /* a look at a pipe would take its bytes away */
    const size_t seen = file ? fread(head, 1, sizeof head, file) : 0;
    if (file)
        fclose(file);
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | head[i];
    const bool ours = seen == sizeof head && head[8] == '{' && length < (uint64_t)1 << 40;
    return ours || (seen == sizeof head && (memcmp(head, "svm_type ", 9) == 0 || memcmp(head, "kernel_ty", 9) == 0));
}

/* A fit may take hours: that its folder is missing is worth knowing before. */
static int check_folder(const char *path) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    if (access(slash ? folder : ".", W_OK) != 0)
        return print_error("cannot write '%s': %s", path, strerror(errno));
    return EXIT_DONE;
}

int check_output(const char *path, const char *what, bool (*is)(const char *path), const char *by) {
    struct stat info;
    if (stat(path, &info) != 0)
        return check_folder(path);
    if (S_ISREG(info.st_mode) && info.st_size > 0 && !is(path))
        return print_error("'%s' exists and is not %s: it is left alone; choose another name with %s", path, what, by);
    return EXIT_DONE;
}

int check_model_path(const char *path) {
    return check_output(path, "a model", is_model, "-o");
}

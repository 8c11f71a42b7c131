/* args.c: the command line by tables. `--name value`, `--name=value`, `-n value`, `-nvalue`; `--` ends the options; `-`
   alone is an operand (standard input). An option is looked for in the verb's tables, then, for verbs that fit
   machines, among the settings rows of all machines, where a flag also has its `--no-` form. Which machine is meant is
   known only later: job.c checks that it has them. */
#include "cli.h"
#include "data/helpers.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Looking up ---- */

static const option *find_long(const verb *v, const char *name, size_t length) {
    for (int t = 0; v->tables[t]; t++)
        for (const option *o = v->tables[t]; o->name; o++)
            if (strlen(o->name) == length && strncmp(o->name, name, length) == 0)
                return o;
    return NULL;
}

static const option *find_letter(const verb *v, char letter) {
    for (int t = 0; v->tables[t]; t++)
        for (const option *o = v->tables[t]; o->name; o++)
            if (o->letter == letter)
                return o;
    return NULL;
}

/* Options are written with dashes, rows with underscores. */
static bool same_name(const char *row, const char *name) {
    for (; *row && *name; row++, name++)
        if (*row != *name && !(*row == '_' && *name == '-'))
            return false;
    return *row == *name;
}

text option_text(const char *name) {
    text t;
    snprintf(t.bytes, sizeof t.bytes, "%s", name);
    for (char *p = t.bytes; *p; p++)
        *p = *p == '_' ? '-' : *p;
    return t;
}

const mercer_setting *setting_find(const mercer_machine *machine, const char *name) {
    for (int i = 0; i < machine->count; i++)
        if (same_name(machine->settings[i].name, name))
            return &machine->settings[i];
    return NULL;
}

/* The value after "name=" in "a=1 name=2 c=": up to the next space, perhaps nothing. False when there is none. */
bool setting_value(const char *settings, const char *name, char *value, size_t size) {
    const size_t length = strlen(name);
    for (const char *at = settings; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            snprintf(value, size, "%.*s", (int)strcspn(at + length + 1, " "), at + length + 1);
            return true;
        }
    }
    return false;
}

bool setting_is_default(const mercer_setting *row, const char *value) {
    if (row->type == MERCER_FLAG)
        return (strcmp(value, "yes") == 0) == (row->initial != 0);
    return row->type == MERCER_TEXT ? strcmp(value, row->initial_text) == 0 : strtod(value, NULL) == row->initial;
}

static const mercer_setting *find_setting(const char *name) {
    const mercer_setting *row = NULL;
    for (int i = 0; mercer_machine_at(i) && !row; i++)
        row = setting_find(mercer_machine_at(i), name);
    return row;
}

/* ---- What is wrong ---- */

static void try_settings(mc_suggestion *best) {
    const mercer_machine *machine;
    for (int i = 0; (machine = mercer_machine_at(i)); i++)
        for (int k = 0; k < machine->count; k++)
            mc_suggestion_try(best, machine->settings[k].name);
}

/* What many take for an option is a number of the kernel. */
static const struct {
    const char *name, *written;
} of_kernels[] = {
    {"gamma", "rbf(gamma=0.5)"},  {"sigma", "rbf(sigma=1)"},        {"length-scale", "matern(nu=1.5, length_scale=1)"},
    {"degree", "poly(degree=3)"}, {"coef0", "poly(degree=3, c=1)"}, {"period", "periodic(period=1)"}};

static int unknown_long(const verb *v, const char *name) {
    mc_suggestion best = {.text = name};
    for (size_t i = 0; v->machine && i < sizeof of_kernels / sizeof of_kernels[0]; i++)
        if (strcmp(name, of_kernels[i].name) == 0)
            return print_error("%s has no option --%s: it is a number of the kernel; write -k '%s'%s", v->name, name,
                               of_kernels[i].written,
                               strcmp(v->name, "tune") == 0 ? ", or a range, low..high, there" : "");
    for (int t = 0; v->tables[t]; t++)
        for (const option *o = v->tables[t]; o->name; o++)
            mc_suggestion_try(&best, o->name);
    if (v->machine)
        try_settings(&best);
    if (!best.name)
        return print_error("%s has no option --%s; 'mercer help %s' lists those it has", v->name, name, v->name);
    return print_error("%s has no option --%s; did you mean --%s?", v->name, name, option_text(best.name).bytes);
}

static int unknown_letter(const verb *v, const char *word) {
    return print_error("%s has no option '%.2s' (seen in '%s'); if '%s' is no option, put -- before it", v->name, word,
                       word, word);
}

static int bad_operands(const verb *v, const args *a) {
    if (a->operands < v->least)
        return print_error("%s needs more: usage: mercer %s %s", v->name, v->name, v->usage);
    return EXIT_DONE;
}

/* ---- Reading ---- */

typedef struct args_reader {
    args *args;
    char *const *argv;
    int argc, i;
} args_reader;

/* Several kernels may be compared; verbs that take one say so in job.c. */
static bool may_repeat(const verb *v, const char *name) {
    return v->machine && strcmp(name, "kernel") == 0;
}

static int record_option(args_reader *r, const char *name, const char *value, bool setting) {
    args *a = r->args;
    for (int k = 0; k < a->count && !may_repeat(a->verb, name); k++)
        if (strcmp(a->given[k].name, name) == 0)
            return print_error("--%s is given twice", option_text(name).bytes);
    a->given[a->count++] = (given){.name = name, .text = value, .setting = setting};
    return EXIT_DONE;
}

/* The value after = or the next word. */
static int need_value(args_reader *r, const char *name, const char *inline_value, const char **value) {
    *value = inline_value;
    if (!inline_value && r->i + 1 >= r->argc)
        return print_error("--%s needs a value after it", name);
    if (!inline_value)
        *value = r->argv[++r->i];
    return EXIT_DONE;
}

static int take_option(args_reader *r, const option *o, const char *inline_value) {
    const char *value = "yes";
    if (o->argument)
        TRY(need_value(r, o->name, inline_value, &value));
    else if (inline_value)
        return print_error("--%s takes no value, got '%s'", o->name, inline_value);
    if (strcmp(o->name, "help") == 0)
        r->args->help = true;
    return record_option(r, o->name, value, false);
}

/* name is the text after the dashes, cut at any =. */
static int take_setting(args_reader *r, const char *name, const char *inline_value) {
    const mercer_setting *row = find_setting(name), *negated = NULL;
    if (!row && strncmp(name, "no-", 3) == 0)
        negated = find_setting(name + 3);
    if (negated && negated->type == MERCER_FLAG && !inline_value)
        return record_option(r, negated->name, "no", true);
    if (!row)
        return unknown_long(r->args->verb, name);
    const char *value = inline_value ? inline_value : "yes";
    if (row->type != MERCER_FLAG)
        TRY(need_value(r, name, inline_value, &value));
    return record_option(r, row->name, value, true);
}

static int take_long(args_reader *r, const char *name) {
    const verb *v = r->args->verb;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const option *o = find_long(v, name, length);
    if (o)
        return take_option(r, o, equals ? equals + 1 : NULL);
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)(length < 63 ? length : 63), name);
    return v->machine ? take_setting(r, bare, equals ? equals + 1 : NULL) : unknown_long(v, bare);
}

static int take_letters(args_reader *r, const char *word) {
    const option *o = find_letter(r->args->verb, word[1]);
    if (!o || (!o->argument && word[2]))
        return unknown_letter(r->args->verb, word);
    return take_option(r, o, word[2] ? word + 2 : NULL);
}

static int take_operand(args *a, const char *word) {
    if (a->operands == a->verb->most)
        return print_error("%s does not know what to do with '%s': usage: mercer %s %s", a->verb->name, word,
                           a->verb->name, a->verb->usage);
    a->operand[a->operands++] = word;
    return EXIT_DONE;
}

/* -1*linear and -(rbf) are expressions and -5 is a number: no option begins with anything but a letter. */
static bool is_option(const char *word) {
    return word[0] == '-' && (word[1] == '-' || isalpha((unsigned char)word[1]));
}

int args_parse(const verb *v, int argc, char *const *argv, args *out) {
    *out = (args){.verb = v, .given = calloc((size_t)argc + 1, sizeof *out->given)};
    if (!out->given) {
        print_error("there is no memory left for the command line");
        return EXIT_MEMORY;
    }
    bool open = true; /* until -- */
    args_reader r = {.args = out, .argv = argv, .argc = argc};
    for (; r.i < argc; r.i++) {
        const char *word = argv[r.i];
        if (!open || !is_option(word))
            TRY(take_operand(out, word));
        else if (strcmp(word, "--") == 0)
            open = false;
        else
            TRY(word[1] == '-' ? take_long(&r, word + 2) : take_letters(&r, word));
    }
    return out->help ? EXIT_DONE : bad_operands(v, out);
}

void args_close(args *a) {
    free(a->given);
    a->given = NULL;
}

/* ---- Asking ---- */

const char *args_text(const args *a, const char *name) {
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->given[i].name, name) == 0)
            return a->given[i].text;
    return NULL;
}

const char *args_next(const args *a, const char *name, int *from) {
    for (; *from < a->count; (*from)++)
        if (strcmp(a->given[*from].name, name) == 0)
            return a->given[(*from)++].text;
    return NULL;
}

bool args_flag(const args *a, const char *name) {
    return args_text(a, name) != NULL;
}

int args_real(const args *a, const char *name, double low, double high, double *value) {
    const char *t = args_text(a, name);
    if (!t)
        return EXIT_DONE;
    char *end = NULL;
    *value = strtod(t, &end);
    if (end == t || *end || !(*value >= low && *value <= high))
        return print_error("--%s must be a number in [%g, %g], got '%s'", name, low, high, t);
    return EXIT_DONE;
}

int args_whole(const args *a, const char *name, int64_t low, int64_t high, int64_t *value) {
    const char *t = args_text(a, name);
    if (!t)
        return EXIT_DONE;
    char *end = NULL;
    const double v = strtod(t, &end);
    if (end == t || *end || v != floor(v) || !(v >= (double)low && v <= (double)high))
        return print_error("--%s must be a whole number in [%lld, %lld], got '%s'", name, (long long)low,
                           (long long)high, t);
    *value = (int64_t)v;
    return EXIT_DONE;
}

int args_bytes(const args *a, const char *name, size_t *value) {
    const char *t = args_text(a, name);
    if (!t)
        return EXIT_DONE;
    static const char units[] = "KMGT"; /* powers of 1024 */
    char *end = NULL;
    double v = strtod(t, &end);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    for (long i = unit ? unit - units : -1; i >= 0; i--)
        v *= 1024;
    const char *rest = unit ? end + 1 : end;
    const bool known = !*rest || strcmp(rest, "B") == 0 || (unit && strcmp(rest, "iB") == 0);
    if (end == t || !known || !(v >= 1 && v < 1e18))
        return print_error("--%s must be a size such as 500M or 4G, got '%s'", name, t);
    *value = (size_t)v;
    return EXIT_DONE;
}

int args_choice(const args *a, const char *name, const char *choices, int *value) {
    const char *t = args_text(a, name);
    const size_t length = t ? strlen(t) : 0;
    int place = 0;
    for (const char *p = choices; t && p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, place++)
        if (length && strncmp(p, t, length) == 0 && (p[length] == '|' || !p[length])) {
            *value = place;
            return EXIT_DONE;
        }
    return t ? print_error("--%s must be one of %s, got '%s'", name, choices, t) : EXIT_DONE;
}

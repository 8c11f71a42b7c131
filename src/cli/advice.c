/* advice.c: the command that comes next, written so that it can be pasted: with the options that were given to this
   one, each word quoted for the shell where it must be. Whatever suggests a command builds it here, and the tests run
   what is suggested. */
#include "cli.h"
#include <string.h>

static bool is_plain(const char *word) {
    return *word
           && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=.,/:@%")] == '\0';
}

static void append_to_command(advice *a, const char *bytes, size_t length) {
    if (a->length + length + 1 > sizeof a->bytes)
        return;
    memcpy(a->bytes + a->length, bytes, length);
    a->length += length;
    a->bytes[a->length] = '\0';
}

/* In single quotes, where a quote of its own is '\'' */
static void put_quoted(advice *a, const char *word) {
    append_to_command(a, "'", 1);
    for (; *word; word++)
        append_to_command(a, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    append_to_command(a, "'", 1);
}

void advice_add(advice *a, const char *word) {
    if (a->length)
        append_to_command(a, " ", 1);
    if (is_plain(word))
        append_to_command(a, word, strlen(word));
    else
        put_quoted(a, word);
}

static bool is_among(const char *name, const char *const *names) {
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/* The row of the option in the verb's tables; NULL: it has none. */
static const option *option_of(const verb *v, const char *name) {
    for (int t = 0; t < 8 && v->tables[t]; t++)
        for (const option *o = v->tables[t]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return o;
    return NULL;
}

static void add_option(advice *a, const verb *v, const given *g, bool flag) {
    const option *o = g->setting ? NULL : option_of(v, g->name);
    char name[80];
    if (o && o->letter)
        snprintf(name, sizeof name, "-%c", o->letter);
    else
        snprintf(name, sizeof name, "--%s%s", flag && strcmp(g->text, "no") == 0 ? "no-" : "",
                 option_text(g->name).bytes);
    advice_add(a, name);
    if (!flag)
        advice_add(a, g->text);
}

static bool is_flag(const mercer_machine *machine, const verb *v, const given *g) {
    const mercer_setting *row = g->setting && machine ? setting_find(machine, g->name) : NULL;
    const option *o = g->setting ? NULL : option_of(v, g->name);
    return row ? row->type == MERCER_FLAG : o && !o->argument;
}

/* What concerns this run alone: where results go, how they are printed and how long it may take. */
static const char *const passing[] = {"output", "json", "quiet", "time-limit", "trace", "help", NULL};

advice advise_command(const session *s, const verb *v, const mercer_machine *machine, const char *const *except) {
    advice a = {0};
    advice_add(&a, "mercer");
    advice_add(&a, v->name);
    advice_add(&a, s->args.operand[0]);
    if (machine && !args_text(&s->args, "machine")) {
        advice_add(&a, "-m");
        advice_add(&a, machine->name);
    }
    for (int i = 0; i < s->args.count; i++) {
        const given *g = &s->args.given[i];
        if (is_among(g->name, passing) || is_among(g->name, except)
            || !(g->setting ? v->machine : option_of(v, g->name) != NULL))
            continue;
        add_option(&a, v, g, is_flag(machine, v, g));
    }
    return a;
}

advice advise_file(const char *verb_name, const char *file, const char *rest) {
    advice a = {0};
    advice_add(&a, "mercer");
    advice_add(&a, verb_name);
    advice_add(&a, file);
    if (*rest)
        append_to_command(&a, " ", 1);
    append_to_command(&a, rest, strlen(rest));
    return a;
}

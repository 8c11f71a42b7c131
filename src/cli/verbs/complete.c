/* complete.c: what shells and man read, made from the tables that parse the command line, so that none can disagree
   with it:

       mercer help --completion bash|zsh|fish      a script that completes verbs, options, their choices and file names
       mercer help --man                           the manual page mercer(1) */
#include "cli/cli.h"
#include <string.h>

/* One option as the shells see it: the verb's own, or a setting of some machine. */
typedef struct word {
    const char *name; /* as it is written, without dashes */
    char letter;
    const char *argument, *help;
    const char *choices; /* "a|b|c", perhaps with more behind it; NULL: any */
} word;
typedef void each_word(FILE *out, const verb *v, const word *w);

static word word_of_setting(const mercer_setting *row, const text *name) {
    static const char *const argument[] = {
        [MERCER_REAL] = "NUMBER", [MERCER_INTEGER] = "N", [MERCER_FLAG] = NULL, [MERCER_TEXT] = "NAME"};
    return (word){.name = name->bytes, .argument = argument[row->type], .help = row->help, .choices = row->choices};
}

/* Machines share settings: each name comes once. */
static bool came_before(int machine, const char *name) {
    for (int i = 0; i < machine; i++)
        for (int j = 0; j < mercer_machine_at(i)->count; j++)
            if (strcmp(mercer_machine_at(i)->settings[j].name, name) == 0)
                return true;
    return false;
}

static void each_setting(FILE *out, const verb *v, each_word *put) {
    const mercer_machine *machine;
    for (int i = 0; (machine = mercer_machine_at(i)); i++)
        for (int k = 0; k < machine->count; k++) {
            const text name = option_text(machine->settings[k].name);
            const word w = word_of_setting(&machine->settings[k], &name);
            if (!came_before(i, machine->settings[k].name))
                put(out, v, &w);
        }
}

static void machine_names(char *list, size_t size) {
    list[0] = '\0';
    for (int i = 0; mercer_machine_at(i); i++)
        snprintf(list + strlen(list), size - strlen(list), "%s%s", i ? "|" : "", mercer_machine_at(i)->name);
}

/* "error|mean|drop: what to do ..." begins with its choices. */
static const char *choices_in(const char *help) {
    return memchr(help, '|', strcspn(help, ": ")) ? help : NULL;
}

static void each_option(FILE *out, const verb *v, each_word *put) {
    char machines[400];
    machine_names(machines, sizeof machines);
    for (int t = 0; v->tables[t]; t++)
        for (const option *o = v->tables[t]; o->name; o++) {
            const word w = {.name = o->name,
                            .letter = o->letter,
                            .argument = o->argument,
                            .help = o->help,
                            .choices = strcmp(o->name, "machine") == 0 ? machines : choices_in(o->help)};
            put(out, v, &w);
        }
    if (v->machine)
        each_setting(out, v, put);
}

/* Words inside single quotes of a shell, each harmful character behind what disarms it there: a quote ends the quotes
   in bash and zsh. */
static void put_quoted(FILE *out, const char *words, const char *harmful, const char *quote) {
    for (; *words; words++)
        if (*words == '\'')
            fputs(quote, out);
        else
            fprintf(out, "%s%c", strchr(harmful, *words) ? "\\" : "", *words);
}

static void put_choices(FILE *out, const char *choices) {
    for (; *choices && !strchr(": ", *choices); choices++)
        fputc(*choices == '|' ? ' ' : *choices, out);
}

static bool takes_file(const word *w) {
    return strstr(w->argument, "FILE") || strstr(w->argument, "MODEL") || strstr(w->argument, "DATA")
           || strstr(w->argument, "FOLDER");
}

/* ---- bash ---- */

static void bash_word(FILE *out, const verb *v, const word *w) {
    (void)v;
    fprintf(out, " --%s", w->name);
}

static void bash_choices(FILE *out, const verb *v, const word *w) {
    if (!w->choices)
        return;
    fprintf(out, "    %s:--%s) COMPREPLY=($(compgen -W \"", v->name, w->name);
    put_choices(out, w->choices);
    fprintf(out, "\" -- \"$cur\")); return;;\n");
}

static void complete_bash(FILE *out, const verb *const *verbs, int count) {
    fprintf(out,
            "# Completion of mercer for bash. Made by 'mercer help --completion bash'.\n_mercer() {\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words\n"
            "    COMPREPLY=()\n    [ \"$prev\" = -m ] && prev=--machine\n"
            "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"help");
    for (int i = 0; i < count; i++)
        fprintf(out, " %s", verbs[i]->name);
    fprintf(out, "\" -- \"$cur\"))\n        return\n    fi\n    case $verb:$prev in\n");
    for (int i = 0; i < count; i++)
        each_option(out, verbs[i], bash_choices);
    fprintf(out, "    esac\n    case $verb in\n");
    for (int i = 0; i < count; i++) {
        fprintf(out, "    %s) words=\"", verbs[i]->name);
        each_option(out, verbs[i], bash_word);
        fprintf(out, "\";;\n");
    }
    fprintf(out, "    help) words=\"");
    for (int i = 0; i < count; i++)
        fprintf(out, " %s", verbs[i]->name);
    fprintf(out, "\";;\n    esac\n    if [[ $cur == -* || $verb == help ]]; then\n"
                 "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                 "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\ncomplete -o filenames -F _mercer "
                 "mercer\n");
}

/* ---- zsh ---- */

static const char zsh_quote[] = "'\\''";

/* '(-o --output)'{-o,--output}'[help]:FILE:_files' */
static void zsh_word(FILE *out, const verb *v, const word *w) {
    (void)v;
    if (w->letter)
        fprintf(out, " \\\n        '(-%c --%s)'{-%c,--%s}'[", w->letter, w->name, w->letter, w->name);
    else
        fprintf(out, " \\\n        '--%s[", w->name);
    put_quoted(out, w->help, "[]\\", zsh_quote);
    fputc(']', out);
    if (w->argument) {
        fputc(':', out);
        put_quoted(out, w->argument, ":\\", zsh_quote);
        fputs(w->choices ? ":(" : takes_file(w) ? ":_files" : ": ", out);
        if (w->choices) {
            put_choices(out, w->choices);
            fputc(')', out);
        }
    }
    fputc('\'', out);
}

static void complete_zsh(FILE *out, const verb *const *verbs, int count) {
    fprintf(out,
            "#compdef mercer\n# Made by 'mercer help --completion zsh'.\n_mercer() {\n  local -a verbs\n  verbs=(\n"
            "    'help:explain a verb'");
    for (int i = 0; i < count; i++) {
        fprintf(out, "\n    '%s:", verbs[i]->name);
        put_quoted(out, verbs[i]->summary, "\\", zsh_quote);
        fprintf(out, "'");
    }
    fprintf(out, ")\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n");
    for (int i = 0; i < count; i++) {
        fprintf(out, "    %s) shift words; (( CURRENT-- )); _arguments '*:file:_files'", verbs[i]->name);
        each_option(out, verbs[i], zsh_word);
        fprintf(out, ";;\n");
    }
    fprintf(out, "    help) _describe verb verbs;;\n  esac\n}\n_mercer \"$@\"\n");
}

/* ---- fish ---- */

static const char fish_quote[] = "\\'";

/* -r: an argument, file names offered; -x: an argument, and no file names. */
static void fish_word(FILE *out, const verb *v, const word *w) {
    fprintf(out, "complete -c mercer -n '__fish_seen_subcommand_from %s' -l %s", v->name, w->name);
    if (w->letter)
        fprintf(out, " -s %c", w->letter);
    if (w->argument)
        fputs(!w->choices && takes_file(w) ? " -r" : " -x", out);
    if (w->choices) {
        fprintf(out, " -a '");
        put_choices(out, w->choices);
        fprintf(out, "'");
    }
    fprintf(out, " -d '");
    put_quoted(out, w->help, "\\", fish_quote);
    fprintf(out, "'\n");
}

static void fish_verbs(FILE *out, const char *when, const verb *const *verbs, int count) {
    for (int i = 0; i < count; i++) {
        fprintf(out, "complete -c mercer -f -n %s -a %s -d '", when, verbs[i]->name);
        put_quoted(out, verbs[i]->summary, "\\", fish_quote);
        fprintf(out, "'\n");
    }
}

static void complete_fish(FILE *out, const verb *const *verbs, int count) {
    fprintf(out, "# Completion of mercer for fish. Made by 'mercer help --completion fish'.\n"
                 "complete -c mercer -f -n __fish_use_subcommand -a help -d 'explain a verb'\n");
    fish_verbs(out, "__fish_use_subcommand", verbs, count);
    fish_verbs(out, "'__fish_seen_subcommand_from help'", verbs, count);
    for (int i = 0; i < count; i++)
        each_option(out, verbs[i], fish_word);
}

/* ---- man ---- */

/* Words of a line: backslashes and dashes as such; a line must not begin with a request. */
static void man_text(FILE *out, const char *words) {
    bool start = true;
    for (; *words; words++) {
        if (start && (*words == '.' || *words == '\''))
            fputs("\\&", out);
        if (*words == '\\')
            fputs("\\e", out);
        else if (*words == '-' || *words == '|')
            fputs(*words == '-' ? "\\-" : "|\\:", out); /* a list of choices may be broken */
        else
            fputc(*words, out);
        start = *words == '\n';
    }
}

static void man_word(FILE *out, const verb *v, const word *w) {
    (void)v;
    fprintf(out, ".TP\n.B ");
    if (w->letter)
        fprintf(out, "\\-%c, ", w->letter);
    fprintf(out, "\\-\\-");
    man_text(out, w->name);
    if (w->argument) {
        fputc(' ', out);
        man_text(out, w->argument);
    }
    fputc('\n', out);
    man_text(out, w->help);
    fputc('\n', out);
}

static void man_verb(FILE *out, const verb *v) {
    fprintf(out, ".SS mercer %s ", v->name);
    man_text(out, v->usage);
    fprintf(out, "\n.nf\n");
    man_text(out, v->notes ? v->notes : v->summary);
    fprintf(out, "\n.fi\n");
    each_option(out, v, man_word);
}

static void write_man(FILE *out, const verb *const *verbs, int count) {
    fprintf(out,
            ".TH MERCER 1 \"\" \"Mercer %s\" \"User Commands\"\n.ad l\n.nh\n.SH NAME\n"
            "mercer \\- kernel machines that prove their kernels and certify their answers\n"
            ".SH SYNOPSIS\n.B mercer\nVERB ... [options]\n.SH VERBS\n",
            mercer_version());
    for (int i = 0; i < count; i++) {
        fprintf(out, ".TP\n.B %s\n", verbs[i]->name);
        man_text(out, verbs[i]->summary);
        fputc('\n', out);
    }
    fprintf(out, ".SH EXIT STATUS\n0 done; 1 a negative answer (refuted, no plan); 2 bad usage or input; 3 unknown; 4 "
                 "stopped early; 5 out of memory; 6 a numerical failure.\n.SH DETAILS\n");
    for (int i = 0; i < count; i++)
        man_verb(out, verbs[i]);
}

/* ---- The call ---- */

int help_for_programs(FILE *out, const char *what, const char *shell, const verb *const *verbs, int count) {
    static const struct {
        const char *shell;
        void (*write)(FILE *out, const verb *const *verbs, int count);
    } kinds[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};
    if (strcmp(what, "--man") == 0) {
        write_man(out, verbs, count);
        return EXIT_DONE;
    }
    for (int k = 0; shell && k < 3; k++)
        if (strcmp(kinds[k].shell, shell) == 0) {
            kinds[k].write(out, verbs, count);
            return EXIT_DONE;
        }
    return print_error("--completion: name a shell: bash, zsh or fish");
}

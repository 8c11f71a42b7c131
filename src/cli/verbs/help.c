/* help.c: help texts from the tables that parse the command line, so that they cannot disagree. */
#include "cli/cli.h"
#include <math.h>
#include <string.h>

enum { COLUMN = 28, EDGE = 118 };

void help_overview(FILE *out, const verb *const *verbs, int count) {
    fprintf(out, "Mercer %s: kernel machines that prove their kernels and certify their answers.\n\n",
            mercer_version());
    fprintf(out, "usage: mercer VERB ... [options]\n\n");
    for (int i = 0; i < count; i++)
        fprintf(out, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    fprintf(out, "\n'mercer help VERB' says more about one; 'mercer --version' prints the version.\n"
                 "'mercer help --completion bash' (or zsh, fish) prints a script for the shell, 'mercer help --man' "
                 "the manual page.\n");
}

/* Words from column COLUMN to the right edge, as many lines as they need. */
static void put_wrapped(FILE *out, const char *words) {
    while (strlen(words) > EDGE - COLUMN) {
        size_t cut = EDGE - COLUMN;
        while (cut > 1 && words[cut] != ' ')
            cut--;
        fprintf(out, "%.*s\n%*s", (int)cut, words, COLUMN, "");
        words += cut + 1;
    }
    fprintf(out, "%s\n", words);
}

/* "  -o, --output FILE        help" */
static void put_option_line(FILE *out, char letter, const char *name, const char *argument, const char *help) {
    char left[96];
    const char lead[] = {'-', letter, ',', ' ', '\0'};
    snprintf(left, sizeof left, "%s--%s%s%s", letter ? lead : "    ", name, argument ? " " : "",
             argument ? argument : "");
    fprintf(out, "  %-*s", COLUMN - 2, left);
    if (strlen(left) >= COLUMN - 2)
        fprintf(out, "\n%*s", COLUMN, "");
    put_wrapped(out, help);
}

static void range_text(const mercer_setting *row, char *bytes, size_t size) {
    if (row->type == MERCER_TEXT && !row->choices)
        snprintf(bytes, size, "default %s", *row->initial_text ? row->initial_text : "none");
    else if (row->type == MERCER_TEXT)
        snprintf(bytes, size, "%s; default %s", row->choices, row->initial_text);
    else if (row->type == MERCER_FLAG)
        snprintf(bytes, size, "default %s", row->initial != 0 ? "yes" : "no");
    else if (isinf(row->high))
        snprintf(bytes, size, "at least %g; default %g", row->low, row->initial);
    else
        snprintf(bytes, size, "%g to %g; default %g", row->low, row->high, row->initial);
}

static void setting_line(FILE *out, const mercer_setting *row) {
    static const char *const argument[] = {
        [MERCER_REAL] = "NUMBER", [MERCER_INTEGER] = "N", [MERCER_FLAG] = NULL, [MERCER_TEXT] = "NAME"};
    char name[48], range[160], help[400];
    snprintf(name, sizeof name, "%s%s", row->type == MERCER_FLAG ? "[no-]" : "", option_text(row->name).bytes);
    range_text(row, range, sizeof range);
    snprintf(help, sizeof help, "%s (%s)", row->help, range);
    put_option_line(out, 0, name, argument[row->type], help);
}

static void machine_lines(FILE *out) {
    const mercer_machine *machine;
    for (int i = 0; (machine = mercer_machine_at(i)); i++) {
        fprintf(out, "\nsettings of the machine %s (%s):\n", machine->name, machine->help);
        for (int k = 0; k < machine->count; k++)
            setting_line(out, &machine->settings[k]);
    }
}

void help_verb(FILE *out, const verb *v) {
    fprintf(out, "usage: mercer %s %s\n\n%s\n", v->name, v->usage, v->notes);
    for (int t = 0; v->tables[t]; t++) {
        fprintf(out, "\n");
        for (const option *o = v->tables[t]; o->name; o++)
            put_option_line(out, o->letter, o->name, o->argument, o->help);
    }
    if (v->machine)
        machine_lines(out);
}

/* page.c: mercer report: one page of HTML that says what a model is, how good it is and how sure, with its pictures,
   and how to make it again. It needs no network: pictures stand in it as data, and there are no scripts. The same model
   and rows give the same bytes. */
#include "cli/verbs/plot.h"
#include "data/helpers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"output", 'o', "FILE", "the page (default: the model's name with .html, in this folder)"},
    {0},
};

typedef struct page {
    picture of; /* the model, and rows where there are any */
    FILE *out;
    int pictures;
} page;

/* ---- Text ---- */

static void put_escaped(FILE *out, const char *bytes) {
    for (; *bytes; bytes++)
        switch (*bytes) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default: fputc(*bytes, out);
        }
}

/* A word of a command for the shell: in quotes unless it is plain; "./" before a dash, which would start an option. */
static void put_word(FILE *out, const char *word) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+,:=@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(out, "%s%s", *word == '-' ? "./" : "", word);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            put_escaped(out, (const char[]){*word, '\0'});
    fputc('\'', out);
}

static void put_section_title(FILE *out, const char *title, const char *words) {
    fprintf(out, "<h2>%s</h2>\n", title);
    if (words)
        fprintf(out, "<p>%s</p>\n", words);
}

static void put_base64(FILE *out, const unsigned char *b, size_t size) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const unsigned v = (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0u);
        fputc(digit[v >> 18], out);
        fputc(digit[v >> 12 & 63], out);
        fputc(left > 1 ? digit[v >> 6 & 63] : '=', out);
        fputc(left > 2 ? digit[v & 63] : '=', out);
    }
}

/* ---- What the report prints for people, as rows of a table ---- */

enum { LABEL = 13 }; /* the width of the label in say() */

static void put_row(FILE *out, char *line) {
    char label[LABEL + 1];
    snprintf(label, sizeof label, "%.*s", LABEL, line);
    for (size_t end = strlen(label); end > 0 && label[end - 1] == ' '; end--)
        label[end - 1] = '\0';
    fputs("<tr><th>", out);
    put_escaped(out, label);
    fputs("</th><td>", out);
    put_escaped(out, strlen(line) > LABEL ? line + LABEL : "");
    fputs("</td></tr>\n", out);
}

/* A line of numbers under each other, "  name  least  mean  greatest": its words, the first of them to the left. */
static void put_cells(FILE *out, char *line) {
    fputs("<tr>", out);
    for (char *end = line + strlen(line), *cell = line + strspn(line, " "); cell < end; cell += strspn(cell, " ")) {
        char *gap = strstr(cell, "  "), *stop = gap ? gap : end;
        const bool first = cell == line + strspn(line, " ");
        *stop = '\0';
        fputs(first ? "<th>" : "<td class=\"number\">", out);
        put_escaped(out, cell);
        fputs(first ? "</th>" : "</td>", out);
        cell = stop + (stop < end);
    }
    fputs("</tr>\n", out);
}

/* Lines that begin with a space and a word are a table of numbers of their own; all others a label and what it says. */
static void put_rows(FILE *out, char *text_of_rows) {
    bool numbers = false;
    fputs("<table>\n", out);
    for (char *line = strtok(text_of_rows, "\n"); line; line = strtok(NULL, "\n")) {
        const bool next = line[0] == ' ' && strspn(line, " ") == 2;
        if (next != numbers)
            fputs("</table>\n<table>\n", out);
        numbers = next;
        if (numbers)
            put_cells(out, line);
        else
            put_row(out, line);
    }
    fputs("</table>\n", out);
}

/* What one of the say_ functions prints, caught on its way. */
typedef int saying(session *s, const page *p);

static int capture_output(session *s, const page *p, saying *say_it, char **out) {
    const session before = *s;
    size_t size = 0;
    *out = NULL;
    FILE *stream = open_memstream(out, &size);
    if (!stream)
        return session_fail(s, MERCER_MEMORY);
    s->out = stream;
    s->json = s->quiet = false;
    const int code = say_it(s, p);
    s->out = before.out;
    s->json = before.json;
    s->quiet = before.quiet;
    fclose(stream);
    return code;
}

static int say_it_model(session *s, const page *p) {
    say_model(s, p->of.model_path, p->of.model);
    return EXIT_DONE;
}

static int say_it_data(session *s, const page *p) {
    say_data(s, p->of.data_path, p->of.data);
    return say_table(s, p->of.data);
}

static int say_it_scores(session *s, const page *p) {
    mercer_scores scores = {.size = sizeof scores};
    TRY_CTX(s, mercer_score(s->ctx, p->of.model, p->of.data, &scores));
    say_scores(s, p->of.model, &scores);
    return EXIT_DONE;
}

static int put_caught(session *s, page *p, saying *say_it) {
    char *words = NULL;
    const int code = capture_output(s, p, say_it, &words);
    if (code == EXIT_DONE)
        put_rows(p->out, words);
    free(words);
    return code;
}

/* ---- Sections ---- */

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#1b1b1b;background:#fff}"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #ccc}"
    "th{text-align:left;padding-right:1.5rem;vertical-align:top;font-weight:600;white-space:nowrap}td{overflow-wrap:"
    "anywhere}"
    "table{margin:.5rem 0}.number{text-align:right;padding-right:1.5rem;white-space:nowrap}"
    "pre{background:#f5f5f5;padding:.8rem;overflow-x:auto}.wrap{white-space:pre-wrap;overflow-wrap:anywhere}"
    "figure{margin:.5rem 0 1.5rem}figcaption{font-size:.9rem;color:#444}img{max-width:100%;height:auto}"
    "@media(max-width:32rem){body{font-size:15px;margin:1rem auto}th,.number{padding-right:.8rem}pre{font-size:.75rem}}"
    "@media print{body{margin:0;max-width:none}figure,tr{break-inside:avoid}h2{break-after:avoid}pre{border:1px solid "
    "#ccc}}";

static void put_head(page *p) {
    fprintf(p->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    put_escaped(p->out, p->of.model_path);
    fprintf(p->out, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", style);
    put_escaped(p->out, p->of.model_path);
    fprintf(p->out, "</h1>\n<p>Written by Mercer %s.</p>\n", mercer_version());
}

static int put_proof(session *s, page *p) {
    mercer_proof *proof = NULL;
    put_section_title(
        p->out, "The kernel",
        "A kernel measures how alike two rows are. For the answer to mean anything it must be positive definite: "
        "an inner product of the rows in some space. This is the argument, checked step by step by separate code.");
    TRY_CTX(s, mercer_prove(s->ctx, mercer_model_kernel(p->of.model), mercer_model_columns(p->of.model), &proof));
    fputs("<pre class=\"wrap\">", p->out);
    put_escaped(p->out, mercer_proof_text(proof));
    fputs("</pre>\n", p->out);
    mercer_proof_free(proof);
    return EXIT_DONE;
}

/* Each kind of certificate for someone who has not met one. */
static const char *certificate_words(const char *kind) {
    static const struct {
        const char *kind, *words;
    } table[] = {
        {"residual", "The coefficients were put back into the equations they should solve, from the raw rows and by "
                     "code that does not know how they were found. What is left over bounds how far any prediction can "
                     "be from that of the exact optimum: the solver need not be trusted, only this check."},
        {"gradient",
         "At the optimum the slope of the objective is zero. The slope at this answer was computed from the raw rows "
         "by code that does not know how it was found; its size says how far the answer still is from the bottom."},
        {"gap", "The problem has a dual problem. Every value of the dual is below the optimum, every value of the "
                "problem above it, and both were computed from the raw rows. The gap between the two is the most by "
                "which the answer can still be improved."},
        {"numerical gap",
         "The problem has a dual problem; the gap between their two values is the most by which the answer can still "
         "be improved. The loss came without a conjugate, which was found by search."},
        {"sampled residual",
         "This is an approximation, and the certificate measures it against the exact problem: its equations were "
         "checked on the rows that weigh most and on others drawn at random, which estimates what is left over."},
        {"sampled gap",
         "This is an approximation, and the certificate measures it against the exact problem: every value of its dual "
         "is below the optimum, and one was computed from the rows that weigh most and others drawn at random. The gap "
         "estimates how far the answer is from the exact optimum."},
        {"eigenvalues", "Each component was multiplied by the matrix again; by how far the result is not a multiple of "
                        "it bounds how far its eigenvalue is from a true one."},
        {"exact", "Nothing is optimised here: a prediction looks at all rows, and there is nothing to be wrong about."},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (strcmp(table[k].kind, kind) == 0)
            return table[k].words;
    return "This model solves no stated problem (it was updated, or another program made it), so there is nothing to "
           "certify.";
}

/* Pictures that suit the model and the rows; a kernel of scaled columns is not drawn over unscaled ones. */
static int wanted_pictures(const page *p, const char **out) {
    const mercer_model *model = p->of.model;
    const bool plain = strcmp(mercer_model_report(model)->scale, "none") == 0;
    const bool answers = mercer_data_classes(p->of.data) > 0 || mercer_data_outputs(p->of.data) > 0;
    int count = 0;
    if (mercer_model_report(model)->variance > 0) {
        out[count++] = "scatter";
    } else if (mercer_model_classes(model) > 1) {
        if (p->of.d > 1)
            out[count++] = "regions";
        if (answers)
            out[count++] = "confusion";
        if (answers && mercer_model_has_proba(model))
            out[count++] = "calibration";
    } else {
        if (p->of.d == 1)
            out[count++] = "curve";
        if (answers && mercer_model_outputs(model) == 1)
            out[count++] = "residuals";
    }
    if (plain) {
        out[count++] = "gram";
        out[count++] = "spectrum";
    }
    return count;
}

static int put_pictures(session *s, page *p) {
    const char *names[8];
    const int count = wanted_pictures(p, names);
    put_section_title(p->out, "Pictures", NULL);
    for (int k = 0; k < count; k++) {
        const char *caption = NULL;
        const void *bytes = NULL;
        size_t size = 0;
        TRY(picture_svg(s, &p->of, names[k], &caption, &bytes, &size));
        fprintf(p->out, "<figure><img alt=\"%s\" src=\"data:image/svg+xml;base64,", caption);
        put_base64(p->out, bytes, size);
        fprintf(p->out, "\"><figcaption>%s: %s</figcaption></figure>\n", names[k], caption);
        p->pictures++;
    }
    return EXIT_DONE;
}

/* A setting of the fit as an option, unless it is the default: " --lambda 0.1", " --intercept". */
static void put_setting(FILE *out, const mercer_setting *row, const char *value) {
    const text name = option_text(row->name);
    if (setting_is_default(row, value))
        return;
    fprintf(out, " --%s%s", row->type == MERCER_FLAG && strcmp(value, "yes") ? "no-" : "", name.bytes);
    if (row->type != MERCER_FLAG) {
        fputc(' ', out);
        put_word(out, value);
    }
}

static void put_settings(FILE *out, const mercer_machine *machine, const char *settings) {
    char value[256];
    for (int k = 0; k < machine->count; k++)
        if (setting_value(settings, machine->settings[k].name, value, sizeof value))
            put_setting(out, &machine->settings[k], value);
}

static void put_commands(page *p) {
    const mercer_report *r = mercer_model_report(p->of.model);
    const mercer_machine *machine = mercer_machine_find(r->machine);
    put_section_title(p->out, "To make it again", "DATA stands for the rows of the fit, NEW for rows to predict.");
    fprintf(p->out, "<pre class=\"wrap\">");
    if (machine) {
        fprintf(p->out, "mercer fit DATA -m %s -k ", r->machine);
        put_word(p->out, mercer_kernel_text(mercer_model_kernel(p->of.model)));
        put_settings(p->out, machine, mercer_model_settings(p->of.model));
        fprintf(p->out, " -o ");
        put_word(p->out, p->of.model_path);
        fputc('\n', p->out);
    }
    fprintf(p->out, "mercer predict ");
    put_word(p->out, p->of.model_path);
    fprintf(p->out, " NEW -o predictions.csv\nmercer report ");
    put_word(p->out, p->of.model_path);
    if (p->of.data_path) {
        fputc(' ', p->out);
        put_word(p->out, p->of.data_path);
    }
    fprintf(p->out, "</pre>\n</body>\n</html>\n");
}

static int write_sections(session *s, page *p) {
    const char *kind = mercer_model_report(p->of.model)->certificate.kind;
    put_head(p);
    put_section_title(p->out, "The fit", NULL);
    TRY(put_caught(s, p, say_it_model));
    put_section_title(p->out, "How sure it is", certificate_words(kind));
    TRY(put_proof(s, p));
    if (p->of.data) {
        put_section_title(p->out, "The rows", NULL);
        TRY(put_caught(s, p, say_it_data));
        if (mercer_data_classes(p->of.data) > 0 || mercer_data_outputs(p->of.data) > 0) {
            put_section_title(p->out, "Scores",
                              "On the rows of this page. Rows that the model was fitted to flatter it.");
            TRY(put_caught(s, p, say_it_scores));
        }
        TRY(put_pictures(s, p));
    }
    put_commands(p);
    return session_alive(s);
}

/* ---- The verb ---- */

static void default_name(const char *model, char *path, size_t size) {
    const char *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model, *dot = strrchr(base, '.');
    snprintf(path, size, "%.*s.html", (int)(dot && dot > base ? dot - base : (long)strlen(base)), base);
}

static int save_page(session *s, const page *p, const char *bytes, size_t size) {
    char path[4096];
    const char *named = args_text(&s->args, "output");
    default_name(p->of.model_path, path, sizeof path);
    TRY_CTX(s, mc_file_write(s->ctx, named ? named : path, bytes, size));
    say_fact(s, "page", "%s: %s", named ? named : path, text_count(p->pictures, "picture").bytes);
    json_t *object = json_object();
    json_put(object, "page", json_text(named ? named : path));
    json_put(object, "pictures", json_integer(p->pictures));
    json_put(object, "bytes", json_integer((json_int_t)size));
    return json_finish(s, object);
}

static int write_page(session *s, page *p) {
    char *bytes = NULL;
    size_t size = 0;
    if (!p->of.model)
        return print_error("report is about a model: mercer report MODEL [DATA]");
    p->out = open_memstream(&bytes, &size);
    if (!p->out)
        return session_fail(s, MERCER_MEMORY);
    int code = write_sections(s, p);
    const bool whole = fclose(p->out) == 0;
    if (code == EXIT_DONE && !whole)
        code = session_fail(s, MERCER_MEMORY);
    THEN(code, save_page(s, p, bytes, size));
    free(bytes);
    return code;
}

static int run_report(session *s) {
    page p = {0};
    int code = picture_open(s, &p.of);
    THEN(code, write_page(s, &p));
    picture_close(&p.of);
    return code;
}

const verb verb_report = {
    .name = "report",
    .summary = "one page of HTML about a model: its kernel, fit, certificate, scores and pictures",
    .usage = "MODEL [DATA] [-o PAGE.html] [options]",
    .notes = "The page needs no network and no other file. With DATA it has the scores on these rows and the pictures "
             "that suit them.\n\n"
             "  mercer report houses.mercer houses.csv -o houses.html\n"
             "  mercer report flowers.mercer flowers.csv\n"
             "  mercer report flowers.mercer --json",
    .least = 1,
    .most = 2,
    .tables = {options, missing_options, common_options},
    .computes = true,
    .run = run_report,
};

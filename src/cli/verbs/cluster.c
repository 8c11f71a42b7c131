/* cluster.c: mercer cluster DATA: kernel k-means, or spectral clustering. */
#include "cli/cli.h"
#include "data/helpers.h"
#include <stdlib.h>
#include <string.h>

static const option options[] = {
    {"kernel", 'k', "KERNEL", "an expression of the kernel language (default rbf)"},
    {"clusters", 'c', "K", "number of clusters (default 2)"},
    {"method", 0, "NAME", "kmeans, or spectral: k is the affinity of two rows (default kmeans)"},
    {"restarts", 0, "R", "random initializations, of which the best result is kept (default 10)"},
    {"output", 'o', "FILE", "cluster labels, one number per row, as CSV (default: none written)"},
    {0},
};

typedef struct grouping {
    mercer_kernel *kernel;
    mercer_data *data;
    mercer_clustering set;
    bool spectral;
    int64_t *group;
    double *eigenvalues; /* spectral */
    mercer_clusters result;
} grouping;

static int read_method(session *s, grouping *g) {
    const char *method = args_text(&s->args, "method");
    g->spectral = method && strcmp(method, "spectral") == 0;
    if (method && !g->spectral && strcmp(method, "kmeans") != 0)
        return print_error("--method must be kmeans or spectral, got '%s'", method);
    return EXIT_DONE;
}

static int compute_clusters(session *s, grouping *g) {
    const args *a = &s->args;
    int64_t seed = 0;
    TRY(read_method(s, g));
    TRY(args_whole(a, "clusters", 1, (int64_t)1 << 31, &g->set.clusters));
    TRY(args_whole(a, "restarts", 1, 1000000, &g->set.restarts));
    TRY(args_whole(a, "seed", 0, (int64_t)1 << 53, &seed));
    g->set.seed = (uint64_t)seed;
    TRY(input_kernel(s, args_text(a, "kernel") ? args_text(a, "kernel") : "rbf", &g->kernel));
    TRY(input_data(s, g->kernel, a->operand[0], NULL, MERCER_TARGET_AUTO, &g->data));
    g->group = session_take(s, mercer_data_rows(g->data), 1, sizeof *g->group);
    g->eigenvalues = g->group ? session_take(s, g->set.clusters, 1, sizeof *g->eigenvalues) : NULL;
    if (!g->eigenvalues)
        return EXIT_MEMORY;
    if (g->spectral)
        TRY_CTX(s, mercer_cluster_spectral(s->ctx, g->kernel, g->data, &g->set, g->group, g->eigenvalues, &g->result));
    else
        TRY_CTX(s, mercer_cluster(s->ctx, g->kernel, g->data, &g->set, g->group, &g->result));
    return session_alive(s);
}

static int write_groups(session *s, const grouping *g, const char *path) {
    enum { DIGITS = 24 };
    const int64_t n = mercer_data_rows(g->data);
    char *lines = session_take(s, n + 1, DIGITS, 1);
    if (!lines)
        return EXIT_MEMORY;
    size_t used = (size_t)snprintf(lines, DIGITS, "cluster\n");
    for (int64_t i = 0; i < n; i++)
        used += (size_t)snprintf(lines + used, DIGITS, "%lld\n", (long long)g->group[i] + 1);
    const mercer_status status = mc_file_write(s->ctx, path, lines, used);
    free(lines);
    return status ? session_fail(s, status) : EXIT_DONE;
}

static int64_t size_of(const grouping *g, int64_t c) {
    int64_t count = 0;
    for (int64_t i = 0; i < mercer_data_rows(g->data); i++)
        count += g->group[i] == c;
    return count;
}

static void say_eigenvalues(session *s, const grouping *g) {
    char list[128];
    size_t used = 0;
    int64_t c = 0;
    for (; c < g->set.clusters && used < 100; c++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.3g", c ? ", " : "",
                                 g->eigenvalues[c] < 1e-12 ? 0 : g->eigenvalues[c]);
    say_fact(s, "eigenvalues", "%s%s: the least of the normalised Laplacian", list, c < g->set.clusters ? ", ..." : "");
}

static json_t *json_eigenvalues(const grouping *g) {
    json_t *list = json_array();
    for (int64_t c = 0; c < g->set.clusters; c++)
        json_array_append_new(list, json_value(g->eigenvalues[c]));
    return list;
}

static int report_clusters(session *s, const grouping *g, const char *path) {
    static const report_row kernel_rows[] = {{"kernel", NULL, "{kernel}"}, {0}};
    static const report_row spread_rows[] = {
        {"spread", "method=kmeans",
         "{objective:.6g} within clusters (sum of squares); {explained:%.1f} of the total is between them"},
        {0}};
    static const report_row file_rows[] = {{"written", NULL, "{output}"}, {0}};
    json_t *object = json_object(), *sizes = json_array();
    json_put(object, "kernel", json_text(mercer_kernel_text(g->kernel)));
    json_put(object, "method", json_text(g->spectral ? "spectral" : "kmeans"));
    if (g->spectral)
        json_put(object, "eigenvalues", json_eigenvalues(g));
    json_put(object, "objective", json_value(g->result.objective));
    json_put(object, "total", json_value(g->result.total));
    json_put(object, "explained", json_value(g->result.total > 0 ? 1 - g->result.objective / g->result.total : 1));
    json_put(object, "iterations", json_integer(g->result.iterations));
    json_put(object, "output", json_text(path));
    say_fields(s, object, kernel_rows);
    say_data(s, s->args.operand[0], g->data);
    if (g->spectral)
        say_eigenvalues(s, g);
    say_fields(s, object, spread_rows);
    for (int64_t c = 0; c < g->set.clusters; c++) {
        json_array_append_new(sizes, json_integer(size_of(g, c)));
        say_fact(s, c ? "" : "clusters", "%lld: %s", (long long)c + 1, text_count(size_of(g, c), "row").bytes);
    }
    json_put(object, "sizes", sizes);
    return report_fields(s, object, file_rows);
}

static int run_cluster(session *s) {
    grouping g = {.set = mercer_clustering_defaults(), .result.size = sizeof(mercer_clusters)};
    const char *path = args_text(&s->args, "output");
    int code = compute_clusters(s, &g);
    if (path && strcmp(path, "-") == 0)
        s->out = stderr;
    if (code == EXIT_DONE && path)
        code = write_groups(s, &g, path);
    THEN(code, report_clusters(s, &g, path));
    free(g.group);
    free(g.eigenvalues);
    mercer_data_free(g.data);
    mercer_kernel_free(g.kernel);
    return code;
}

const verb verb_cluster = {
    .name = "cluster",
    .summary = "cluster rows by kernel k-means or spectral clustering",
    .usage = "DATA [-k KERNEL] [-c K] [-o LABELS.csv] [options]",
    .notes = "Kernel k-means: each row belongs to the cluster whose mean in feature space is nearest. With linear this "
             "is k-means\n"
             "itself. With --method spectral the kernel is the affinity of rows, and the rows are clustered by the "
             "first eigenvectors of\n"
             "the normalised Laplacian: clusters of any shape. The target column is left out; --no-target keeps it.\n\n"
             "  mercer cluster flowers.csv -c 3 -o groups.csv\n"
             "  mercer cluster rings.csv --method spectral -k 'rbf(sigma=0.2)' -c 2\n"
             "  mercer cluster flowers.csv -k linear -c 3 --restarts 20 --json",
    .least = 1,
    .most = 1,
    .tables = {options, data_options, seed_options, common_options},
    .computes = true,
    .run = run_cluster,
};

/* plot_absent.c: the verbs that draw, of a command built without cairo. */
#include "cli/cli.h"

static int run_plot(session *s) {
    (void)s;
    return print_error("plot and report draw with cairo, which was absent when this command was built; install "
                       "libcairo2-dev and build again");
}

const verb verb_plot = {
    .name = "plot",
    .summary = "a picture of a model, of data or of a kernel (not in this build: no cairo)",
    .usage = "",
    .most = 2,
    .tables = {common_options},
    .run = run_plot,
};

const verb verb_report = {
    .name = "report",
    .summary = "one page of HTML about a model (not in this build: no cairo)",
    .usage = "",
    .most = 2,
    .tables = {common_options},
    .run = run_plot,
};

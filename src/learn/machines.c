/* machines.c: the table of machines, and settings as the public sees them. */
#include "learn/machines.h"
#include "base/ctx.h"
#include "base/settings.h"
#include "base/status.h"
#include <string.h>

enum { RIDGE, GP, MACHINES };

static const mercer_machine machines[MACHINES] = {
    [RIDGE] = {.name = "ridge",
               .help = "least squares with a penalty on the norm; numbers (several outputs) or classes",
               .settings = mc_ridge_settings,
               .count = MC_RIDGE_SETTINGS,
               .size = sizeof(mercer_ridge)},
    [GP] = {.name = "gp",
            .help = "Gaussian process regression: mean and uncertainty, the kernel's parameters learned",
            .settings = mc_gp_settings,
            .count = MC_GP_SETTINGS,
            .size = sizeof(mercer_gp)},
};
static const mc_learner *const learners[MACHINES] = {[RIDGE] = &mc_ridge_learner, [GP] = &mc_gp_learner};

const mercer_machine *mercer_machines(int *count) {
    *count = MACHINES;
    return machines;
}

const mercer_machine *mercer_machine_find(const char *name) {
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const mc_learner *mc_learner_of(const mercer_machine *machine) {
    for (int i = 0; i < MACHINES; i++)
        if (machine == &machines[i])
            return learners[i];
    return NULL;
}

void mercer_settings_defaults(const mercer_machine *machine, void *settings) {
    memset(settings, 0, machine->size);
    mc_settings_fill(machine->settings, machine->count, settings);
}

mercer_status mercer_settings_put(mercer_ctx *ctx, const mercer_machine *machine, void *settings, const char *name,
                                  const char *text) {
    mc_begin(ctx);
    return mc_settings_write(ctx, machine->name, machine->settings, machine->count, settings, name, text);
}

mercer_ridge mercer_ridge_defaults(void) {
    mercer_ridge set;
    mercer_settings_defaults(&machines[RIDGE], &set);
    return set;
}

mercer_gp mercer_gp_defaults(void) {
    mercer_gp set;
    mercer_settings_defaults(&machines[GP], &set);
    return set;
}

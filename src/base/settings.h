/* settings.h: what a settings row drives: defaults, checks, one field from text. */
#ifndef MC_BASE_SETTINGS_H
#define MC_BASE_SETTINGS_H

#include <mercer.h>

void mc_settings_fill(const mercer_setting *rows, int count, void *settings);
/* owner names the machine in the message: "ridge: lambda must be in [0, inf], got -1". */
mercer_status mc_settings_check(mercer_ctx *ctx, const char *owner, const mercer_setting *rows, int count,
                                const void *settings);
/* A TEXT field keeps the pointer: text must outlive settings. */
mercer_status mc_settings_write(mercer_ctx *ctx, const char *owner, const mercer_setting *rows, int count,
                                void *settings, const char *name, const char *text);
/* Whether the field of the row has the same value in both. */
bool mc_setting_same(const mercer_setting *row, const void *a, const void *b);
/* A number outside of a range as a message shows it: to six digits, to all where these would be those of an end. */
const char *mc_seen_text(double seen, double low, double high, char text[32]);
/* 0-based place of text in "a|b|c", -1 when absent. */
int mc_choice_index(const char *choices, const char *text);

#endif

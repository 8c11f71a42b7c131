/* csv.h: comma, tab or semicolon separated text. */
#ifndef MC_DATA_CSV_H
#define MC_DATA_CSV_H

#include "data/raw.h"

mercer_status mc_csv_read(mercer_ctx *ctx, const mc_input *input, const mc_reading *reading, mercer_data **out);

/* For csv_head.c: settle delimiter, columns, names, header and which columns look like text, from the first records. */
char mc_csv_delimiter(const mc_lines *lines, const char *name);
mercer_status mc_csv_head(mercer_ctx *ctx, const mc_reading *reading, mc_raw *raw);
/* Cells of the record at p; its faults are not looked at. */
int64_t mc_csv_count(const mc_raw *raw, const char *p);
mercer_status mc_csv_fail_cell(mercer_ctx *ctx, const mc_raw *raw, const mc_cell *cell);

#endif

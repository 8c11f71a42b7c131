/* read.h: reading a file or bytes in memory; what the public calls, the tests and the fuzz targets stand on. */
#ifndef MC_DATA_READ_READ_H
#define MC_DATA_READ_READ_H

#include "data/table/data.h"
#include "data/read/raw.h"

mercer_status mc_data_read_as(mercer_ctx *ctx, const char *path, const mc_reading *reading, mercer_data **out);

/* name: of the file, for its ending and for messages. */
mercer_status mc_data_parse(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name, const mercer_read *set,
                            mercer_data **out);
mercer_status mc_data_parse_as(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name,
                               const mc_reading *reading, mercer_data **out);
/* The same under a schema: see mc_data_read_like. */
mercer_status mc_data_parse_like(mercer_ctx *ctx, const void *bytes, int64_t size, const char *name,
                                 const mercer_read *set, const mc_schema *schema, int64_t d, int64_t classes,
                                 char *const *labels, mercer_data **out);

/* Whether these bytes, or the beginning of them, are CSV rather than npy, LIBSVM or gzipped. */
bool mc_is_csv(const mc_input *input);

#endif

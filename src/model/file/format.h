/* format.h: the model file, as save.c writes and load.c reads it. docs/model-format.md is its description.

   A safetensors file: 8 bytes with the length of the header, the header (JSON), the arrays one after the other. The
   header begins with

       {"__metadata__":{"format":"mercer/1","checksum":"0123456789abcdef", ...

   to the byte, so that version and checksum are found before anything is believed. The checksum is the CRC-64 of the
   whole file with sixteen '0' in its own place. */
#ifndef MC_MODEL_FILE_FORMAT_H
#define MC_MODEL_FILE_FORMAT_H

#include "model/model.h"

#define MC_FORMAT_BEGIN "{\"__metadata__\":{\"format\":\"mercer/"
#define MC_FORMAT_VERSION "1"
#define MC_FORMAT_COLUMNS "2" /* a model that does not keep all columns lists those it keeps */
#define MC_FORMAT_MIDDLE "\",\"checksum\":\""
enum {
    MC_CHECKSUM_PLACE = sizeof MC_FORMAT_BEGIN + sizeof MC_FORMAT_VERSION + sizeof MC_FORMAT_MIDDLE - 3,
    MC_CHECKSUM_DIGITS = 16,
    MC_HEADER_LARGEST = 100000000 /* bytes; the limit of other readers of the format */
};

/* The numbers and words of the report, each under its own key. */
typedef enum mc_field_kind { MC_FIELD_COUNT, MC_FIELD_REAL, MC_FIELD_WORD } mc_field_kind;
typedef struct mc_field {
    const char *name;
    mc_field_kind kind;
    size_t offset;      /* in mercer_report */
    const char *absent; /* what a file without it means, for fields younger than the format; NULL: it must be there */
} mc_field;
enum { MC_FIELDS = 43 };
extern const mc_field mc_report_fields[MC_FIELDS];

/* What decides which arrays there are and how large, and what must go with it (check_shape.h). */
typedef struct mc_model_shape {
    const char *machine, *solver;
    int64_t n, d, outputs, features;
    int64_t width;     /* columns as users count them; d: those that are kept (data/table/columns.h) */
    bool listed;       /* which are kept is listed: otherwise all are */
    int64_t rows;      /* of the training data */
    int64_t neighbors; /* 0: none are asked */
    mc_form form;
    bool row, boxed, primal; /* whether the model has these arrays */
    bool labelled, worded;   /* classes; texts beside the columns */
    bool by_distance;
    int64_t stored; /* values of sparse centres; -1: dense */
    mercer_dtype dtype;
    bool scaled, noisy, spectral;
} mc_model_shape;
mc_model_shape mc_model_shape_of(const mercer_model *model);

/* The arrays in the order they lie in the file, those of eight bytes an element first. */
enum { MC_ARRAYS = 15 };
typedef struct mc_array {
    const char *name, *dtype; /* dtype NULL: this model has no such array */
    int dims;
    int64_t shape[2];
    size_t size; /* bytes of an element */
} mc_array;
/* False when a product of sizes overflows. *bytes: of all arrays. */
bool mc_model_arrays(const mc_model_shape *shape, mc_array out[MC_ARRAYS], size_t *bytes);
size_t mc_array_bytes(const mc_array *array);
/* Where the k-th array lies in a model. */
void *mc_array_place(const mercer_model *model, int k);

extern const char *const mc_column_kind_names[];
enum { MC_COLUMN_KINDS = 5 };

/* MERCER_DATA when a name or label is not UTF-8, which a model file must be; asked before a fit, not after it. */
mercer_status mc_model_can_hold(mercer_ctx *ctx, const mercer_data *data);

#endif

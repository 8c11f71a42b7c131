/* protobuf.c: the few forms of Protocol Buffers that ONNX is made of. */
#include "model/export/protobuf.h"
#include <string.h>

enum { VARINT = 0, BYTES = 2 };

/* Seven bits at a time, the lowest first; the eighth says that more follow. Negative numbers are taken modulo 2^64. */
static void add_varint(mc_text *message, uint64_t value) {
    char bytes[10];
    int64_t length = 0;
    for (; value >= 128; value >>= 7)
        bytes[length++] = (char)(value | 128);
    bytes[length++] = (char)value;
    mc_text_bytes(message, bytes, length);
}

static void add_head(mc_text *message, int field, int form) {
    add_varint(message, (uint64_t)field << 3 | (uint64_t)form);
}

/* The lowest byte first, whatever the machine does. */
static void add_little(mc_text *message, uint64_t bits, int size) {
    char bytes[8];
    for (int k = 0; k < size; k++)
        bytes[k] = (char)(bits >> 8 * k);
    mc_text_bytes(message, bytes, size);
}

void mc_wire_integer(mc_text *message, int field, int64_t value) {
    add_head(message, field, VARINT);
    add_varint(message, (uint64_t)value);
}

void mc_wire_bytes(mc_text *message, int field, const void *bytes, int64_t length) {
    add_head(message, field, BYTES);
    add_varint(message, (uint64_t)length);
    mc_text_bytes(message, bytes, length);
}

void mc_wire_string(mc_text *message, int field, const char *string) {
    mc_wire_bytes(message, field, string, (int64_t)strlen(string));
}

void mc_wire_message(mc_text *message, int field, mc_text *inner) {
    if (inner->status && !message->status)
        message->status = inner->status;
    mc_wire_bytes(message, field, inner->bytes, inner->length);
    mc_text_close(inner);
    inner->ctx = message->ctx;
}

void mc_wire_floats(mc_text *message, int field, const double *values, int64_t count) {
    add_head(message, field, BYTES);
    add_varint(message, 4 * (uint64_t)count);
    for (int64_t k = 0; k < count; k++) {
        const float value = (float)values[k];
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        add_little(message, bits, 4);
    }
}

void mc_wire_doubles(mc_text *message, int field, const double *values, int64_t count) {
    add_head(message, field, BYTES);
    add_varint(message, 8 * (uint64_t)count);
    for (int64_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        add_little(message, bits, 8);
    }
}

void mc_wire_integers(mc_text *message, int field, const int64_t *values, int64_t count) {
    mc_text all = mc_text_open(message->ctx);
    for (int64_t k = 0; k < count; k++)
        add_varint(&all, (uint64_t)values[k]);
    mc_wire_message(message, field, &all);
}

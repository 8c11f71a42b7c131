/* protobuf.h: messages in the wire format of Protocol Buffers, written by hand: ONNX needs two of its forms (a whole
   number, and a length with that many bytes), which is less than a compiler of .proto files and its library would ask
   of those who build Mercer.

   A message is a text of bytes. A field is its number and its form in one varint, then its value; a message inside
   another is a field of bytes. Failures to grow are kept in the texts until the outermost is taken. */
#ifndef MC_MODEL_EXPORT_PROTOBUF_H
#define MC_MODEL_EXPORT_PROTOBUF_H

#include "base/text.h"

void mc_wire_integer(mc_text *message, int field, int64_t value);
void mc_wire_bytes(mc_text *message, int field, const void *bytes, int64_t length);
void mc_wire_string(mc_text *message, int field, const char *string);
void mc_wire_message(mc_text *message, int field, mc_text *inner); /* inner is empty after */
/* Many numbers as one field: as float, as little-endian double, as varints. */
void mc_wire_floats(mc_text *message, int field, const double *values, int64_t count);
void mc_wire_doubles(mc_text *message, int field, const double *values, int64_t count);
void mc_wire_integers(mc_text *message, int field, const int64_t *values, int64_t count);

#endif

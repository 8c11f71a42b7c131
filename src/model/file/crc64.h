/* crc64.h: the CRC-64 of the xz format (ECMA-182, reflected, all ones before and after): finds every change of up to 64
   adjacent bits, and any other with a chance of 2^-64 to miss it. */
#ifndef MC_MODEL_FILE_CRC64_H
#define MC_MODEL_FILE_CRC64_H

#include <stddef.h>
#include <stdint.h>

typedef struct mc_crc64 {
    uint64_t state;
    uint64_t table[8][256]; /* table[k][b]: what byte b does to the state from k bytes further on */
} mc_crc64;

void mc_crc64_open(mc_crc64 *crc);
void mc_crc64_add(mc_crc64 *crc, const void *bytes, size_t size);
uint64_t mc_crc64_value(const mc_crc64 *crc);

#endif

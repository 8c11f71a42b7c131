/* crc64.c: eight bytes at a step by eight tables ("slicing", Kounavis and Berry 2005). The tables are made when a sum
   is opened: they take some microseconds and no global. */
#include "model/file/crc64.h"
#include <string.h>

static const uint64_t polynomial = 0xC96C5795D7870F42u;

void mc_crc64_open(mc_crc64 *crc) {
    crc->state = ~(uint64_t)0;
    for (uint64_t b = 0; b < 256; b++) {
        uint64_t r = b;
        for (int bit = 0; bit < 8; bit++)
            r = r & 1 ? r >> 1 ^ polynomial : r >> 1;
        crc->table[0][b] = r;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++) {
            const uint64_t before = crc->table[k - 1][b];
            crc->table[k][b] = crc->table[0][before & 255] ^ before >> 8;
        }
}

static uint64_t add_eight(const mc_crc64 *crc, uint64_t state, const unsigned char *p) {
    uint64_t word;
    memcpy(&word, p, 8); /* little-endian, as the whole format */
    state ^= word;
    uint64_t next = 0;
    for (int k = 0; k < 8; k++)
        next ^= crc->table[7 - k][state >> 8 * k & 255];
    return next;
}

void mc_crc64_add(mc_crc64 *crc, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    uint64_t state = crc->state;
    for (; size >= 8; size -= 8, p += 8)
        state = add_eight(crc, state, p);
    for (; size > 0; size--, p++)
        state = crc->table[0][(state ^ *p) & 255] ^ state >> 8;
    crc->state = state;
}

uint64_t mc_crc64_value(const mc_crc64 *crc) {
    return ~crc->state;
}

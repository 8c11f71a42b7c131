/* hash.c: eight bytes at a time, each mixed in by two multiplications with folding, as in the finalisers of Murmur
   (Appleby) and SplitMix (Steele, Lea and Flood, 2014). */
#include "base/hash.h"
#include <string.h>

static uint64_t mix_bits(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
    x = (x ^ (x >> 29)) * 0x9E3779B97F4A7C15u;
    return x ^ (x >> 32);
}

uint64_t mc_hash(uint64_t hash, const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    hash = mix_bits(hash + size + 0x9E3779B97F4A7C15u);
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = mix_bits(hash ^ word) + 0x632BE59BD9B4E019u;
    }
    uint64_t last = 0;
    if (size)
        memcpy(&last, p, size);
    return mix_bits(hash ^ last);
}

uint64_t mc_hash_text(uint64_t hash, const char *text) {
    return text ? mc_hash(hash, text, strlen(text) + 1) : mc_hash(hash, "", 0);
}

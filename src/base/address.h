/* address.h: what a limit on the address space of the process (ulimit -v, ulimit -d) leaves. */
#ifndef MC_BASE_ADDRESS_H
#define MC_BASE_ADDRESS_H

#include <stddef.h>

/* Bytes that can still be mapped; SIZE_MAX where nothing limits them. */
size_t mc_address_left(void);

/* What a thread that computes takes beside the memory that is counted: a buffer of OpenBLAS, 128 MiB, a stack, and what
   malloc sets aside. OpenBLAS asks for its buffer again and again, for ever, when there is none: it must not come to
   that. */
#define MC_ADDRESS_BUFFER ((size_t)128 << 20)
#define MC_ADDRESS_THREAD (MC_ADDRESS_BUFFER + ((size_t)24 << 20))

#endif

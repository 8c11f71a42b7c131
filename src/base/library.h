/* library.h: parts of Mercer that are libraries of their own, opened while the program runs, so that the rest needs
   neither a driver nor MPI. */
#ifndef MC_BASE_LIBRARY_H
#define MC_BASE_LIBRARY_H

#include <stddef.h>

/* libmercer_NAME.so: from the folder that this code lies in, from that of libraries beside a folder of commands, else
   where the system looks. NULL with the reason, in room bytes. Closed with dlclose. */
void *mc_library_open(const char *name, char *why, size_t room);
/* The address of a name in it; NULL: there is none of this name. */
void *mc_library_symbol(void *library, const char *name);

#endif

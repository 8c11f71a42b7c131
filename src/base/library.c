/* library.c: see library.h. */
#include "base/library.h"
#include "base/print.h"
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The folder of the code that asks, with a slash at its end; empty where that is not known. */
static void own_folder(char *out, size_t room) {
    Dl_info here;
    out[0] = '\0';
    if (!dladdr((void *)(uintptr_t)own_folder, &here) || !here.dli_fname || strlen(here.dli_fname) >= room)
        return;
    mc_print(out, room, "%s", here.dli_fname);
    char *slash = strrchr(out, '/');
    if (slash)
        slash[1] = '\0';
    else
        out[0] = '\0';
}

/* A library that is there and does not open says why: it needs the driver, say. */
static void *try_library(const char *path, char *why, size_t room) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library && (!why[0] || access(path, R_OK) == 0))
        mc_print(why, room, "%s", dlerror());
    return library;
}

void *mc_library_open(const char *name, char *why, size_t room) {
    char folder[1024], path[1200];
    void *library = NULL;
    own_folder(folder, sizeof folder);
    static const char *const below[] = {"", "src/", "../src/", "../lib/"};
    for (size_t i = 0; i < sizeof below / sizeof *below && !library && folder[0]; i++) {
        mc_print(path, sizeof path, "%s%slibmercer_%s.so", folder, below[i], name);
        library = access(path, R_OK) == 0 ? try_library(path, why, room) : NULL;
    }
    mc_print(path, sizeof path, "libmercer_%s.so", name);
    return library ? library : try_library(path, why, room);
}

void *mc_library_symbol(void *library, const char *name) {
    return dlsym(library, name);
}

/* npy_from.inc.c: elements of one type to doubles, included once per type with FROM, the name, and TYPE. */
static void FROM(const char *bytes, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++) {
        TYPE v;
        memcpy(&v, bytes + (size_t)i * sizeof v, sizeof v);
        out[i] = (double)v; /* integers past 2^53 are rounded */
    }
}
#undef FROM
#undef TYPE

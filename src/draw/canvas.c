/* canvas.c: strokes, areas, marks and words on a cairo surface that writes into memory. */
#include "draw/canvas.h"
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PNG_SCALE = 2 }; /* dots of a png per point, for screens of today */

struct canvas {
    cairo_surface_t *surface;
    cairo_t *cr;
    double width, height;
    bool png, failed;
    unsigned char *bytes;
    size_t size, capacity;
    char **text;
    int64_t texts, text_capacity, marks;
};

static cairo_status_t append_output_bytes(void *user, const unsigned char *bytes, unsigned int count) {
    canvas *c = user;
    if (c->size + count > c->capacity) {
        const size_t capacity = 2 * (c->size + count);
        unsigned char *larger = realloc(c->bytes, capacity);
        if (!larger)
            return CAIRO_STATUS_WRITE_ERROR;
        c->bytes = larger;
        c->capacity = capacity;
    }
    memcpy(c->bytes + c->size, bytes, count);
    c->size += count;
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *surface_of(canvas *c, const char *format) {
    if (c->png)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PNG_SCALE * c->width),
                                          (int)(PNG_SCALE * c->height));
    if (strcmp(format, "svg") == 0)
        return cairo_svg_surface_create_for_stream(append_output_bytes, c, c->width, c->height);
    cairo_surface_t *pdf = cairo_pdf_surface_create_for_stream(append_output_bytes, c, c->width, c->height);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE,
                                   "2000-01-01T00:00:00Z"); /* the same input gives the same bytes */
    return pdf;
}

canvas *canvas_open(const char *format, double width, double height) {
    canvas *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->width = width;
    c->height = height;
    c->png = strcmp(format, "png") == 0;
    c->surface = surface_of(c, format);
    c->cr = cairo_create(c->surface);
    if (c->png)
        cairo_scale(c->cr, PNG_SCALE, PNG_SCALE);
    cairo_select_font_face(c->cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_line_join(c->cr, CAIRO_LINE_JOIN_ROUND);
    canvas_box(c, colour_paper, (box){0, 0, width, height});
    return c;
}

void canvas_close(canvas *c) {
    if (!c)
        return;
    cairo_destroy(c->cr);
    cairo_surface_destroy(c->surface);
    for (int64_t i = 0; i < c->texts; i++)
        free(c->text[i]);
    free(c->text);
    free(c->bytes);
    free(c);
}

const void *canvas_finish(canvas *c, size_t *size) {
    cairo_status_t status = cairo_status(c->cr);
    if (c->png && status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(c->surface, append_output_bytes, c);
    cairo_surface_finish(c->surface);
    if (status == CAIRO_STATUS_SUCCESS && !c->png)
        status = cairo_surface_status(c->surface);
    *size = c->size;
    return status == CAIRO_STATUS_SUCCESS && !c->failed ? c->bytes : NULL;
}

double canvas_width(const canvas *c) {
    return c->width;
}

double canvas_height(const canvas *c) {
    return c->height;
}

/* ---- Lines and areas ---- */

static void set_ink(canvas *c, colour k, double opacity) {
    cairo_set_source_rgba(c->cr, k.r, k.g, k.b, opacity);
}

/* A point that is not finite breaks the line. */
static void trace_polyline(canvas *c, const canvas_point *at, int64_t count) {
    bool down = false;
    for (int64_t i = 0; i < count; i++) {
        const bool here = isfinite(at[i].x) && isfinite(at[i].y);
        if (here && down)
            cairo_line_to(c->cr, at[i].x, at[i].y);
        else if (here)
            cairo_move_to(c->cr, at[i].x, at[i].y);
        down = here;
    }
}

void canvas_line(canvas *c, pen p, const canvas_point *at, int64_t count) {
    static const double dashes[4][4] = {{0}, {6, 3}, {1.5, 2.5}, {7, 2.5, 1.5, 2.5}};
    static const int lengths[4] = {0, 2, 2, 4};
    set_ink(c, p.ink, 1);
    cairo_set_line_width(c->cr, p.width > 0 ? p.width : 1);
    cairo_set_dash(c->cr, dashes[p.dash & 3], lengths[p.dash & 3], 0);
    trace_polyline(c, at, count);
    cairo_stroke(c->cr);
    cairo_set_dash(c->cr, NULL, 0, 0);
}

void canvas_area(canvas *c, colour fill, double opacity, const canvas_point *at, int64_t count) {
    set_ink(c, fill, opacity);
    trace_polyline(c, at, count);
    cairo_close_path(c->cr);
    cairo_fill(c->cr);
}

void canvas_box(canvas *c, colour fill, box b) {
    set_ink(c, fill, 1);
    cairo_rectangle(c->cr, b.left, b.top, b.right - b.left, b.bottom - b.top);
    cairo_fill(c->cr);
}

static uint32_t pixel_of_colour(colour k) {
    return (uint32_t)lround(255 * k.r) << 16 | (uint32_t)lround(255 * k.g) << 8 | (uint32_t)lround(255 * k.b);
}

static void paint_image(canvas *c, box b, cairo_surface_t *image, int64_t rows, int64_t columns) {
    cairo_save(c->cr);
    cairo_translate(c->cr, b.left, b.top);
    cairo_scale(c->cr, (b.right - b.left) / (double)columns, (b.bottom - b.top) / (double)rows);
    cairo_set_source_surface(c->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(c->cr, 0, 0, (double)columns, (double)rows);
    cairo_fill(c->cr);
    cairo_restore(c->cr);
}

void canvas_cells(canvas *c, box b, const colour *cell, int64_t rows, int64_t columns) {
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)columns, (int)rows);
    unsigned char *line = cairo_image_surface_get_data(image);
    const int stride = cairo_image_surface_get_stride(image);
    for (int64_t i = 0; line && i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const uint32_t value = pixel_of_colour(cell[i * columns + j]);
            memcpy(line + i * stride + 4 * j, &value, sizeof value);
        }
    cairo_surface_mark_dirty(image);
    paint_image(c, b, image, rows, columns);
    cairo_surface_destroy(image);
}

void canvas_clip(canvas *c, box b) {
    cairo_save(c->cr);
    cairo_rectangle(c->cr, b.left, b.top, b.right - b.left, b.bottom - b.top);
    cairo_clip(c->cr);
}

void canvas_unclip(canvas *c) {
    cairo_restore(c->cr);
}

/* ---- Marks ---- */

/* Corners of the shapes in a circle of radius 1; none: a circle. A plus and a cross are twelve corners. */
static const struct {
    int corners;
    double turn, inner; /* inner: radius of every second corner; 0: none */
} shapes[MARKS] = {{0, 0, 0},        {4, M_PI / 4, 0},      {3, -M_PI / 2, 0}, {4, 0, 0},
                   {3, M_PI / 2, 0}, {10, -M_PI / 2, 0.45}, {8, 0, 0.4},       {6, 0, 0}};

static void outline_mark(canvas *c, canvas_point at, int64_t k, double radius) {
    const int corners = shapes[k].corners;
    cairo_new_path(c->cr); /* words leave a point behind, from which a line would start */
    if (!corners)
        cairo_arc(c->cr, at.x, at.y, 0.9 * radius, 0, 2 * M_PI);
    for (int i = 0; i < corners; i++) {
        const double angle = shapes[k].turn + 2 * M_PI * i / corners,
                     r = radius * (shapes[k].inner > 0 && i % 2 ? shapes[k].inner : 1.1);
        cairo_line_to(c->cr, at.x + r * cos(angle), at.y + r * sin(angle));
    }
    cairo_close_path(c->cr);
}

void canvas_mark(canvas *c, canvas_point at, int64_t k, double size, colour fill) {
    if (!isfinite(at.x) || !isfinite(at.y))
        return;
    outline_mark(c, at, (k + k / MARKS) % MARKS, size / 2);
    set_ink(c, fill, 1);
    cairo_fill_preserve(c->cr);
    set_ink(c, colour_paper, 1);
    cairo_set_line_width(c->cr, 0.6);
    cairo_stroke(c->cr);
    c->marks++;
}

void canvas_ring(canvas *c, canvas_point at, double size, colour k) {
    set_ink(c, k, 1);
    cairo_set_line_width(c->cr, 0.9);
    cairo_arc(c->cr, at.x, at.y, size / 2, 0, 2 * M_PI);
    cairo_stroke(c->cr);
}

int64_t canvas_marks(const canvas *c) {
    return c->marks;
}

/* ---- Words ---- */

static void record_text(canvas *c, const char *text) {
    if (c->texts == c->text_capacity) {
        const int64_t capacity = c->text_capacity ? 2 * c->text_capacity : 32;
        char **larger = realloc(c->text, (size_t)capacity * sizeof *larger);
        c->failed = c->failed || !larger;
        if (!larger)
            return;
        c->text = larger;
        c->text_capacity = capacity;
    }
    c->text[c->texts] = strdup(text);
    c->failed = c->failed || !c->text[c->texts];
    c->texts += c->text[c->texts] != NULL;
}

double canvas_label_width(canvas *c, const char *text, double size) {
    cairo_text_extents_t extents;
    cairo_set_font_size(c->cr, size);
    cairo_text_extents(c->cr, text, &extents);
    return extents.x_advance;
}

void canvas_label(canvas *c, canvas_point at, const char *text, double size, side across, bool turned, colour k) {
    const double width = canvas_label_width(c, text, size);
    cairo_save(c->cr);
    set_ink(c, k, 1);
    cairo_translate(c->cr, at.x, at.y);
    if (turned)
        cairo_rotate(c->cr, -M_PI / 2);
    cairo_move_to(c->cr, across == SIDE_START ? 0 : across == SIDE_MIDDLE ? -width / 2 : -width, 0);
    cairo_show_text(c->cr, text);
    cairo_restore(c->cr);
    record_text(c, text);
}

int64_t canvas_texts(const canvas *c) {
    return c->texts;
}

const char *canvas_text(const canvas *c, int64_t i) {
    return i >= 0 && i < c->texts ? c->text[i] : "";
}

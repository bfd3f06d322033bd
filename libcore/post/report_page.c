#include "post/report_page.h"

#include "base/digest.h"
#include "base/mem.h"
#include "base/provenance.h"
#include "io/image.h"
#include "post/render.h"
#include "post/report_assets.h"

#include <string.h>

static const char *asset(const char *name) {
  for (const TlReportAsset *a = tl_report_assets; a->name; a++)
    if (strcmp(a->name, name) == 0) return a->text;
  return "";
}

/* Each file is part of one script; together they are a function's body, so that nothing of theirs
 * gets in the way of anything else. */
static const char *const scripts[] = {"unpack.js",  "motion.js", "mesh.js",  "view.js",
                                      "colours.js", "data.js",   "scene.js", "player.js"};

static void put_script(TlHtml *to) {
  tl_html(to, "\n\"use strict\";\n(() => {\n");
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    tl_html_bytes(to, asset(scripts[i]), strlen(asset(scripts[i])));
  tl_html(to, "})();\n");
}

/* 'sha256-...' of an element's text, by which the policy lets it in. */
static void put_digest(TlHtml *to, const char *text, size_t size) {
  TlDigest *digest;
  unsigned char value[TL_DIGEST_BYTES];
  if (to->status != TL_OK) return;
  to->status = tl_digest_new(&digest);
  if (to->status != TL_OK) return;
  tl_digest_add(digest, text, size);
  to->status = tl_digest_value(digest, value);
  tl_digest_free(digest);
  if (to->status != TL_OK) return;
  tl_html(to, "'sha256-");
  tl_html_base64(to, value, sizeof value);
  tl_html(to, "'");
}

void tl_page_begin(TlHtml *to, const char *title, const TlHtml *line) {
  const char *style = asset("page.css");
  TlHtml script = {0};
  put_script(&script);
  if (script.status != TL_OK) to->status = script.status;
  tl_html(to, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "script-src ");
  put_digest(to, script.text ? script.text : "", script.size);
  tl_html(to, "; style-src ");
  put_digest(to, style, strlen(style));
  tl_html(to, "; img-src data:; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"referrer\" content=\"no-referrer\">\n"
              "<link rel=\"icon\" href=\"data:,\">\n<title>");
  tl_html_text(to, title);
  tl_html(to,
          "</title>\n<meta name=\"generator\" content=\"talus-report %s\">\n<style>%s</style>\n"
          "</head>\n<body>\n<header>\n<h1>",
          tl_version(), style);
  tl_html_text(to, title);
  tl_html(to, "</h1>\n<p class=\"sub\">");
  tl_html_add(to, line);
  tl_html(to, "</p>\n</header>\n");
  tl_html_free(&script);
}

static TlStatus put_still(TlHtml *to, const TlPageStill *s) {
  TlRenderOptions options = {.width = TL_STILL_WIDTH,
                             .height = TL_STILL_HEIGHT,
                             .colour = TL_COLOUR_SIZE,
                             .smooth = true,
                             .captions = true,
                             .folder = s->folder,
                             .departures = s->departures,
                             .blocks = s->blocks,
                             .not_started = s->not_started,
                             .bare = s->bare};
  char text[TL_RENDER_DESCRIPTION];
  TlRenderPath path = {.bare = s->bare};
  TlImage image = {0};
  uint8_t *jpeg = NULL;
  size_t size;
  TlStatus status = tl_render_path_add(&path, s->scene, s->frame);
  if (status == TL_OK) {
    tl_render_range(&path, s->scene, &options);
    status = tl_render_frame(s->scene, s->frame, s->camera, &options, &image);
  }
  if (status == TL_OK) status = tl_image_jpeg(&image, 84, &jpeg, &size);
  if (status == TL_OK) status = tl_render_describe(s->scene, s->frame, &options, text);
  if (status == TL_OK) {
    tl_html(to,
            "<img class=\"still\" width=\"%d\" height=\"%d\" alt=\"Picture of the last frame, "
            "grains coloured by size: %s\" src=\"data:image/jpeg;base64,",
            TL_STILL_WIDTH, TL_STILL_HEIGHT, text);
    tl_html_base64(to, jpeg, size);
    tl_html(to, "\">\n");
  }
  tl_free(jpeg);
  tl_image_free(&image);
  tl_render_path_free(&path);
  return status;
}

TlStatus tl_page_player(TlHtml *to, const TlPageStill *still, int64_t count, const char *note) {
  tl_html(to, "<section id=\"player\" aria-label=\"3-D playback\">\n<div id=\"stage\">\n");
  TL_TRY(put_still(to, &still[0]));
  tl_html(to, "%s", asset("player.html"));
  tl_html(to, "<noscript><p>The 3-D playback needs JavaScript; the picture is the last frame. "
              "Plots, maps and tables do without.</p></noscript>\n");
  for (int64_t i = 1; i < count; i++) { /* the other runs' pictures, for print and without WebGL2 */
    tl_html(to, "<div class=\"more still\">");
    TL_TRY(put_still(to, &still[i]));
    tl_html(to, "</div>\n");
  }
  if (note) tl_html(to, "<p class=\"small\">%s</p>\n", note);
  tl_html(to, "</section>\n");
  return TL_OK;
}

size_t tl_page_end_bytes(int64_t count) {
  TlHtml script = {0};
  put_script(&script);
  size_t sum = script.size + 600 + 150 * (size_t)count;
  for (const TlReportAsset *a = tl_report_assets; a->name; a++)
    if (strstr(a->name, ".glsl")) sum += strlen(a->text) + 100;
  tl_html_free(&script);
  return sum;
}

void tl_page_end(TlHtml *to, const TlHtml *head, const TlReportData *data, int64_t count) {
  tl_html(to,
          "<footer><p class=\"small\">Made by talus-report %s, commit <code>%s</code>. This "
          "file is whole in itself: it loads nothing and sends nothing.</p></footer>\n",
          tl_version(), tl_commit());
  for (int64_t i = 0; i < count; i++) {
    tl_html(to, "<script type=\"application/json\" class=\"head\">");
    tl_html_add(to, &head[i]);
    tl_html(to, "</script>\n<script type=\"text/plain\" class=\"data\">");
    tl_data_base64(&data[i], to);
    tl_html(to, "</script>\n");
  }
  for (const TlReportAsset *a = tl_report_assets; a->name && count > 0; a++) {
    size_t n = strlen(a->name);
    if (n < 6 || strcmp(a->name + n - 5, ".glsl") != 0) continue;
    tl_html(to, "<script type=\"x-shader/x-glsl\" class=\"shader\" data-name=\"%.*s\">\n",
            (int)(n - 5), a->name);
    tl_html_bytes(to, a->text, strlen(a->text));
    tl_html(to, "</script>\n");
  }
  if (count > 0) {
    tl_html(to, "<script>");
    put_script(to);
    tl_html(to, "</script>\n");
  }
  tl_html(to, "</body>\n</html>\n");
}

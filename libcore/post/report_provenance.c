#include "post/report_run.h"

#include "base/mem.h"
#include "conf/yaml_tree.h"

#include <stdlib.h>
#include <string.h>

/* Records are JSON, which is YAML. */
static const char *text_of(const TlYamlNode *map, const char *key) {
  const TlYamlNode *node = tl_yaml_find(map, key);
  return node && node->kind == TL_YAML_SCALAR ? node->text : "";
}

static void put_row(TlHtml *to, const char *name, const char *value, bool code) {
  if (!value[0]) return;
  tl_html(to, "<tr><td>%s</td><td>%s", name, code ? "<code>" : "");
  tl_html_text(to, value);
  tl_html(to, "%s</td></tr>\n", code ? "</code>" : "");
}

/* The words of a command as they could be typed. */
static void put_command(TlHtml *to, const TlYamlNode *argv) {
  if (!argv || argv->kind != TL_YAML_LIST) return;
  tl_html(to, "<tr><td>command</td><td><code>");
  for (size_t i = 0; i < argv->count; i++) {
    const char *word = argv->children[i].text ? argv->children[i].text : "";
    bool plain = word[0] && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_-./=,:@%+")] == 0;
    tl_html(to, "%s%s", i ? " " : "", plain ? "" : "&#39;");
    tl_html_text(to, word);
    tl_html(to, "%s", plain ? "" : "&#39;");
  }
  tl_html(to, "</code></td></tr>\n");
}

static void put_inputs(TlHtml *to, const TlYamlNode *inputs) {
  if (!inputs || inputs->kind != TL_YAML_LIST || inputs->count == 0) return;
  tl_html(to, "<tr><td>inputs</td><td>");
  for (size_t i = 0; i < inputs->count; i++) {
    const TlYamlNode *one = &inputs->children[i];
    if (one->kind != TL_YAML_MAP) continue;
    tl_html(to, "%s<code>", i ? "<br>" : "");
    tl_html_text(to, text_of(one, "path"));
    tl_html(to, "</code>, ");
    tl_html_text(to, text_of(one, "size_bytes"));
    tl_html(to, " bytes, SHA-256 <code>");
    tl_html_text(to, text_of(one, "sha256"));
    tl_html(to, "</code>");
  }
  tl_html(to, "</td></tr>\n");
}

static void put_parameters(TlHtml *to, const TlYamlNode *parameters) {
  if (!parameters || parameters->kind != TL_YAML_MAP || parameters->count == 0) return;
  tl_html(to, "<tr><td>parameters</td><td class=\"small\">");
  for (size_t i = 0; i < parameters->count; i++) {
    const TlYamlNode *one = &parameters->children[i];
    tl_html(to, "%s", i ? ", " : "");
    tl_html_text(to, one->key);
    tl_html(to, " = ");
    tl_html_text(to, one->kind == TL_YAML_SCALAR ? one->text : "...");
  }
  tl_html(to, "</td></tr>\n");
}

static void put_record(TlHtml *to, const TlYamlNode *record) {
  tl_html(to, "<details><summary>");
  tl_html_text(to, text_of(record, "tool"));
  tl_html(to, " ");
  tl_html_text(to, text_of(record, "version"));
  tl_html(to, ", ");
  tl_html_text(to, text_of(record, "end"));
  tl_html(to, "</summary><div class=\"wide\"><table>\n");
  put_command(to, tl_yaml_find(record, "argv"));
  put_row(to, "commit", text_of(record, "commit"), true);
  put_row(to, "build", text_of(record, "build"), true);
  put_row(to, "machine", text_of(record, "host"), false);
  put_row(to, "threads a rank", text_of(record, "threads"), false);
  put_row(to, "ranks", text_of(record, "ranks"), false);
  put_row(to, "seed", text_of(record, "seed"), false);
  put_row(to, "start (UTC)", text_of(record, "start"), false);
  put_row(to, "end (UTC)", text_of(record, "end"), false);
  put_row(to, "peak memory, bytes", text_of(record, "peak_memory_bytes"), false);
  put_inputs(to, tl_yaml_find(record, "inputs"));
  put_parameters(to, tl_yaml_find(record, "parameters"));
  tl_html(to, "</table></div></details>\n");
}

/* Times are of ISO 8601 in UTC, whose text sorts as they do; of one second the record behind the others is the younger. */
static int by_end(const void *one, const void *two) {
  const TlYamlNode *a = *(TlYamlNode *const *)one, *b = *(TlYamlNode *const *)two;
  int order = strcmp(text_of(a, "end"), text_of(b, "end"));
  return order ? order : (a > b) - (a < b);
}

static TlStatus put_records(TlHtml *to, const TlYamlNode *list) {
  const TlYamlNode **record;
  TL_TRY(TL_NEW(record, list->count));
  for (size_t i = 0; i < list->count; i++) record[i] = &list->children[i];
  if (list->count > 0) qsort(record, list->count, sizeof *record, by_end);
  for (size_t i = 0; i < list->count; i++) put_record(to, record[i]);
  tl_free(record);
  return TL_OK;
}

TlStatus tl_report_run_provenance(TlHtml *to, const char *provenance, const char *study) {
  TlYamlNode root = {0};
  TlStatus status = tl_yaml_parse("provenance", provenance, strlen(provenance), &root);
  if (status == TL_ENOMEM) return status;
  if (status == TL_OK && root.kind == TL_YAML_LIST) {
    tl_html(to, "<p>Oldest first; each step took the products of those before it.</p>\n");
    status = put_records(to, &root);
  } else { /* as it stands is better than not at all */
    tl_html(to,
            "<p>The history of programs cannot be read as JSON; it is shown as it is.</p><pre>");
    tl_html_text(to, provenance);
    tl_html(to, "</pre>\n");
  }
  bool failed = status == TL_ENOMEM;
  tl_yaml_free(&root);
  if (failed) return TL_ENOMEM;
  if (!study || !study[0]) return TL_OK;
  tl_html(to, "<details><summary>The effective study: every key with its value, defaults filled "
              "in</summary><pre>");
  tl_html_text(to, study);
  tl_html(to, "</pre></details>\n");
  return TL_OK;
}

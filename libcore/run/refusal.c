#include "run/refusal.h"

#include "run/materials.h"
#include "run/run.h"

#include <stdio.h>
#include <string.h>

/* Is the message about a value of these two materials? */
static bool is_of_pair(const TlRun *run, const char *text, int32_t one, int32_t two,
                       char path[96]) {
  static const char *const keys[] = {
#define F(key, ...) #key,
      TL_PAIR_FIELDS(F) "young_Pa", "poisson"
#undef F
  };
  const TlMaterials *m = &run->model->materials;
  char pair[TL_PAIR_TEXT], start[TL_PAIR_TEXT + 64];
  tl_pair_text(pair, m, one, two);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    snprintf(start, sizeof start, "%s of %s", keys[k], pair);
    if (strncmp(text, start, strlen(start)) != 0) continue;
    tl_pair_key_path(path, &run->model->setup, m, one, two, keys[k]);
    return true;
  }
  return false;
}

/* The key that a message begins with, "section.key: ..."; its length, or 0. */
static size_t key_of(const TlRun *run, const char *text, char path[96]) {
  const TlParam *param;
  size_t length = strcspn(text, ": ");
  if (length == 0 || length >= 96 || text[length] != ':') return 0;
  snprintf(path, 96, "%.*s", (int)length, text);
  return tl_study_value(&tl_setup_schema, &run->model->setup, path, &param) ? length : 0;
}

TlStatus tl_run_refuse(const TlRun *run, TlStatus status, const char *otherwise) {
  const TlMaterials *m = &run->model->materials;
  const TlStudy *study = &run->model->study;
  char text[1024], path[96];
  if (status != TL_EUSAGE) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  size_t key = key_of(run, text, path);
  if (key > 0)
    return tl_study_fail(study, TL_EINPUT, path, "%s", text + key + strspn(text + key, ": "));
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = 0; j < m->count; j++)
      if (is_of_pair(run, text, i, j, path))
        return tl_study_fail(study, TL_EINPUT, path, "%s", text);
  return otherwise ? tl_study_fail(study, TL_EINPUT, otherwise, "%s", text) : status;
}

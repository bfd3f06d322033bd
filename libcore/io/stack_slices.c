#include "io/stack_slices.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/picture.h"

#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- natural order ---- */

static size_t digits(const char *text) {
  size_t n = 0;
  while (isdigit((unsigned char)text[n])) n++;
  return n;
}

/* Compare two runs of digits by value, of any length. */
static int compare_runs(const char *a, size_t na, const char *b, size_t nb) {
  while (na > 1 && *a == '0') a++, na--;
  while (nb > 1 && *b == '0') b++, nb--;
  if (na != nb) return na < nb ? -1 : 1;
  return strncmp(a, b, na);
}

static int natural(const char *a, const char *b) {
  const char *a0 = a, *b0 = b;
  while (*a && *b) {
    size_t na = digits(a), nb = digits(b);
    if (na && nb) {
      int order = compare_runs(a, na, b, nb);
      if (order) return order;
      a += na;
      b += nb;
    } else if (*a != *b) {
      return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    } else {
      a++;
      b++;
    }
  }
  if (*a || *b) return *a ? 1 : -1;
  return strcmp(a0, b0); /* equal but for leading zeros */
}

static int natural_paths(const void *a, const void *b) {
  return natural(*(char *const *)a, *(char *const *)b);
}

/* ---- finding ---- */

/* The place of a "%d" or "%04d" and its length. */
static const char *template_at(const char *path, size_t *length) {
  for (const char *p = strchr(path, '%'); p; p = strchr(p + 1, '%')) {
    size_t n = 1 + digits(p + 1);
    if (p[n] != 'd') continue;
    *length = n + 1;
    return p;
  }
  return NULL;
}

bool tl_slices_is(const char *path) {
  struct stat info;
  size_t length;
  if (stat(path, &info) == 0) return S_ISDIR(info.st_mode);
  return strpbrk(path, "*?[") != NULL || template_at(path, &length) != NULL;
}

/* Files of each kind of picture; the first kind that is there makes the stack. */
static TlStatus find_in_folder(const char *path, TlStackFiles *list) {
  size_t files[TL_PICTURE_KINDS] = {0}, others = 0;
  int kind = 0;
  DIR *folder = opendir(path);
  if (!folder) return tl_fail_errno(path, "cannot open the folder");
  TlStatus status = TL_OK;
  const char *name;
  while ((status = tl_dir_next(folder, path, &name)) == TL_OK && name) {
    int k = tl_picture_by_name(name);
    if (name[0] == '.') continue;
    if (k >= 0)
      files[k]++;
    else
      others++;
  }
  while (kind + 1 < TL_PICTURE_KINDS && files[kind] == 0) kind++;
  for (int k = kind + 1; k < TL_PICTURE_KINDS; k++)
    if (files[k])
      tl_log_warn(
          "%s: holds %zu %s files and %zu %s files; the %s files are taken (the others: give "
          "a pattern such as '%s/*.png')",
          path, files[kind], tl_picture_kind(kind), files[k], tl_picture_kind(k),
          tl_picture_kind(kind), path);
  rewinddir(folder);
  while (status == TL_OK && (status = tl_dir_next(folder, path, &name)) == TL_OK && name)
    if (name[0] != '.' && tl_picture_by_name(name) == kind)
      status = tl_stack_files_add(list, tl_path_join(path, name));
  closedir(folder);
  if (status == TL_OK && list->count == 0)
    return tl_fail(TL_EINPUT, "%s: the folder holds no .tif, .tiff or .png files (%zu others)",
                   path, others);
  if (others) tl_log_debug("%s: %zu entries that are no pictures are left aside", path, others);
  return status;
}

static TlStatus find_by_glob(const char *path, const char *pattern, TlStackFiles *list) {
  glob_t found = {0};
  int code = glob(pattern, 0, NULL, &found);
  TlStatus status = TL_OK;
  if (code == GLOB_NOMATCH)
    status = tl_fail(TL_EINPUT, "%s: no file fits this pattern", path);
  else if (code == GLOB_NOSPACE)
    status = tl_fail(TL_ENOMEM, "%s: out of memory", path);
  else if (code)
    status = tl_fail(TL_EIO, "%s: a folder of this pattern cannot be read", path);
  for (size_t i = 0; code == 0 && i < found.gl_pathc && status == TL_OK; i++)
    status = tl_stack_files_add(list, tl_strdup(found.gl_pathv[i]));
  globfree(&found);
  return status;
}

static TlStatus find(const char *path, TlStackFiles *list) {
  struct stat info;
  size_t length;
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return find_in_folder(path, list);
  const char *at = template_at(path, &length);
  char *pattern =
      at ? tl_format("%.*s[0-9]*%s", (int)(at - path), path, at + length) : tl_strdup(path);
  if (!pattern) return TL_ENOMEM;
  TlStatus status = find_by_glob(path, pattern, list);
  tl_free(pattern);
  return status;
}

/* ---- numbering ---- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Do a and b differ in runs of digits only? which: the index of the last run that differs. */
static bool same_pattern(const char *a, const char *b, int *which) {
  *which = -1;
  for (int run = 0; *a || *b;) {
    size_t na = digits(a), nb = digits(b);
    if ((na == 0) != (nb == 0)) return false;
    if (na) {
      if (compare_runs(a, na, b, nb) != 0) *which = run;
      run++;
      a += na;
      b += nb;
    } else if (*a++ != *b++) {
      return false;
    }
  }
  return true;
}

static long long run_value(const char *name, int which) {
  for (int run = 0;; name++) {
    size_t n = digits(name);
    if (n && run++ == which) return n > 18 ? -1 : strtoll(name, NULL, 10);
    name += n;
    if (!*name) return -1;
  }
}

static TlStatus check_step(const char *path, const char *a, const char *b, long long from,
                           long long to, bool allow_gaps, long long *missing) {
  if (to == from) return tl_fail(TL_EINPUT, "%s: %s and %s have the same slice number", path, a, b);
  if (to != from + 1 && !allow_gaps)
    return tl_fail(TL_EINPUT,
                   "%s: slices are missing between %s and %s; find them, or give --allow-gaps if "
                   "the numbers are meant so",
                   path, a, b);
  *missing += to - from - 1;
  return TL_OK;
}

/* One run of digits may change from name to name, by one each time. */
static TlStatus check_numbers(const char *path, const TlStackFiles *list, bool allow_gaps) {
  const char *first = base_name(list->paths[0]);
  int which, each;
  long long missing = 0;
  if (!same_pattern(first, base_name(list->paths[list->count - 1]), &which)) which = -1;
  for (size_t i = 1; i < list->count; i++) {
    const char *a = base_name(list->paths[i - 1]), *b = base_name(list->paths[i]);
    if (!same_pattern(a, b, &each))
      return tl_fail(TL_EINPUT,
                     "%s: %s and %s are not slices of one series; give a pattern such as "
                     "'%s/name*.tif'",
                     path, a, b, path);
    long long from = run_value(a, which), to = run_value(b, which);
    if (each < 0) to = from;
    TL_TRY(check_step(path, a, b, from, to, allow_gaps, &missing));
  }
  tl_log_info("%s: %zu slices, %s to %s", path, list->count, first,
              base_name(list->paths[list->count - 1]));
  if (missing > 0) tl_log_warn("%s: %lld numbers are missing in between", path, missing);
  return TL_OK;
}

TlStatus tl_slices_find(const char *path, bool allow_gaps, TlStackFiles *list) {
  *list = (TlStackFiles){0};
  TlStatus status = find(path, list);
  if (status == TL_OK) {
    qsort(list->paths, list->count, sizeof *list->paths, natural_paths);
    status = check_numbers(path, list, allow_gaps);
  }
  if (status != TL_OK) tl_stack_files_free(list);
  return status;
}

/* ---- reading ---- */

static TlStatus check_slice(const TlStackFiles *list, size_t i, const TlStackInfo *first,
                            const TlStackInfo *slice) {
  const char *path = list->paths[i];
  if (slice->nz != 1)
    return tl_fail(TL_EINPUT,
                   "%s: holds %lld pages; a slice has one (a stack in one file is given "
                   "by its name)",
                   path, (long long)slice->nz);
  if (slice->nx != first->nx || slice->ny != first->ny)
    return tl_fail(TL_EINPUT,
                   "%s: %lld x %lld pixels, but %s has %lld x %lld; all slices of a "
                   "stack must have one size",
                   path, (long long)slice->nx, (long long)slice->ny, base_name(list->paths[0]),
                   (long long)first->nx, (long long)first->ny);
  if (slice->type != first->type || slice->bits != first->bits)
    return tl_fail(TL_EINPUT,
                   "%s: %s pixels, but %s has %s; all slices of a stack must have one "
                   "type",
                   path, tl_stack_stored_name(slice), base_name(list->paths[0]),
                   tl_stack_stored_name(first));
  return TL_OK;
}

typedef struct Reader {
  const TlStackFiles *list;
  TlStackInfo info; /* without history */
} Reader;

/* The slice opened and like the first one; on failure nothing is open. */
static TlStatus open_slice(const Reader *r, size_t i, TlStackInfo *slice, TlLayers *layers) {
  TL_TRY(tl_picture_layers(r->list->paths[i], slice, layers));
  TlStatus status = check_slice(r->list, i, r->info.nz ? &r->info : slice, slice);
  tl_stack_info_free(slice); /* a slice's own history; the stack is made here */
  if (status != TL_OK) tl_layers_close(layers);
  return status;
}

static TlStatus check_slices(Reader *r) {
  for (size_t i = 0; i < r->list->count; i++) {
    TlStackInfo slice;
    TlLayers layers;
    TL_TRY(open_slice(r, i, &slice, &layers));
    if (i == 0) r->info = slice;
    tl_layers_close(&layers);
  }
  r->info.nz = (int64_t)r->list->count;
  return TL_OK;
}

static TlStatus read_slice(const Reader *r, size_t i, uint8_t *voxels) {
  TlStackInfo slice;
  TlLayers layers;
  TL_TRY(open_slice(r, i, &slice, &layers)); /* looked at again: it may have changed */
  TlStatus status = tl_layers_read(&layers, 0, 1, voxels);
  tl_layers_close(&layers);
  return status;
}

static TlStatus read_layers(void *self, int64_t z, int64_t count, void *voxels) {
  const Reader *r = self;
  size_t bytes = (size_t)(r->info.nx * r->info.ny) * tl_voxel_size(r->info.type);
  for (int64_t i = 0; i < count; i++)
    TL_TRY(read_slice(r, (size_t)(z + i), (uint8_t *)voxels + (size_t)i * bytes));
  return TL_OK;
}

static void close_layers(void *self) {
  tl_free(self);
}

TlStatus tl_slices_layers(const TlStackFiles *list, TlStackInfo *info, TlLayers *layers) {
  Reader *r;
  TL_TRY(TL_NEW(r, 1));
  r->list = list;
  TlStatus status = check_slices(r);
  *info = r->info;
  *layers = (TlLayers){.self = r, .read = read_layers, .close = close_layers};
  if (status != TL_OK) tl_layers_close(layers);
  return status;
}

#include "io/h5_dictionary.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/h5_read.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "io/h5_parts.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT = 1, NUMBERS = 9, HEX = TL_DIGEST_HEX, MOST_ATOMS = 65536 };

/* ---- the numbers beside the arrays ---- */

static const char *const number_names[NUMBERS] = {
    "factor",    "atoms",      "features",   "atoms_a_code",    "training_pairs",
    "tolerance", "noise_gain", "noise_grey", "talus_dictionary"};

static void numbers_of(const TlDictionary *d, double value[NUMBERS]) {
  const double all[NUMBERS] = {d->factor,     (double)d->atoms, d->dims,
                               d->codes,      (double)d->pairs, d->tolerance,
                               d->noise_gain, d->noise_grey,    FORMAT};
  memcpy(value, all, sizeof all);
}

/* Over the numbers, the proportions and the arrays, as they lie in little-endian memory. */
static TlStatus digest_of(const TlDictionary *d, char hex[HEX + 1]) {
  TlDigest *digest;
  unsigned char value[TL_DIGEST_BYTES];
  double numbers[NUMBERS];
  size_t atoms = (size_t)d->atoms, dims = (size_t)d->dims, size = sizeof(float);
  numbers_of(d, numbers);
  TL_TRY(tl_digest_new(&digest));
  tl_digest_add(digest, numbers, sizeof numbers);
  tl_digest_add(digest, d->proportions, sizeof d->proportions);
  tl_digest_add(digest, d->analysis, dims * TL_WINDOW_VOXELS * size);
  tl_digest_add(digest, d->low, atoms * dims * size);
  tl_digest_add(digest, d->high, atoms * TL_PATCH_VOXELS * size);
  TlStatus status = tl_digest_value(digest, value);
  tl_digest_free(digest);
  if (status == TL_OK) tl_digest_hex(value, hex);
  return status;
}

/* ---- arrays ---- */

/* A 2-D array of floats: its name, rows, columns, values and where the dictionary keeps them. */
typedef struct Array {
  const char *name;
  hsize_t size[2];
  float *values, **place;
} Array;

enum { ARRAYS = 3 };

static void arrays_of(TlDictionary *d, Array array[ARRAYS]) {
  hsize_t atoms = (hsize_t)d->atoms, dims = (hsize_t)d->dims;
  array[0] = (Array){"/analysis", {dims, TL_WINDOW_VOXELS}, d->analysis, &d->analysis};
  array[1] = (Array){"/low", {atoms, dims}, d->low, &d->low};
  array[2] = (Array){"/high", {atoms, TL_PATCH_VOXELS}, d->high, &d->high};
}

static bool write_array(hid_t file, const Array *a) {
  hid_t space = H5Screate_simple(2, a->size, NULL);
  hid_t set =
      H5Dcreate2(file, a->name, H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool written =
      set >= 0 && H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, a->values) >= 0;
  if (set >= 0) written = H5Dclose(set) >= 0 && written;
  H5Sclose(space);
  return written;
}

static TlStatus read_array(const char *path, hid_t file, const Array *a) {
  hsize_t size[2] = {0, 0};
  TL_H5_OWNED hid_t set = H5Dopen2(file, a->name, H5P_DEFAULT);
  if (set < 0) return tl_fail(TL_EINPUT, "%s: is no dictionary: it holds no %s", path, a->name);
  TL_H5_OWNED hid_t space = H5Dget_space(set);
  if (H5Sget_simple_extent_ndims(space) == 2) H5Sget_simple_extent_dims(space, size, NULL);
  if (size[0] != a->size[0] || size[1] != a->size[1])
    return tl_fail(TL_EINPUT, "%s: %s is not of %llu x %llu numbers as it should be", path, a->name,
                   (unsigned long long)a->size[0], (unsigned long long)a->size[1]);
  if (H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, a->values) < 0)
    return tl_h5_fails(TL_EINPUT, path, "cannot be read; the file is damaged");
  return TL_OK;
}

/* ---- writing ---- */

static bool write_digest(hid_t file, const char *hex) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, HEX);
  bool written = tl_h5_write_attribute(file, "sha256", type, type, 0, hex);
  H5Tclose(type);
  return written;
}

static bool write_all(hid_t file, const TlDictionary *d, const char *hex, const char *history) {
  double number[NUMBERS];
  Array array[ARRAYS];
  bool written = write_digest(file, hex) && tl_h5_write_history(file, history) &&
                 tl_h5_write_attribute(file, "voxel_proportions", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                                       3, d->proportions);
  TlDictionary lent = *d;
  numbers_of(d, number);
  arrays_of(&lent, array);
  for (int i = 0; i < NUMBERS && written; i++)
    written = tl_h5_write_attribute(file, number_names[i], H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, 0,
                                    &number[i]);
  for (int i = 0; i < ARRAYS && written; i++) written = write_array(file, &array[i]);
  return written;
}

static TlStatus write_file(const char *temp, const char *path, const TlDictionary *d,
                           const char *history) {
  char hex[HEX + 1];
  TL_TRY(digest_of(d, hex));
  hid_t file = H5Fcreate(temp, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return tl_h5_fails(TL_EIO, path, "cannot create");
  TlStatus status = TL_OK;
  if (!write_all(file, d, hex, history)) status = tl_h5_fails(TL_EIO, path, "cannot write");
  if (H5Fclose(file) < 0 && status == TL_OK)
    status = tl_h5_fails(TL_EIO, path, "cannot finish the file");
  return status;
}

TlStatus tl_dictionary_write(const char *path, const TlDictionary *d,
                             const TlProvenance *provenance, bool overwrite) {
  TlOutFile out;
  char *history = NULL;
  TL_TRY(tl_dictionary_check(d));
  if (provenance) TL_TRY(tl_provenance_append(provenance, d->history, &history));
  TlStatus status = tl_outfile_begin(&out, path, overwrite);
  if (status == TL_OK) {
    TlH5Quiet quiet = tl_h5_quiet();
    status = write_file(out.temp, path, d, history);
    tl_h5_loud(quiet);
    if (status == TL_OK)
      status = tl_outfile_commit(&out);
    else
      tl_outfile_abort(&out);
  }
  tl_free(history);
  return status;
}

/* ---- reading, in the sandbox ---- */

/* As a whole number from low to high, or low - 1. */
static int whole(double value, int low, int high) {
  return value >= low && value <= high ? (int)value : low - 1;
}

static TlStatus read_numbers(const char *path, hid_t file, TlDictionary *d) {
  double n[NUMBERS];
  for (int i = NUMBERS - 1; i >= 0; i--)
    if (!tl_h5_numbers(file, number_names[i], H5T_NATIVE_DOUBLE, 1, &n[i]))
      return tl_fail(TL_EINPUT, "%s: is no dictionary of talus-superres: it has no attribute %s",
                     path, number_names[i]);
  if (n[8] != FORMAT)
    return tl_fail(TL_EINPUT, "%s: is of format %g; this version reads %d", path, n[8], FORMAT);
  d->factor = whole(n[0], 1, 1000);
  d->atoms = whole(n[1], 1, MOST_ATOMS);
  d->dims = whole(n[2], 1, TL_DICTIONARY_DIMS);
  d->codes = whole(n[3], 1, 1000);
  d->pairs = whole(n[4], 0, 1000000000);
  d->tolerance = n[5];
  d->noise_gain = n[6];
  d->noise_grey = n[7];
  if (d->atoms < 1 || d->dims < 1)
    return tl_fail(TL_EINPUT, "%s: %g atoms of %g features are none we can use", path, n[1], n[2]);
  (void)tl_h5_numbers(file, "voxel_proportions", H5T_NATIVE_DOUBLE, 3, d->proportions);
  return TL_OK;
}

typedef struct Job {
  TlDictionary d;
  char told[HEX + 1]; /* the digest that the file tells */
} Job;

static TlStatus read_file(const char *path, void *of) {
  Job *j = of;
  Array array[ARRAYS];
  TL_H5_OWNED hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return tl_h5_fails(TL_EINPUT, path, "cannot be opened as HDF5");
  TL_TRY(read_numbers(path, file, &j->d));
  TL_TRY(tl_dictionary_alloc(&j->d));
  arrays_of(&j->d, array);
  for (int i = 0; i < ARRAYS; i++) TL_TRY(read_array(path, file, &array[i]));
  (void)tl_h5_short_text(file, "sha256", j->told, sizeof j->told);
  return tl_context(tl_h5_long_text(file, "/provenance", &j->d.history), "%s", path);
}

static TlStatus tell(TlSandbox *s, void *of) {
  Job *j = of;
  TlDictionary *d = &j->d;
  Array array[ARRAYS];
  TL_TRY(tl_sandbox_pass(s, &d->factor, sizeof d->factor));
  TL_TRY(tl_sandbox_pass(s, &d->dims, sizeof d->dims));
  TL_TRY(tl_sandbox_pass(s, &d->codes, sizeof d->codes));
  TL_TRY(tl_sandbox_pass(s, &d->atoms, sizeof d->atoms));
  TL_TRY(tl_sandbox_pass(s, &d->pairs, sizeof d->pairs));
  TL_TRY(tl_sandbox_pass(s, &d->tolerance, sizeof d->tolerance));
  TL_TRY(tl_sandbox_pass(s, &d->noise_gain, sizeof d->noise_gain));
  TL_TRY(tl_sandbox_pass(s, &d->noise_grey, sizeof d->noise_grey));
  TL_TRY(tl_sandbox_pass(s, d->proportions, sizeof d->proportions));
  TL_TRY(tl_sandbox_pass(s, j->told, sizeof j->told));
  j->told[HEX] = 0;
  if (d->atoms < 1 || d->atoms > MOST_ATOMS || d->dims < 1 || d->dims > TL_DICTIONARY_DIMS)
    return tl_fail(TL_EINPUT, "it tells of %lld atoms of %d features", (long long)d->atoms,
                   d->dims);
  arrays_of(d, array);
  for (int i = 0; i < ARRAYS; i++) {
    int64_t count = (int64_t)(array[i].size[0] * array[i].size[1]);
    TL_TRY(TL_SANDBOX_PASS_ARRAY(s, array[i].values, count));
    *array[i].place = array[i].values;
  }
  return tl_sandbox_pass_text(s, &d->history);
}

static void release(void *of) {
  tl_dictionary_free(&((Job *)of)->d);
}

static const TlSandboxReader dictionary_reader = {.name = "HDF5 dictionary",
                                                  .job_bytes = sizeof(Job),
                                                  .prepare = tl_h5_prepare,
                                                  .read = read_file,
                                                  .tell = tell,
                                                  .release = release};
TL_SANDBOX_READER(dictionary_reader)

/* ---- reading, in the caller ---- */

static TlStatus check(const char *path, const Job *j) {
  const TlDictionary *d = &j->d;
  char found[HEX + 1];
  if (!d->analysis || !d->low || !d->high)
    return tl_fail(TL_EINPUT, "%s: an array of it is missing", path);
  TL_TRY(digest_of(d, found));
  if (strcmp(j->told, found) != 0)
    return tl_fail(TL_EINPUT,
                   "%s: its numbers do not have the checksum it tells; the file is damaged or was "
                   "changed: train again",
                   path);
  return tl_context(tl_dictionary_check(d), "%s", path);
}

TlStatus tl_dictionary_read(const char *path, TlProvenance *provenance, TlDictionary *d) {
  Job job = {0};
  *d = (TlDictionary){0};
  if (!tl_file_exists(path)) return tl_fail(TL_EIO, "%s: no such file", path);
  if (provenance) TL_TRY(tl_provenance_input(provenance, path));
  TlStatus status = tl_sandbox_read(&dictionary_reader, path, 0, &job);
  if (status == TL_OK) status = check(path, &job);
  if (status == TL_OK)
    *d = job.d;
  else
    tl_dictionary_free(&job.d);
  return status;
}

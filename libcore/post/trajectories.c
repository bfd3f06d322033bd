#include "post/trajectories.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/vector_write.h"

#include <math.h>
#include <string.h>

typedef enum Field {
  RUN,
  ID,
  END,
  ON_FILLED,
  MASS,
  VOLUME,
  STOP_TIME,
  RUNOUT,
  DROP,
  SPEED,
  ENERGY,
  JUMP,
  RELEASE,
  FIELDS
} Field;
static const TlVectorField field[FIELDS] = {{"run", TL_FIELD_WORD},
                                            {"id", TL_FIELD_WHOLE},
                                            {"end", TL_FIELD_WORD},
                                            {"on_filled", TL_FIELD_WHOLE},
                                            {"mass_kg", TL_FIELD_REAL},
                                            {"volume_m3", TL_FIELD_REAL},
                                            {"stop_time_s", TL_FIELD_REAL},
                                            {"runout_m", TL_FIELD_REAL},
                                            {"drop_m", TL_FIELD_REAL},
                                            {"largest_speed_m_s", TL_FIELD_REAL},
                                            {"largest_energy_kJ", TL_FIELD_REAL},
                                            {"largest_jump_height_m", TL_FIELD_REAL},
                                            {"release", TL_FIELD_WHOLE}};

typedef struct Out {
  const TlBlocks *blocks;
  const char *folder, *extension;
  bool overwrite;
  const char **word; /* ends, then runs */
  double *value;     /* [blocks][FIELDS] */
  TlVec3 *place;     /* [moments], CRS */
  TlVec3 *stop;      /* [blocks] */
  TlBlockPaths path; /* as post/blocks.h has it, but places in the CRS */
  TlVec3 *path_place;
} Out;

/* From when on it does not move any more. */
static double stop_time(const TlBlock *b, const TlBlockMoment *at) {
  int64_t i = b->count - 1;
  if (b->end != TL_FATE_STOPPED && b->end != TL_FATE_NOT_STARTED) return NAN;
  while (i > 0 && !at[i - 1].moves) i--;
  return at[i].time_s;
}

static void values_of(const TlBlocks *all, const TlBlock *b, double value[FIELDS]) {
  const TlBlockMoment *at = all->moment + b->first;
  TlVec3 displacement = tl_sub(at[b->count - 1].place_m, at[0].place_m);
  value[RUN] = (double)(TL_FATES + b->run);
  value[ID] = (double)b->id;
  value[END] = b->end;
  value[ON_FILLED] = tl_ground_filled_number(tl_block_on_filled(all, b));
  value[MASS] = b->mass_kg;
  value[VOLUME] = b->volume_m3;
  value[STOP_TIME] = stop_time(b, at);
  value[RUNOUT] = hypot(displacement.x, displacement.y);
  value[DROP] = -displacement.z;
  value[RELEASE] = (double)b->release;
  value[SPEED] = value[ENERGY] = value[JUMP] = 0;
  for (int64_t i = 0; i < b->count; i++) {
    value[SPEED] = fmax(value[SPEED], at[i].speed_m_s);
    value[ENERGY] = fmax(value[ENERGY], at[i].translational_kJ + at[i].rotational_kJ);
    value[JUMP] = fmax(value[JUMP], tl_block_jump(all, at[i].place_m));
  }
}

/* cells.csv knows of every step; its values have seven digits, those of frames all. */
static void raise(double *value, double to) {
  if (to > *value * (1 + 1e-6)) *value = to;
}

static TlStatus see_steps(Out *o, const char *const *runs) {
  const double *origin = o->blocks->terrain.origin;
  TlBlockCell *cell;
  int64_t count;
  TL_TRY(tl_blocks_read_cells(o->blocks, runs, &cell, &count));
  for (int64_t i = 0; i < count; i++) {
    double *value = o->value + cell[i].block * FIELDS;
    raise(&value[SPEED], cell[i].value[TL_CELL_SPEED]);
    raise(&value[ENERGY], cell[i].value[TL_CELL_ENERGY]);
    raise(&value[JUMP], cell[i].value[TL_CELL_JUMP]);
  }
  TlStatus status = tl_blocks_paths(o->blocks, cell, count, &o->path);
  tl_free(cell);
  int64_t places = status == TL_OK ? o->path.first[o->blocks->count] : 0;
  if (status == TL_OK) status = TL_NEW(o->path_place, (size_t)places);
  for (int64_t i = 0; status == TL_OK && i < places; i++)
    o->path_place[i] = tl_add(o->path.moment[i].place_m, tl_vec3(origin[0], origin[1], origin[2]));
  return status;
}

static TlStatus fill(Out *o, const char *const *runs) {
  const TlBlocks *all = o->blocks;
  const double *origin = all->terrain.origin;
  int64_t run_count = all->count > 0 ? all->block[all->count - 1].run + 1 : 0;
  int64_t moments = 0;
  for (int64_t i = 0; i < all->count; i++) moments += all->block[i].count;
  TL_TRY(TL_NEW(o->word, (size_t)(TL_FATES + run_count)));
  TL_TRY(TL_NEW(o->value, (size_t)(all->count * FIELDS)));
  TL_TRY(TL_NEW(o->place, (size_t)moments));
  TL_TRY(TL_NEW(o->stop, (size_t)all->count));
  for (int i = 0; i < TL_FATES; i++) o->word[i] = tl_fate_names[i];
  for (int64_t i = 0; i < run_count; i++) o->word[TL_FATES + i] = runs[i];
  for (int64_t i = 0; i < moments; i++)
    o->place[i] = tl_add(all->moment[i].place_m, tl_vec3(origin[0], origin[1], origin[2]));
  for (int64_t i = 0; i < all->count; i++) {
    const TlBlock *b = &all->block[i];
    values_of(all, b, o->value + i * FIELDS);
    o->stop[i] = o->place[b->first + b->count - 1];
  }
  return see_steps(o, runs);
}

static TlStatus path_of(const Out *o, const char *name, char **path) {
  char *file = tl_format("%s.%s", name, o->extension);
  *path = file ? tl_path_join(o->folder, file) : NULL;
  tl_free(file);
  return *path ? TL_OK : TL_ENOMEM;
}

static TlStatus write_vector(const Out *o, const char *name, bool lines) {
  TlVectorLayer layer = {.name = name,
                         .crs = o->blocks->terrain.crs,
                         .lines = lines,
                         .features = o->blocks->count,
                         .first = o->path.first,
                         .place = lines ? o->path_place : o->stop,
                         .fields = FIELDS,
                         .field = field,
                         .value = o->value,
                         .word = o->word};
  char *path;
  TL_TRY(path_of(o, name, &path));
  TlStatus status = tl_vector_write(&layer, path, o->overwrite);
  tl_free(path);
  return status;
}

/* ---- tables ---- */

static void put_reals(TlCsv *csv, const double *value, int count, char end) {
  char text[40];
  for (int i = 0; i < count; i++) {
    tl_csv_real(text, value[i]);
    fprintf(csv->file, "%s%c", text, i == count - 1 ? end : ',');
  }
}

static void put_block(const Out *o, TlCsv *csv, int64_t i) {
  const double *value = o->value + i * FIELDS;
  tl_csv_put_text(csv->file, o->word[(int64_t)value[RUN]]);
  fprintf(csv->file, ",%lld,", (long long)o->blocks->block[i].id);
}

static void put_stops(const Out *o, TlCsv *csv) {
  for (int64_t i = 0; i < o->blocks->count; i++) {
    put_block(o, csv, i);
    fprintf(csv->file, "%s,", tl_fate_names[o->blocks->block[i].end]);
    put_reals(csv, (double[]){o->stop[i].x, o->stop[i].y, o->stop[i].z}, 3, ',');
    put_reals(csv, o->value + i * FIELDS + ON_FILLED, FIELDS - ON_FILLED, '\n');
  }
}

static void put_trajectories(const Out *o, TlCsv *csv) {
  for (int64_t i = 0; i < o->blocks->count; i++) {
    const TlBlock *b = &o->blocks->block[i];
    for (int64_t k = b->first; k < b->first + b->count; k++) {
      const TlBlockMoment *at = &o->blocks->moment[k];
      put_block(o, csv, i);
      put_reals(csv,
                (double[]){at->time_s, o->place[k].x, o->place[k].y, o->place[k].z, at->speed_m_s,
                           at->translational_kJ, at->rotational_kJ,
                           tl_block_jump(o->blocks, at->place_m)},
                8, '\n');
    }
  }
}

static TlStatus write_table(const Out *o, const char *name, const char *header,
                            void (*put)(const Out *, TlCsv *)) {
  char *path;
  TlCsv csv;
  TL_TRY(path_of(o, name, &path));
  TlStatus status = tl_csv_begin(&csv, path, o->overwrite, header);
  if (status == TL_OK) {
    put(o, &csv);
    status = tl_csv_commit(&csv);
  }
  tl_free(path);
  return status;
}

static TlStatus write_all(const Out *o) {
  TL_TRY(tl_dir_make(o->folder));
  if (strcmp(o->extension, "csv") != 0) {
    TL_TRY(write_vector(o, "stops", false));
    return write_vector(o, "trajectories", true);
  }
  TL_TRY(write_table(o, "stops",
                     "run,id,end,east_m,north_m,height_m,on_filled,mass_kg,volume_m3,stop_time_s,"
                     "runout_m,drop_m,largest_speed_m_s,largest_energy_kJ,largest_jump_height_m,"
                     "release",
                     put_stops));
  return write_table(o, "trajectories",
                     "run,id,time_s,east_m,north_m,height_m,speed_m_s,translational_kJ,"
                     "rotational_kJ,jump_height_m",
                     put_trajectories);
}

static TlStatus report(const TlBlocks *all, TlFigures *figures) {
  static const char *const name[TL_FATES] = {"blocks_stopped", "blocks_moving", "blocks_left",
                                             "blocks_not_started"};
  double count[TL_FATES] = {0};
  for (int64_t i = 0; i < all->count; i++) count[all->block[i].end] += 1;
  TL_TRY(tl_figures_add(figures, "blocks", (double)all->count, "", "post/blocks.h"));
  for (int i = 0; i < TL_FATES; i++)
    TL_TRY(tl_figures_add(figures, name[i], count[i], "", "post/blocks.h"));
  return tl_figures_add(figures, "blocks_stopped_on_filled", tl_blocks_stopped_on_filled(all), "",
                        "post/blocks.h");
}

TlStatus tl_trajectories_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                               const char *extension, bool overwrite, TlFigures *figures) {
  Out o = {.blocks = blocks, .folder = folder, .extension = extension, .overwrite = overwrite};
  TlStatus status = fill(&o, runs);
  if (status == TL_OK) status = write_all(&o);
  if (status == TL_OK) status = report(blocks, figures);
  tl_free(o.word);
  tl_free(o.value);
  tl_free(o.place);
  tl_free(o.stop);
  tl_block_paths_free(&o.path);
  tl_free(o.path_place);
  return status;
}

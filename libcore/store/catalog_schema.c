#include "store/catalog_impl.h"

/* The format is public: a change here is a new TL_CATALOG_SCHEMA and a line in
 * docs/reference/catalog.md. Avatar ids are never used twice (AUTOINCREMENT): results refer to
 * them. Blobs have tables of their own, so that listing grains does not read past them page by
 * page. */

static const char runs[] =
    "CREATE TABLE run ("
    " id INTEGER PRIMARY KEY, digest TEXT NOT NULL, tool TEXT NOT NULL, version TEXT,"
    " commit_id TEXT, build TEXT, argv TEXT NOT NULL, host TEXT, start_utc TEXT, end_utc TEXT,"
    " threads INTEGER, ranks INTEGER, seed TEXT, peak_memory_bytes INTEGER,"
    " record TEXT NOT NULL) STRICT;"
    "CREATE INDEX run_of_digest ON run(digest);"
    "CREATE TABLE run_input ("
    " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " path TEXT NOT NULL, size_bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,"
    " PRIMARY KEY (run_id, position)) STRICT;"
    "CREATE TABLE run_parameter ("
    " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " name TEXT NOT NULL, value TEXT, PRIMARY KEY (run_id, position)) STRICT;"
    "CREATE TABLE run_history ("
    " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE, position INTEGER NOT NULL,"
    " ancestor_id INTEGER NOT NULL REFERENCES run(id), PRIMARY KEY (run_id, position)) STRICT;";

static const char grains[] =
    "CREATE TABLE sample ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " run_id INTEGER NOT NULL REFERENCES run(id),"
    " voxel_x_m REAL NOT NULL, voxel_y_m REAL NOT NULL, voxel_z_m REAL NOT NULL) STRICT;"
    "CREATE TABLE avatar ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " sample_id INTEGER NOT NULL REFERENCES sample(id) ON DELETE CASCADE,"
    " run_id INTEGER NOT NULL REFERENCES run(id),"
    " label INTEGER NOT NULL, border INTEGER NOT NULL CHECK (border IN (0, 1)),"
    " nx INTEGER NOT NULL, ny INTEGER NOT NULL, nz INTEGER NOT NULL, spacing_m REAL NOT NULL,"
    " origin_x_m REAL NOT NULL, origin_y_m REAL NOT NULL, origin_z_m REAL NOT NULL,"
    " phi_error_m REAL NOT NULL, gradient_max REAL NOT NULL, node_count INTEGER NOT NULL,"
    " volume_m3 REAL NOT NULL, area_m2 REAL NOT NULL,"
    " inertia_1_m5 REAL NOT NULL, inertia_2_m5 REAL NOT NULL, inertia_3_m5 REAL NOT NULL,"
    " radius_m REAL NOT NULL,"
    " scan_x_m REAL NOT NULL, scan_y_m REAL NOT NULL, scan_z_m REAL NOT NULL,"
    " scan_qw REAL NOT NULL, scan_qx REAL NOT NULL, scan_qy REAL NOT NULL, scan_qz REAL NOT NULL,"
    " axis_a_m REAL NOT NULL, axis_b_m REAL NOT NULL, axis_c_m REAL NOT NULL) STRICT;"
    "CREATE INDEX avatar_of_sample ON avatar(sample_id, id);"
    "CREATE TABLE avatar_blob ("
    " avatar_id INTEGER NOT NULL REFERENCES avatar(id) ON DELETE CASCADE,"
    " kind TEXT NOT NULL CHECK (kind IN ('phi', 'node', 'node_area')), part INTEGER NOT NULL,"
    " raw_bytes INTEGER NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL,"
    " PRIMARY KEY (avatar_id, kind, part)) STRICT;";

static const char terrains[] =
    "CREATE TABLE terrain ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " run_id INTEGER NOT NULL REFERENCES run(id), crs TEXT NOT NULL,"
    " origin_x REAL NOT NULL, origin_y REAL NOT NULL, origin_z REAL NOT NULL,"
    " nx INTEGER NOT NULL, ny INTEGER NOT NULL, cell_m REAL NOT NULL,"
    " x0_m REAL NOT NULL, y0_m REAL NOT NULL, holes_filled INTEGER NOT NULL,"
    " band_m REAL NOT NULL, band_spacing_m REAL NOT NULL, z0_m REAL NOT NULL,"
    " bnx INTEGER NOT NULL, bny INTEGER NOT NULL, band_count INTEGER NOT NULL) STRICT;"
    "CREATE TABLE terrain_blob ("
    " terrain_id INTEGER NOT NULL REFERENCES terrain(id) ON DELETE CASCADE,"
    " kind TEXT NOT NULL CHECK (kind IN ('height', 'k_low', 'k_count', 'start', 'band_phi')),"
    " part INTEGER NOT NULL, raw_bytes INTEGER NOT NULL, crc32 INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (terrain_id, kind, part)) STRICT;";

/* A command as one pastes it: what the shell would split or expand is quoted. The views are for
 * users; the program itself takes their text from here, for those in a file may be anything. */
#define RUN_COMMAND                                                                                \
  "SELECT id AS run_id,"                                                                           \
  " (SELECT group_concat(word, ' ') FROM"                                                          \
  "  (SELECT CASE WHEN value = '' OR value GLOB '*[^-A-Za-z0-9_./=:,@%+]*'"                        \
  "   THEN '''' || replace(value, '''', '''\\''''') || '''' ELSE value END AS word"                \
  "   FROM json_each(run.argv) ORDER BY key)) AS command FROM run"
#define GRAIN_PROVENANCE                                                                           \
  "SELECT avatar.id AS grain, h.position AS step, run.tool,"                                       \
  " run.version, run.commit_id, c.command, run.host, run.start_utc, run.end_utc, run.threads,"     \
  " run.ranks, run.seed, run.peak_memory_bytes,"                                                   \
  " (SELECT group_concat(path || ' (' || size_bytes || ' bytes, sha256 ' || sha256 || ')', '; ')"  \
  "  FROM (SELECT * FROM run_input i WHERE i.run_id = run.id ORDER BY position)) AS inputs,"       \
  " (SELECT group_concat(name || '=' || coalesce(value, ''), '; ')"                                \
  "  FROM (SELECT * FROM run_parameter p WHERE p.run_id = run.id ORDER BY position))"              \
  "  AS parameters"                                                                                \
  " FROM avatar JOIN run_history h ON h.run_id = avatar.run_id"                                    \
  " JOIN run ON run.id = h.ancestor_id JOIN run_command c ON c.run_id = run.id"                    \
  " ORDER BY avatar.id, h.position"

static const char views[] = "CREATE VIEW run_command AS " RUN_COMMAND ";"
                            "CREATE VIEW grain_provenance AS " GRAIN_PROVENANCE ";";

const char tl_catalog_with_provenance[] =
    "WITH run_command AS (" RUN_COMMAND "), grain_provenance AS (" GRAIN_PROVENANCE ") ";

/* New in schema 2. */
const char tl_catalog_schema_2[] =
    "CREATE TABLE IF NOT EXISTS terrain_class ("
    " terrain_id INTEGER NOT NULL REFERENCES terrain(id) ON DELETE CASCADE,"
    " kind TEXT NOT NULL CHECK (kind = 'class'),"
    " part INTEGER NOT NULL, raw_bytes INTEGER NOT NULL, crc32 INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (terrain_id, kind, part)) STRICT;";

/* New in schema 3. A NULL is a residual that was not measured. */
const char tl_catalog_schema_3[] =
    "CREATE TABLE IF NOT EXISTS avatar_check ("
    " avatar_id INTEGER PRIMARY KEY REFERENCES avatar(id) ON DELETE CASCADE,"
    " verdict TEXT NOT NULL CHECK (verdict IN ('good', 'doubtful', 'rejected')),"
    " reason TEXT NOT NULL, gradient REAL, node_cells REAL, volume_gap REAL,"
    " overlap_cells REAL, overlap_share REAL, agreement REAL,"
    " elongation REAL NOT NULL, flatness REAL NOT NULL, sphericity REAL NOT NULL,"
    " krumbein REAL NOT NULL, convexity REAL NOT NULL, roundness REAL NOT NULL,"
    " inscribed REAL NOT NULL) STRICT;";

/* New in schema 4. */
const char tl_catalog_schema_4[] = "ALTER TABLE avatar_check ADD COLUMN contact_width REAL;";

/* New in schema 5. */
const char tl_catalog_schema_5[] =
    "CREATE TABLE IF NOT EXISTS terrain_filled ("
    " terrain_id INTEGER NOT NULL REFERENCES terrain(id) ON DELETE CASCADE,"
    " kind TEXT NOT NULL CHECK (kind = 'filled'),"
    " part INTEGER NOT NULL, raw_bytes INTEGER NOT NULL, crc32 INTEGER NOT NULL,"
    " data BLOB NOT NULL, PRIMARY KEY (terrain_id, kind, part)) STRICT;";

const char *const tl_catalog_schema_sql[] = {runs,
                                             grains,
                                             terrains,
                                             views,
                                             tl_catalog_schema_2,
                                             tl_catalog_schema_3,
                                             tl_catalog_schema_4,
                                             tl_catalog_schema_5,
                                             NULL};

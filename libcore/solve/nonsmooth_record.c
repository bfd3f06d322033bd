#include "solve/nonsmooth_record.h"

/* A field of its own name and type; the six numbers of a symmetric tensor, or three of an array, as vectors; one of an
 * array's. */
#define FIELD(Struct, type, name, unit, meaning)                                                   \
  TL_FIELD_FRAME(Struct, type, name, unit, 0, meaning, name, #name)
#define VECTOR(Struct, member, column, unit, meaning)                                              \
  {column, unit, meaning, TL_FIELD_VEC3, TL_FRAME, offsetof(Struct, member), column},
#define NUMBER(Struct, member, column, unit, meaning)                                              \
  {column, unit, meaning, TL_FIELD_F64, TL_FRAME, offsetof(Struct, member), column},

static const TlRecordField body[] = {
    FIELD(TlNsBody, TlVec3, v, "m/s", "velocity before any impulse of this problem")
        FIELD(TlNsBody, TlVec3, w, "rad/s", "spin, likewise")
            FIELD(TlNsBody, double, inverse_mass, "1/kg",
                  "0: fixed; the last body is, for all boundaries")
                VECTOR(TlNsBody, inverse_inertia.xx, "inverse_inertia_diagonal", "1/(kg m^2)",
                       "inverse of the tensor of inertia, world axes: xx, yy, zz")
                    VECTOR(TlNsBody, inverse_inertia.xy, "inverse_inertia_beside", "1/(kg m^2)",
                           "the same: xy, xz, yz")};

static const TlRecordField patch[] = {
    FIELD(TlNsPatch, int32_t, a, "", "first body") FIELD(TlNsPatch, int32_t, b, "", "second body")
        FIELD(TlNsPatch, int32_t, first, "", "its first normal row")
            FIELD(TlNsPatch, int32_t, count, "", "its normal rows, up to four") FIELD(
                TlNsPatch, int32_t, resist, "", "its rows against twisting and rolling; -1: none")
                FIELD(TlNsPatch, TlVec3, n, "1",
                      "normal of its friction, from the second body to the first")
                    FIELD(TlNsPatch, TlVec3, t1, "1", "first direction of friction")
                        FIELD(TlNsPatch, TlVec3, t2, "1", "second direction of friction") FIELD(
                            TlNsPatch, TlVec3, ra, "m",
                            "from the first body's centre to the centre of force")
                            FIELD(TlNsPatch, TlVec3, rb, "m", "from the second body's centre to it")
                                VECTOR(TlNsPatch, wall, "wall", "m/s",
                                       "velocity of a boundary there, along n, t1 and t2")
                                    FIELD(TlNsPatch, double, friction, "1",
                                          "coefficient of friction")
                                        NUMBER(TlNsPatch, lambda[0], "lambda_1", "N s",
                                               "impulse of the start, along t1")
                                            NUMBER(TlNsPatch, lambda[1], "lambda_2", "N s",
                                                   "impulse of the start, along t2")};

static const TlRecordField normal[] = {
    FIELD(TlNsPoint, double, rhs, "m/s",
          "0 <= u_n + sigma lambda - rhs, at right angles to "
          "lambda - least >= 0") FIELD(TlNsPoint, double, sigma, "1/kg", "compliance of the row")
        FIELD(TlNsPoint, double, least, "N s",
              "least impulse: 0, or less where the contact adheres")
            FIELD(TlNsPoint, double, lambda, "N s", "impulse of the start")
                FIELD(TlNsPoint, double, arm, "m", "from the centre of force, across the normal")};

static const TlRecordField arm[] = {
    FIELD(TlNsArm, TlVec3, n, "1", "normal of the row")
        FIELD(TlNsArm, TlVec3, ran, "m", "arm on the first body x n")
            FIELD(TlNsArm, TlVec3, rbn, "m", "arm on the second body x n")
                FIELD(TlNsArm, double, wall_n, "m/s", "velocity of a boundary along n")};

static const TlRecordField resist[] = {
    FIELD(TlNsResist, double, rolling, "m", "bound of rolling over the normal impulse")
        FIELD(TlNsResist, double, twisting, "m", "bound of twisting over the normal impulse") FIELD(
            TlNsResist, double, spread, "1", "1: friction at the points resists twisting, too")
            VECTOR(TlNsResist, wall, "wall", "rad/s", "spin of a boundary along n, t1 and t2")
                VECTOR(TlNsResist, lambda, "lambda", "N m s",
                       "impulses of the start about n, t1 and t2")};

static const TlRecordField bond[] = {
    FIELD(TlNsBond, int32_t, a, "", "first sphere") FIELD(TlNsBond, int32_t, b, "", "second sphere")
        FIELD(TlNsBond, TlVec3, n, "1", "from the second to the first")
            FIELD(TlNsBond, double, half, "m", "half the distance of the centres")
                FIELD(TlNsBond, TlVec3, rhs, "m/s", "u + sigma lambda = rhs")
                    FIELD(TlNsBond, double, sigma_n, "1/kg", "compliance along n")
                        FIELD(TlNsBond, double, sigma_t, "1/kg", "compliance across n")
                            FIELD(TlNsBond, double, inverse_t, "kg", "0: no rows across")
                                FIELD(TlNsBond, TlVec3, lambda, "N s",
                                      "impulse of the start on the first sphere")};

const TlRecord tl_ns_record[TL_NS_LISTS] = {
    TL_RECORD("problem_bodies", "Problem of a step (nonsmooth.problems_every_s): bodies.", TlNsBody,
              body),
    TL_RECORD("problem_patches", "Likewise: contacts of two bodies, with their friction.",
              TlNsPatch, patch),
    TL_RECORD("problem_normals", "Likewise: normal rows.", TlNsPoint, normal),
    TL_RECORD("problem_arms", "Likewise: where the normal rows act, one each.", TlNsArm, arm),
    TL_RECORD("problem_resists", "Likewise: rows against twisting and rolling.", TlNsResist,
              resist),
    TL_RECORD("problem_bonds", "Likewise: bonds of nets.", TlNsBond, bond)};

void *tl_ns_rows(const TlNsProblem *q, TlNsList list, int64_t *count) {
  void *const rows[TL_NS_LISTS] = {q->body, q->patch, q->point, q->arm, q->resist, q->bond};
  const int32_t n[TL_NS_LISTS] = {q->bodies, q->patches, q->points,
                                  q->points, q->resists, q->bonds};
  *count = n[list];
  return rows[list];
}

/* The exact gap of two convex polyhedra, followed from step to step (docs/theory/places.md).
 *
 * Gap: the largest separation along the normals of faces and of pairs of edges whose arcs of normals
 * cross (separating axes; Gregorius 2013). An overlap is exact: -gap is the length of the least
 * translation that parts the two. Apart it is the distance.
 *
 * From step to step only candidates are evaluated. When they were listed the gap was g. Since then no
 * point of one grain has moved by more than w seen from the other, so edges farther from each other than
 * |g| + 2 w cannot give the gap. A corner's height over a face of the other grain has changed by w at most, or by
 * more where the corner lies farther from that grain's centre than its radius, for w bounds the turn: faces
 * that cannot have the largest separation within these bounds, and corners that cannot be lowest over their face,
 * are left out. Candidates are listed anew when w reaches the skin. What is listed never shows in the result: the first
 * of the candidates in the order of faces and edges gives it, whatever else the list holds. Metres; frames as said;
 * nothing is allocated. Thread safe.
 */
#ifndef TL_CONTACT_FACETS_H
#define TL_CONTACT_FACETS_H

#include "model/facets.h"

enum {
  TL_FACET_FACES_KEPT = 24, /* candidates of a pair: a face with a corner of the other grain */
  TL_FACET_EDGES_KEPT = 48,
  TL_FACET_CONTACTS = 2 * TL_FACET_LOOP + 1,
  TL_FACET_EDGES_KEY = 1 << 29, /* in the keys of two edges */
};

typedef struct TlFacetPair { /* candidates of a pair: a cache */
  bool made;
  int32_t face_count, edge_count;
  TlMat3 r0; /* when the candidates were listed */
  TlVec3 t0;
  double skin, margin;
  struct {
    int16_t side, face, corner; /* side: whose face, 0: a */
  } face[TL_FACET_FACES_KEPT];
  struct {
    int16_t a, b;
  } edge[TL_FACET_EDGES_KEPT];
} TlFacetPair;

typedef struct TlFacetQuery {
  const TlFacets *facets[2];
  double scale[2];
  TlMat3 r; /* b's point of a's point x is r x + t */
  TlVec3 t;
  /* w: since pair->r0, pair->t0 no point within the radius of one grain has moved by more, seen from the other one
   * (0 when it is not made); either grain may be the one that moves */
  double motion;
  double radius[2]; /* about the centres, scaled: all corners lie within */
  double skin;      /* of new candidates */
  double bias;      /* edges that cross give the gap only where faces say less by more than this */
  double margin;    /* contacts with a gap below it are wanted */
} TlFacetQuery;

typedef struct TlFacetContact { /* frame of a */
  TlVec3 x, n;                  /* half-way between the surfaces; unit, from b to a */
  double gap;
  int32_t key; /* of the corner, or of the edges that meet there */
} TlFacetContact;

/* Contacts of the pair, deepest among them; their number. Two edges that cross: one, and where a face
 * beside them has nearly their normal the corners of the other grain over it, none deeper than the edges. A face on which
 * the other grain stands: the corners of what that grain's nearest face has above it, or less where
 * they are beyond the margin. Apart and beside each other: the nearest points of two edges.
 * *listed: were the candidates listed anew? */
int tl_facets_contacts(TlFacetPair *pair, const TlFacetQuery *query,
                       TlFacetContact contact[TL_FACET_CONTACTS], bool *listed);

#endif

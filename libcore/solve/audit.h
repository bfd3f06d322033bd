/* What the phases of steps cost one rank: clock, work that can be counted, and traffic. A run that is asked
 * for it (talus-solve --audit) keeps one; else the pointer is NULL and every call does nothing.
 *
 * A phase lasts until the next is entered. Counted work does not depend on the machine, and its largest value
 * over the ranks, beside its mean, says how well the load is shared; seconds of ranks that share cores do not.
 */
#ifndef TL_SOLVE_AUDIT_H
#define TL_SOLVE_AUDIT_H

#include <stdint.h>

/* Each phase: name in the table, unit of its work, nanoseconds that a unit takes, meaning. The times make
 * works of different kinds comparable (dist/dist.h balances their sum) and are no measurement of this machine:
 * rounded from audits of one rank of 9,600 grains with 290 nodes (docs/notebook/performance.md). That of bodies
 * has what the search does for each of them. */
#define TL_AUDIT_PHASES(P)                                                                         \
  P(GHOSTS, ghosts, "ghosts", 500, "bodies of other ranks that come near are sent for")            \
  P(SEARCH, search, "look-ups", 200,                                                               \
    "which grains touch, and where; by penalty also their forces")                                 \
  P(ISLANDS, islands, "pairs", 400, "islands, and which rank solves them")                         \
  P(COLLISIONS, collisions, "impulses", 1000, "impulses of collisions")                            \
  P(RESTING, resting, "pairs times sweeps", 80, "resting contacts, and positions that overlap")    \
  P(MOVE, move, "bodies", 1000, "bodies move; gaps are looked at again where they end")            \
  P(SUMS, sums, "none", 0, "figures of the step over all ranks")                                   \
  P(MIGRATION, migration, "none", 0, "bodies change their rank; space is cut anew")                \
  P(OUTPUT, output, "none", 0, "tables, frames, checkpoints, whether to stop")

typedef enum TlAuditPhase {
#define P(id, ...) TL_AUDIT_##id,
  TL_AUDIT_PHASES(P)
#undef P
      TL_AUDIT_COUNT
} TlAuditPhase;

/* TL_WORK_NS_SEARCH and so on: of a unit of the phase's work. */
enum {
#define P(id, name, unit, ns, ...) TL_WORK_NS_##id = ns,
  TL_AUDIT_PHASES(P)
#undef P
};

typedef struct TlAuditCost {
  double seconds;
  int64_t work, messages, message_bytes, collectives, received_bytes, supersteps;
} TlAuditCost;

typedef struct TlAudit {
  void (*spent)(void *context, TlAuditCost *cost); /* of this rank so far, but for the work */
  void *context;
  TlAuditPhase now;
  TlAuditCost mark; /* when the phase was entered */
  TlAuditCost phase[TL_AUDIT_COUNT];
} TlAudit;

void tl_audit_enter(TlAudit *audit, TlAuditPhase phase);
void tl_audit_work(TlAudit *audit, TlAuditPhase phase, int64_t work);

#endif

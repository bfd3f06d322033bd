/* What the phases of steps cost one rank: clock, work that can be counted, and traffic. A run that is asked
 * for it (talus-solve --audit) keeps one; else the pointer is NULL and every call does nothing.
 *
 * A phase lasts until the next is entered. Counted work does not depend on the machine, and its largest value
 * over the ranks, beside its mean, says how well the load is shared; seconds of ranks that share cores do not.
 */
#ifndef TL_SOLVE_AUDIT_H
#define TL_SOLVE_AUDIT_H

#include <stdint.h>

/* Each phase: name in the table, unit of its work, meaning. */
#define TL_AUDIT_PHASES(P)                                                                         \
  P(GHOSTS, ghosts, "ghosts", "bodies of other ranks that come near are sent for")                 \
  P(SEARCH, search, "look-ups", "which grains touch, and where; by penalty also their forces")     \
  P(ISLANDS, islands, "pairs", "islands, and which rank solves them")                              \
  P(COLLISIONS, collisions, "impulses", "impulses of collisions")                                  \
  P(RESTING, resting, "pairs times sweeps", "resting contacts, and positions that overlap")        \
  P(MOVE, move, "bodies", "bodies move; gaps are looked at again where they end")                  \
  P(SUMS, sums, "none", "figures of the step over all ranks")                                      \
  P(MIGRATION, migration, "none", "bodies change their rank; space is cut anew")                   \
  P(OUTPUT, output, "none", "tables, frames, checkpoints, whether to stop")

typedef enum TlAuditPhase {
#define P(id, name, unit, meaning) TL_AUDIT_##id,
  TL_AUDIT_PHASES(P)
#undef P
      TL_AUDIT_COUNT
} TlAuditPhase;

typedef struct TlAuditCost {
  double seconds;
  int64_t work, messages, message_bytes, collectives;
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

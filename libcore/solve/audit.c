#include "solve/audit.h"

void tl_audit_enter(TlAudit *audit, TlAuditPhase phase) {
  TlAuditCost cost = {0};
  if (!audit) return;
  audit->spent(audit->context, &cost);
  TlAuditCost *sum = &audit->phase[audit->now], *mark = &audit->mark;
  sum->seconds += cost.seconds - mark->seconds;
  sum->messages += cost.messages - mark->messages;
  sum->message_bytes += cost.message_bytes - mark->message_bytes;
  sum->collectives += cost.collectives - mark->collectives;
  sum->received_bytes += cost.received_bytes - mark->received_bytes;
  sum->supersteps += cost.supersteps - mark->supersteps;
  *mark = cost;
  audit->now = phase;
}

void tl_audit_work(TlAudit *audit, TlAuditPhase phase, int64_t work) {
  if (audit) audit->phase[phase].work += work;
}

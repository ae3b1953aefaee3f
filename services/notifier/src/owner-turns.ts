import type { NotificationDraft } from '@outrider/registry';

/** Notifications per transaction. */
const MAX_IN_PART = 200;
/** Notifications of one owner before the next owner's turn. */
const IN_A_TURN = 20;

/**
 * Splits drafts into parts that are saved one after the other, with the owners in round-robin order. An owner with
 * hundreds of matching rules therefore delays the notifications of others only briefly. Drafts of one owner keep their
 * order.
 */
export function partsInTurns(drafts: readonly NotificationDraft[]): NotificationDraft[][] {
  if (drafts.length === 0) return [];
  if (drafts.length <= MAX_IN_PART) return [[...drafts]];
  const queues = [...Map.groupBy(drafts, ({ rule }) => rule.ownerId).values()];
  const ordered: NotificationDraft[] = [];
  for (let at = 0; ordered.length < drafts.length; at += IN_A_TURN)
    for (const queue of queues) ordered.push(...queue.slice(at, at + IN_A_TURN));
  return Array.from({ length: Math.ceil(ordered.length / MAX_IN_PART) }, (_, nth) =>
    ordered.slice(nth * MAX_IN_PART, (nth + 1) * MAX_IN_PART),
  );
}

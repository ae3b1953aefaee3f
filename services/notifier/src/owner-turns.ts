import type { NotificationDraft } from '@outrider/registry';

/** Notifications that are saved together. */
const MAX_IN_PART = 200;
/** Of one owner, before the next owner's turn. */
const IN_A_TURN = 20;

/**
 * Drafts in the parts that are saved one after the other, the owners in turn: one with hundreds of rules for an event
 * delays the notifications of others by few of its own. Those of one owner keep their order.
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

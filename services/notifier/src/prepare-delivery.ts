import type { MailPolicy } from '@outrider/access';
import { type EmailMessage, type NotificationFacts, notificationText, type WebhookMessage } from '@outrider/channels';
import {
  geofenceOf,
  isLate,
  isoTime,
  mayReceive,
  type Notification,
  notificationJson,
  type User,
} from '@outrider/domain';
import type { LeasedDelivery, Registry } from '@outrider/registry';

export interface PrepareParts {
  registry: Pick<Registry, 'notificationRules' | 'users' | 'vehicles' | 'geofences'>;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
}

/** The message to send, or why it is not sent. */
export type Prepared = { email: EmailMessage } | { webhook: WebhookMessage } | { cancelled: string };

/**
 * Makes the message of a delivery. The rule as it is now decides: nothing is sent to an address that was taken out of
 * it, or by a rule that was deleted.
 */
export async function prepareDelivery(
  { registry, mailPolicy }: PrepareParts,
  { delivery, notification, slot }: LeasedDelivery,
): Promise<Prepared> {
  const rule = await registry.notificationRules.get(delivery.ruleId);
  if (rule === null) return { cancelled: 'The rule was deleted.' };
  const owner = await registry.users.get(rule.ownerId);
  if (owner === null || owner.blocked) return { cancelled: 'The account is blocked.' };
  if (!(await mayStillSee(registry, owner, notification))) return { cancelled: 'The account may not see it any more.' };
  if (delivery.channel === 'email') {
    if (!rule.emails.includes(delivery.target)) return { cancelled: 'The rule does not name the address any more.' };
    const address = await mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
    if ('cancelled' in address) return address;
    const text = notificationText(factsOf(notification), rule.timeZone);
    const message = { id: delivery.id, to: [delivery.target], ...text };
    return { email: mailPolicy.withUnsubscribe(message, address) };
  }
  if (rule.webhookUrl !== delivery.target) return { cancelled: 'The rule does not name the webhook any more.' };
  const secret = await registry.notificationRules.webhookSecret(rule.id);
  if (secret === null) return { cancelled: 'The webhook has no secret.' };
  const body = webhookBody(notification);
  return { webhook: { id: delivery.id, url: delivery.target, secret, body, isUnproven: slot.isProbe } };
}

/** Retries last for a day: meanwhile the account may have lost the right to see the event. */
async function mayStillSee(registry: PrepareParts['registry'], owner: User, { event }: Notification): Promise<boolean> {
  const geofenceId = geofenceOf(event);
  const geofence = geofenceId === null ? null : await registry.geofences.get(geofenceId);
  return mayReceive(owner, {
    vehicle: (await registry.vehicles.get(event.vehicleId)) ?? undefined,
    geofence: geofence ?? undefined,
    geofenceOwner: (geofence && (await registry.users.get(geofence.ownerId))) ?? undefined,
  });
}

/** Body of a webhook, by the conventions of Standard Webhooks. */
export function webhookBody(notification: Notification): object {
  const { event } = notification;
  const { readAt: _, ...data } = notificationJson(notification);
  return { type: `${event.kind}.${event.phase}`, timestamp: isoTime(notification.createdAtMs), data };
}

/** The part of a notification that an e-mail says in words. */
export function factsOf({ event, vehicleName, geofenceName, ruleName }: Notification): NotificationFacts {
  return {
    // A message leaves out measures that the kind does not have.
    ...measuresOf(event),
    kind: event.kind,
    phase: event.phase,
    vehicleName,
    startedAtMs: event.startedAtMs,
    endedAtMs: event.endedAtMs,
    placeName: geofenceName,
    latitude: event.latitude,
    longitude: event.longitude,
    speedKmh: event.speedKmh,
    ruleName,
    late:
      isLate(event) && event.receivedAtMs !== undefined
        ? { receivedAtMs: event.receivedAtMs, delayMs: event.receivedAtMs - event.fixTimeMs }
        : null,
  };
}

const MEASURES = ['limitKmh', 'peakKmh', 'distanceM', 'alarm', 'endReason'] as const;

function measuresOf(event: Notification['event']): Partial<NotificationFacts> {
  const known = event as unknown as Record<string, unknown>;
  return Object.fromEntries(MEASURES.filter((name) => known[name] != null).map((name) => [name, known[name]]));
}

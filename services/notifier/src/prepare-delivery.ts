import { type MailPolicy, PlaceAccess, readerOf, ruleReaderOf, templateOf } from '@outrider/access';
import {
  type ChannelMessage,
  type EmailMessage,
  type NotificationFacts,
  notificationText,
  type WebhookMessage,
} from '@outrider/channels';
import {
  type Directory,
  type FleetEvent,
  hiddenUrl,
  isLate,
  isLicenceExpiry,
  isoTime,
  mayReceive,
  type Notification,
  notificationJson,
  subjectIdsOf,
  type User,
} from '@outrider/domain';
import type { Geocoder } from '@outrider/geocoder';
import type { LeasedDelivery, MessageChannel, MessageLimits, Registry } from '@outrider/registry';
import { messagesIn } from '@outrider/words/messages';

export interface PrepareParts {
  registry: Pick<
    Registry,
    'notificationRules' | 'users' | 'vehicles' | 'geofences' | 'drivers' | 'messageChannels' | 'preferences'
  >;
  messageLimits: MessageLimits;
  mailPolicy: Pick<MailPolicy, 'admit' | 'withUnsubscribe'>;
  /** All current definitions. */
  directory: Directory;
  geocoder: Geocoder;
}

/** Timeout of the geocoder for the addresses in a message. */
const ADDRESS_MS = 3000;

/** The message to send, or why it is not sent. */
export type Prepared =
  | { email: EmailMessage }
  | { webhook: WebhookMessage }
  | { channel: MessageChannel; secret: string | null; message: ChannelMessage; isUnproven: boolean }
  | { cancelled: string };

/**
 * Makes the message of a delivery by the current version of the rule. Nothing is sent to an address that was removed
 * from the rule, or by a deleted rule.
 */
export async function prepareDelivery(
  { registry, mailPolicy, messageLimits, directory, geocoder }: PrepareParts,
  { delivery, notification, slot }: LeasedDelivery,
): Promise<Prepared> {
  const rule = await registry.notificationRules.get(delivery.ruleId);
  if (rule === null) return { cancelled: 'The rule was deleted.' };
  const owner = await registry.users.get(rule.ownerId);
  if (owner === null || owner.blocked) return { cancelled: 'The account is blocked.' };
  if (isLicenceExpiry(notification.event)) {
    const driver = await registry.drivers.get(notification.event.driverId);
    if (driver === null) return { cancelled: 'The driver was deleted.' };
    if (driver.licenceExpiresOn !== notification.event.licenceExpiresOn)
      return { cancelled: 'The expiry date of the licence has changed.' };
  }
  if (!(await mayStillSee(registry, owner, notification))) return { cancelled: 'The account may no longer see it.' };
  const names = new PlaceAccess(owner, { directory, geocoder }, ADDRESS_MS);
  const reader = await ruleReaderOf(registry, rule);
  const template = templateOf(rule, reader.language);
  const { isEscalation } = delivery;
  if (delivery.channel === 'email') {
    const named = isEscalation ? rule.escalateTo : rule.emails;
    if (!named.includes(delivery.target)) return { cancelled: 'The rule no longer contains the address.' };
    const address = await mailPolicy.admit(owner, delivery.target, delivery.attempts === 1);
    if ('cancelled' in address) return address;
    const places = await placesOf(notification, names);
    const { words: _, ...text } = notificationText(
      { ...factsOf(notification, places), isEscalation },
      reader,
      template,
    );
    const message = { id: delivery.id, to: [delivery.target], ...text };
    return { email: mailPolicy.withUnsubscribe(message, address, reader.language) };
  }
  if (delivery.channel !== 'webhook') {
    const channel = await registry.messageChannels.get(delivery.target);
    const isBrowser = channel?.kind === 'web-push';
    if (channel === null || !(isBrowser ? rule.push : rule.channelIds.includes(channel.id)))
      return { cancelled: 'The rule no longer contains the channel.' };
    if (channel.state !== 'confirmed') return { cancelled: 'The channel is not confirmed.' };
    if (delivery.attempts === 1 && !(await registry.messageChannels.take(channel.id, messageLimits)))
      return { cancelled: 'The limit of the channel was reached.' };
    const places = await placesOf(notification, names);
    // A browser belongs to the owner, so the message is in the owner's language rather than in the rule's.
    const who = isBrowser ? await readerOf(registry, owner.id, rule.timeZone) : reader;
    const own = isBrowser ? templateOf(rule, who.language) : template;
    const { subject, words, text } = notificationText({ ...factsOf(notification, places), isEscalation }, who, own);
    const { direction } = messagesIn(who.language);
    const said = isBrowser
      ? { title: rule.name, text: words }
      : { title: own === null ? subject : words, text: own === null ? text : words };
    const secret = await registry.messageChannels.secret(channel.id);
    return {
      channel,
      secret,
      message: { id: delivery.id, ...said, language: who.language, direction },
      isUnproven: slot.isProbe,
    };
  }
  if (rule.webhookUrl !== delivery.target) return { cancelled: 'The rule no longer contains the webhook.' };
  const { url, secret } = await registry.notificationRules.webhook(rule.id);
  if (url === null || hiddenUrl(url) !== rule.webhookUrl) return { cancelled: 'The URL of the webhook was lost.' };
  if (secret === null) return { cancelled: 'The webhook has no secret.' };
  const body = webhookBody(notification, await placesOf(notification, names));
  return { webhook: { id: delivery.id, url, secret, body, isUnproven: slot.isProbe } };
}

/** Checks the rights again, because retries last for a day and the account may have lost them meanwhile. */
async function mayStillSee(registry: PrepareParts['registry'], owner: User, { event }: Notification): Promise<boolean> {
  const { vehicleId, geofenceId, driverId } = subjectIdsOf(event);
  const geofence = geofenceId === null ? null : await registry.geofences.get(geofenceId);
  return mayReceive(owner, {
    vehicle: (vehicleId && (await registry.vehicles.get(vehicleId))) ?? undefined,
    geofence: geofence ?? undefined,
    geofenceOwner: (geofence && (await registry.users.get(geofence.ownerId))) ?? undefined,
    driver: (driverId && (await registry.drivers.get(driverId))) ?? undefined,
  });
}

/** Body of a webhook, by the conventions of Standard Webhooks. */
export function webhookBody(notification: Notification, places: EventPlaces): object {
  const { event } = notification;
  const { readAt: _, ...data } = notificationJson(notification);
  return {
    type: `${event.kind}.${event.phase}`,
    timestamp: isoTime(notification.createdAtMs),
    data: { ...data, ...places },
  };
}

/** Addresses at which an event began and ended; null if unknown or not ended. */
export interface EventPlaces {
  startPlace: string | null;
  endPlace: string | null;
}

async function placesOf({ event }: Notification, names: PlaceAccess): Promise<EventPlaces> {
  if (isLicenceExpiry(event)) return { startPlace: null, endPlace: null };
  const { phase, latitude, longitude, startLatitude, startLongitude } = event;
  const here = { latitude, longitude };
  const isStartKnown = startLatitude !== undefined && startLongitude !== undefined;
  const start = isStartKnown ? { latitude: startLatitude, longitude: startLongitude } : here;
  const [startPlace, endPlace] = await names.placesOf(phase === 'begin' ? [start] : [start, here]);
  const isStartNamed = isStartKnown || phase === 'begin';
  return { startPlace: (isStartNamed && startPlace?.text) || null, endPlace: endPlace?.text ?? null };
}

/** The facts of a notification that an e-mail puts into words. */
export function factsOf(
  { event, vehicleName, geofenceName, driverName, ruleName, lastedMs }: Notification,
  { startPlace, endPlace }: EventPlaces,
): NotificationFacts {
  if (isLicenceExpiry(event)) {
    const { kind, phase, startedAtMs, endedAtMs, stage, licenceExpiresOn } = event;
    return { kind, phase, startedAtMs, endedAtMs, vehicleName, driverName, stage, licenceExpiresOn, ruleName };
  }
  return {
    ...knownOf(event),
    kind: event.kind,
    phase: event.phase,
    vehicleName,
    startedAtMs: event.startedAtMs,
    endedAtMs: event.endedAtMs,
    geofenceName,
    startPlace,
    endPlace,
    latitude: event.latitude,
    longitude: event.longitude,
    speedKmh: event.speedKmh,
    ruleName,
    lastedMs,
    late:
      isLate(event) && event.receivedAtMs !== undefined
        ? { receivedAtMs: event.receivedAtMs, delayMs: event.receivedAtMs - event.fixTimeMs }
        : null,
  };
}

/** All facts of an event. A message skips facts that it has no words for. */
function knownOf(event: FleetEvent): Partial<NotificationFacts> {
  return Object.fromEntries(Object.entries(event).filter(([, value]) => value !== null));
}

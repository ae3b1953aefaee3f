import { createHash, ECDH } from 'node:crypto';
import { type ChannelFault, type ChannelMessage, channelKind } from '../channel-kind.ts';
import { failedForGood } from '../send-result.ts';
import { checkWebhookUrl, hostOf } from '../webhook-url.ts';

/** The settings of a browser that its user sees. The secret has the destination of messages and their keys. */
export interface WebPushSettings {
  /** Host of the browser vendor's push service. */
  service: string;
  /** Lets the browser recognise its own channel: see {@link fingerprintOf}. */
  fingerprint: string;
}

/** A browser's subscription: the destination of messages, and the keys for their encryption (RFC 8291). */
export interface PushSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** Keys that identify the sender to push services (RFC 8292). */
export interface VapidKeys {
  publicKey: string;
  privateKey: string;
}

export interface WebPushContext {
  keys: VapidKeys;
  /** Whom a push service may write to about the messages: `mailto:…` or `https://…`. */
  contact: string;
  /** Hosts of push services, such as `fcm.googleapis.com` or `*.push.services.mozilla.com`. */
  hosts: readonly string[];
}

/** An hour: older events are in the inbox. */
const TTL_SECONDS = 3600;
/** Push services accept 4096 bytes after encryption. */
const MAX_PAYLOAD = 3000;
const MAX_TITLE = 200;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;

/** A browser of the user, through the push service of its vendor. The subscription is the secret. */
export const webPushChannel = channelKind<WebPushSettings>({
  schemaName: 'WebPushSettings',
  example: { service: 'updates.push.services.mozilla.com', fingerprint: '5R3hCHkK0yXKSSDpQ2mYNA' },
  about: 'a browser',
  name: {
    en: 'Browser',
    ru: 'Браузер',
    de: 'Browser',
    es: 'Navegador',
    he: 'דפדפן',
  },
  add: null,
  settings: {
    service: { type: 'text', doc: 'Host of the push service of the browser vendor.' },
    fingerprint: {
      type: 'text',
      doc: 'Lets a browser recognise its own channel: the first 22 characters of the SHA-256 of its endpoint, in base64url.',
    },
  },
  target: 'service',
  secret: {
    isRequired: true,
    fault: (secret) => (readSubscription(secret) === null ? 'It must be the push subscription of a browser.' : null),
  },
  needsConfirmation: false,
  fault: () => null,
  endpointOf: ({ service }) => `https://${service}`,
  async send(_, secret, message, { http, webPush: context, isUnproven, allowPrivateAddresses }) {
    const subscription = readSubscription(secret);
    if (subscription === null || context === null)
      return failedForGood('The browser no longer has a push subscription.');
    const { endpoint } = subscription;
    const fault = subscriptionFault(subscription, { hosts: context.hosts, allowPrivateAddresses });
    if (fault !== null) return failedForGood(fault.detail);
    const { keys, contact } = context;
    const webPush = await loadWebPush();
    const { headers, body } = webPush.generateRequestDetails(subscription, payloadOf(message), {
      vapidDetails: { subject: contact, ...keys },
      TTL: TTL_SECONDS,
      urgency: 'high',
      contentEncoding: 'aes128gcm',
      // A repeated message replaces its earlier copy that still waits for the browser.
      topic: createHash('sha256').update(message.id).digest('base64url').slice(0, 32),
    });
    const { result } = await http.request({
      method: 'POST',
      url: endpoint,
      headers: { ...headers },
      body,
      isUnproven,
      isTrusted: false,
    });
    // The browser or its user ended the subscription: its address will never be valid again.
    return !result.ok && (result.status === 404 || result.status === 410) ? { ...result, isGone: true } : result;
  },
});

/** Loaded at the first message: most services send nothing to browsers. */
async function loadWebPush() {
  return (await import('web-push')).default;
}

export async function createVapidKeys(): Promise<VapidKeys> {
  return (await loadWebPush()).generateVAPIDKeys();
}

/** Names a subscription without revealing it. */
export function fingerprintOf(endpoint: string): string {
  return createHash('sha256').update(endpoint).digest('base64url').slice(0, 22);
}

/** The fault of a subscription: its place as a JSON pointer, and the reason; null if it is valid. */
export function subscriptionFault(
  { endpoint, keys }: PushSubscription,
  { hosts, allowPrivateAddresses }: { hosts: readonly string[]; allowPrivateAddresses: boolean },
): ChannelFault | null {
  const wrong = checkWebhookUrl(endpoint, { allowPrivateAddresses });
  if (wrong !== null) return { pointer: '/endpoint', detail: wrong };
  const host = hostOf(new URL(endpoint));
  if (!hosts.some((pattern) => matchesHost(pattern, host)))
    return { pointer: '/endpoint', detail: `The push service ${host} is not among the allowed ones.` };
  if (!isPoint(keys.p256dh)) return { pointer: '/keys/p256dh', detail: 'It must be a point of P-256, in base64url.' };
  if (bytesOf(keys.auth)?.length !== AUTH_BYTES)
    return { pointer: '/keys/auth', detail: `It must be ${AUTH_BYTES} bytes, in base64url.` };
  return null;
}

function matchesHost(pattern: string, host: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
}

function isPoint(text: string): boolean {
  const bytes = bytesOf(text);
  if (bytes?.length !== POINT_BYTES) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}

function bytesOf(text: string): Buffer | null {
  return /^[A-Za-z0-9_-]{1,100}$/.test(text) ? Buffer.from(text, 'base64url') : null;
}

function readSubscription(secret: string | null): PushSubscription | null {
  try {
    const { endpoint, keys } = JSON.parse(secret ?? '') as Partial<PushSubscription>;
    const isWhole = typeof endpoint === 'string' && typeof keys?.p256dh === 'string' && typeof keys.auth === 'string';
    return isWhole ? { endpoint, keys } : null;
  } catch {
    return null;
  }
}

/** The payload for the console's service worker. */
function payloadOf({ id, title, text, path = '/notifications', language, direction }: ChannelMessage): string {
  const json = (body: string) =>
    JSON.stringify({ id, title: title.slice(0, MAX_TITLE), body, path, lang: language, dir: direction });
  let characters = [...text.trim()];
  while (Buffer.byteLength(json(characters.join(''))) > MAX_PAYLOAD && characters.length > 0)
    characters = characters.slice(0, Math.floor(characters.length * 0.8));
  return json(characters.join(''));
}

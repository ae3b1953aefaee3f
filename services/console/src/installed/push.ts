import type { MessageChannel, WebPushSettings } from '@outrider/client';
import { api } from '../api.ts';
import { browserName } from './browser-name.ts';
import { PUSH_KEY } from './pushed.ts';

/**
 * False (`unsupported`) without HTTPS, without the service worker, or on a phone on which the console is not installed.
 */
export function isPushSupported(): boolean {
  return 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;
}

/** Fingerprint of this browser's push subscription, which identifies its channel. Null: not subscribed. */
export async function thisBrowser(): Promise<string | null> {
  const subscription = await subscriptionOf();
  return subscription === null ? null : fingerprintOf(subscription.endpoint);
}

/**
 * Asks the user for permission and subscribes. Must follow a click.
 *
 * @returns false if the user, or the browser, refused
 */
export async function turnOn(userId: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') return false;
  await register(userId);
  return true;
}

/** Ends the subscription of this browser, whichever account it belongs to. */
export async function turnOff(channel: MessageChannel | null): Promise<void> {
  localStorage.removeItem(PUSH_KEY);
  await (await subscriptionOf())?.unsubscribe();
  if (channel !== null) await api.delete('/api/v1/me/message-channels/{id}', { path: { id: channel.id } });
}

/** Unsubscribes at logout: the next user must not get this account's messages. */
export async function turnOffOnLogOut(): Promise<void> {
  const fingerprint = await thisBrowser();
  const { items } = await api.get('/api/v1/me/message-channels', {});
  await turnOff(items.find((channel) => isOf(channel, fingerprint)) ?? null);
}

/**
 * Renews the subscription of a browser that was turned on: subscriptions expire, and the service may have a new key.
 */
export async function keepTo(userId: string): Promise<void> {
  if (localStorage.getItem(PUSH_KEY) !== userId) return turnOff(null);
  if (Notification.permission !== 'granted') return;
  const fingerprint = await thisBrowser();
  const [{ items }, key] = await Promise.all([api.get('/api/v1/me/message-channels', {}), keyOf()]);
  const subscription = await subscriptionOf();
  const isCurrent = subscription !== null && sameBytes(subscription.options.applicationServerKey, key);
  if (!isCurrent || !items.some((channel) => isOf(channel, fingerprint))) await register(userId);
}

export function isOf({ kind, settings }: MessageChannel, fingerprint: string | null): boolean {
  return kind === 'web-push' && (settings as WebPushSettings).fingerprint === fingerprint;
}

async function register(userId: string): Promise<void> {
  const { pushManager } = await navigator.serviceWorker.ready;
  const key = await keyOf();
  const known = await pushManager.getSubscription();
  if (known !== null && !sameBytes(known.options.applicationServerKey, key)) await known.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint = '', keys = {} } = subscription.toJSON();
  const { p256dh = '', auth = '' } = keys;
  await api.post('/api/v1/me/message-channels', {
    body: {
      kind: 'web-push',
      name: browserName(navigator.userAgent),
      subscription: { endpoint, keys: { p256dh, auth } },
    },
  });
  localStorage.setItem(PUSH_KEY, userId);
}

async function keyOf(): Promise<Uint8Array<ArrayBuffer>> {
  const { publicKey } = await api.get('/api/v1/me/push-key', {});
  return Uint8Array.from(atob(publicKey.replaceAll('-', '+').replaceAll('_', '/')), (each) => each.charCodeAt(0));
}

async function subscriptionOf(): Promise<PushSubscription | null> {
  if (!isPushSupported()) return null;
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

/** Same fingerprint as the service computes. */
async function fingerprintOf(endpoint: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint)));
  return btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .slice(0, 22);
}

function sameBytes(one: ArrayBuffer | null, other: Uint8Array): boolean {
  const bytes = new Uint8Array(one ?? new ArrayBuffer(0));
  return bytes.length === other.length && bytes.every((byte, nth) => byte === other[nth]);
}

import { type PushMessage, pathOf, readPush } from './push-message.ts';
import { handlingOf } from './requests.ts';

/**
 * Caches the files of one version of the console, so that it opens without a connection and while the service restarts.
 * It never caches a response of the API. It shows the push messages of the service. A new version waits as usual.
 */

/** The used part of the service worker API, which the page's types lack. */
interface ExtendableEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends ExtendableEvent {
  request: Request;
  respondWith(response: Promise<Response>): void;
}
interface PushEvent extends ExtendableEvent {
  data: { json(): unknown } | null;
}
interface ClickEvent extends ExtendableEvent {
  notification: Notification;
}
interface Page {
  focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}
interface Worker {
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  addEventListener(type: 'message', listener: (event: MessageEvent) => void): void;
  addEventListener(type: 'push', listener: (event: PushEvent) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: ClickEvent) => void): void;
  clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window' }): Promise<readonly Page[]>;
    openWindow(path: string): Promise<unknown>;
  };
  registration: { showNotification(title: string, options: NotificationOptions): Promise<void> };
  location: Location;
  skipWaiting(): Promise<void>;
}
const worker = self as unknown as Worker;

/** Filled in by the build: a hash of all files, and their paths. */
const VERSION = '__VERSION__';
const FILES: readonly string[] = JSON.parse('__FILES__');

const PREFIX = 'outrider-';
const CACHE = PREFIX + VERSION;
const PAGE = '/';
/** After this time the cached page is shown, which says that there is no connection. */
const PAGE_TIMEOUT_MS = 5000;
const kept = new Set(FILES);

worker.addEventListener('install', (event) => event.waitUntil(keep()));
worker.addEventListener('activate', (event) => event.waitUntil(forgetOthers().then(() => worker.clients.claim())));
worker.addEventListener('message', ({ data }) => {
  if (data === 'activate') void worker.skipWaiting();
});
worker.addEventListener('fetch', (event) => {
  const handling = handlingOf(event.request, worker.location.origin, kept);
  if (handling === 'file') event.respondWith(file(event.request));
  else if (handling === 'view') event.respondWith(page(event.request));
});

worker.addEventListener('push', (event) => event.waitUntil(show(readPush(event.data))));
worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(pathOf(event.notification.data)));
});

/** Shows a push message. A page in front announces it itself. */
async function show({ title, options }: PushMessage): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window' });
  if (!pages.some(({ focused }) => focused)) await worker.registration.showNotification(title, options);
}

async function open(path: string): Promise<void> {
  const [page] = await worker.clients.matchAll({ type: 'window' });
  if (page === undefined) return void (await worker.clients.openWindow(path));
  page.postMessage({ open: path });
  await page.focus();
}

async function keep(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([...FILES, new Request(PAGE, { cache: 'reload', headers: { accept: 'text/html' } })]);
}

async function forgetOthers(): Promise<void> {
  const names = await caches.keys();
  await Promise.all(
    names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)),
  );
}

async function file(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  return (await cache.match(new URL(request.url).pathname)) ?? fetch(request);
}

async function page(request: Request): Promise<Response> {
  const cached = async () => (await caches.open(CACHE)).match(PAGE);
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PAGE_TIMEOUT_MS) });
    // A proxy answers like this while the service behind it starts.
    return answer.status >= 500 ? ((await cached()) ?? answer) : answer;
  } catch (error) {
    const known = await cached();
    if (known === undefined) throw error;
    return known;
  }
}

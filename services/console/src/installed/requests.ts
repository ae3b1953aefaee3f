/** First path segments that the service handles: no view of the console has them. */
const SERVED = new Set([
  'api',
  'auth',
  'service',
  'docs',
  'maps',
  'live',
  'health',
  'metrics',
  'email',
  's',
  '.well-known',
]);

/** How the service worker handles a request of the page. */
export type Handling =
  /** A file of this version: from the cache. */
  | 'file'
  /** A view: the page from the service, or the cached page if the service is unavailable. */
  | 'view'
  /** Data and everything else: from the service, without caching. */
  | 'service';

/** @param files paths that are cached, such as `/assets/index-5f2c8a3e.js` */
export function handlingOf(
  request: { method: string; mode: string; url: string },
  origin: string,
  files: ReadonlySet<string>,
): Handling {
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== origin) return 'service';
  if (request.mode !== 'navigate') return files.has(url.pathname) && url.search === '' ? 'file' : 'service';
  const [first = ''] = url.pathname.slice(1).split('/', 1);
  return SERVED.has(first) || /\.[^/]*$/.test(url.pathname) ? 'service' : 'view';
}

/** First parts of paths that the service answers: no view of the console has them. */
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

/** What the service worker does with a request of the page. */
export type Handling =
  /** A file of this version: from the cache. */
  | 'file'
  /** A view: the page of the service, or the kept one where it is not reached. */
  | 'view'
  /** Data and all else: the browser asks the service, and nothing is kept. */
  | 'service';

/** @param files paths that are kept, such as `/assets/index-5f2c8a3e.js` */
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

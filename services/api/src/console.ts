import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './context.ts';
import { readStaticFiles } from './http/static-files.ts';

/**
 * The console runs its own files only, and requests nothing from another origin but that of an online map.
 *
 * @param mapOrigin null: no such map
 */
const policyOf = (mapOrigin: string | null) => {
  const map = mapOrigin === null ? '' : ` ${mapOrigin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "worker-src 'self'",
    `img-src 'self' data: blob:${map}`,
    "media-src 'self'",
    "font-src 'self'",
    `connect-src 'self'${map}`,
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
};
/** The page that a share link leads to, and the path of the link. It asks for what it shows itself. */
const SHARE_PAGE = 'share.html';
const SHARE_LINK = /^s\/[^/]+\/?$/;
const FOREVER = 'public, max-age=31536000, immutable';

/** Where `npm run build -w @outrider/console` puts its result; null where it was not built. */
export function builtConsole(): string | null {
  const folder = fileURLToPath(new URL('../../console/dist', import.meta.url));
  return existsSync(join(folder, 'index.html')) ? folder : null;
}

/**
 * Serves the console from memory, outside the limits: an office behind one address loads it as often as it likes. Names
 * below `assets/` hold a hash of the content, so browsers keep those files for good.
 *
 * A path that is no file and that no other part serves is a view of the console: a browser that opens it gets the page.
 *
 * @param folder what the console's build left
 * @param served first parts of the paths that belong to others: `api`, `docs`
 * @param mapOrigin of the online map; null: no such map
 * @throws {Error} when the folder holds no console
 */
export function consolePages(
  folder: string,
  served: ReadonlySet<string>,
  mapOrigin: string | null = null,
): MiddlewareHandler<ApiEnv> {
  const policy = policyOf(mapOrigin);
  const files = readStaticFiles(folder, (path) => ({
    ...(path === SHARE_PAGE ? { 'x-robots-tag': 'noindex' } : {}),
    'cache-control': path.startsWith('assets/') ? FOREVER : 'no-cache',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
  }));
  const index = files.get('index.html');
  if (index === undefined) throw new Error(`${folder} holds no index.html`);
  return async (c, next) => {
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') return next();
    const path = c.req.path.slice(1);
    const page = path === '' ? 'index.html' : SHARE_LINK.test(path) ? SHARE_PAGE : path;
    const file = files.get(page);
    if (file !== undefined) return file.reply(c);
    const [first = ''] = path.split('/', 1);
    const isView = !served.has(first) && !/\.[^/]*$/.test(path) && c.req.header('accept')?.includes('text/html');
    return isView ? index.reply(c) : next();
  };
}

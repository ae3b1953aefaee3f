import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MiddlewareHandler } from 'hono';
import type { ApiEnv } from './context.ts';
import { readStaticFiles } from './http/static-files.ts';

/**
 * Content security policy: the console runs only its own files, and loads nothing from other origins except the online
 * map.
 *
 * @param mapOrigin origin of the online map; null: none
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
/** Page that a share link opens, and the pattern of the link's path. The page fetches its data itself. */
const SHARE_PAGE = 'share.html';
const SHARE_LINK = /^s\/[^/]+\/?$/;
const FOREVER = 'public, max-age=31536000, immutable';

/** Folder of the console built by `npm run build -w @outrider/console`; null if it was not built. */
export function builtConsole(): string | null {
  const folder = fileURLToPath(new URL('../../console/dist', import.meta.url));
  return existsSync(join(folder, 'index.html')) ? folder : null;
}

/**
 * Serves the console from memory, outside the rate limits: an office behind one address may load it as often as it
 * likes. Names below `assets/` contain a hash of the content, so browsers cache those files permanently.
 *
 * A path that is neither a file nor served by another part is a view of the console, and gets the console's page.
 *
 * @param folder output of the console's build
 * @param served first segments of the paths that belong to other parts: `api`, `docs`
 * @param mapOrigin origin of the online map; null: none
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

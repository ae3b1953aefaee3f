import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import type { ApiEnv } from './context.ts';

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};
type FileType = keyof typeof TYPES;

/** Pages take nothing from elsewhere, run nothing that is written into them, and send nothing to elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

interface Page {
  text: string;
  etag: string;
  type: string;
}

function page(text: string, type: FileType): Page {
  return { text, etag: `"${hash('sha256', text).slice(0, 32)}"`, type: TYPES[type] };
}

/** Read once, when the service starts, so that a missing file is found then. */
function file(path: string): Page {
  return page(readFileSync(new URL(path, import.meta.url), 'utf8'), path.split('.').at(-1) as FileType);
}

/**
 * The home page, the documentation at `/docs/`, and the descriptions of both APIs: from memory, nothing from elsewhere.
 * Outside the limits: an office behind one address reads as many pages as it likes and keeps its calls.
 *
 * @param openApi the OpenAPI document as JSON
 */
export function staticPages(openApi: string): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const pages = {
    '/': file('./docs/home.html'),
    '/docs/': file('./docs/index.html'),
    '/docs/docs.css': file('./docs/docs.css'),
    '/docs/docs.js': file('./docs/docs.js'),
    '/docs/calls.js': file('./docs/calls.js'),
    '/openapi.json': page(openApi, 'json'),
    '/asyncapi.json': file('../../../schemas/asyncapi.json'),
  };
  app.get('/docs', (c) => c.redirect('/docs/', 308));
  // Browsers ask for it beside every page that names no icon, such as a JSON document.
  app.get('/favicon.ico', (c) => c.body(null, 204, { 'cache-control': 'public, max-age=86400' }));
  for (const [path, page] of Object.entries(pages)) app.get(path, (c) => reply(c, page));
  return app;
}

function reply(c: Context<ApiEnv>, { text, etag, type }: Page): Response {
  const headers = {
    etag,
    'cache-control': 'no-cache',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
  };
  if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers);
  return c.body(text, 200, { ...headers, 'content-type': type });
}

import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import type { ApiEnv } from './context.ts';

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
};

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

/** Read once, when the service starts: a file that is missing is found out then. */
function page(name: string): Page {
  const text = readFileSync(new URL(`./docs/${name}`, import.meta.url), 'utf8');
  return {
    text,
    etag: `"${hash('sha256', text).slice(0, 32)}"`,
    type: TYPES[name.split('.').at(-1) as keyof typeof TYPES],
  };
}

/** What a browser sees that was pointed at the service. */
export function homePage(): (c: Context<ApiEnv>) => Response {
  const home = page('home.html');
  return (c) => reply(c, home);
}

/**
 * The documentation at `/docs/`, from the OpenAPI document that is served beside it: three files, none from elsewhere.
 * Outside the limits, so that reading costs nobody their calls.
 */
export function docsPages(): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const pages = {
    '/docs/': page('index.html'),
    '/docs/docs.css': page('docs.css'),
    '/docs/docs.js': page('docs.js'),
  };
  app.get('/docs', (c) => c.redirect('/docs/', 308));
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

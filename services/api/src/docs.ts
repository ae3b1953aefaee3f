import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import type { ApiEnv } from './context.ts';
import { StaticFile } from './static-files.ts';

/** Pages load from their own origin only, run no inline code, and send nothing elsewhere. */
const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
};

/** Read at the start of the service, so that a missing file is found then. */
function file(url: string): StaticFile {
  return new StaticFile(url, readFileSync(new URL(url)), HEADERS);
}

/**
 * The home page, the documentation at `/docs/`, and the descriptions of both APIs: from memory, nothing from another
 * origin. Outside the limits: an office behind one address reads as many pages as it likes and keeps its calls.
 *
 * @param openApi the OpenAPI document as JSON
 */
export function staticPages(openApi: string): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  const pages = {
    '/': file(import.meta.resolve('./docs/home.html')),
    '/docs/': file(import.meta.resolve('./docs/index.html')),
    '/docs/init.js': file(import.meta.resolve('./docs/init.js')),
    '/docs/swagger-ui.css': file(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
    '/docs/swagger-ui-bundle.js': file(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    '/openapi.json': new StaticFile('openapi.json', Buffer.from(openApi), HEADERS),
    '/asyncapi.json': file(import.meta.resolve('../../../schemas/asyncapi.json')),
  };
  app.get('/docs', (c) => c.redirect('/docs/', 308));
  // Browsers request it beside every page that names no icon, such as a JSON document.
  app.get('/favicon.ico', (c) => c.body(null, 204, { 'cache-control': 'public, max-age=86400' }));
  for (const [path, page] of Object.entries(pages)) app.get(path, (c) => page.reply(c));
  return app;
}

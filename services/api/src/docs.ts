import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import type { ApiEnv } from './context.ts';
import { StaticFile } from './http/static-files.ts';

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

/** Reads the file when the module is loaded, so that a missing file is noticed when the service starts. */
function file(url: string): StaticFile {
  return new StaticFile(url, readFileSync(new URL(url)), HEADERS);
}

const PAGES = {
  '/': file(import.meta.resolve('./docs/home.html')),
  '/docs/': file(import.meta.resolve('./docs/index.html')),
  '/docs/messages.html': file(import.meta.resolve('./docs/messages.html')),
  '/docs/messages.js': file(import.meta.resolve('./docs/messages.js')),
  '/docs/pages.css': file(import.meta.resolve('./docs/pages.css')),
  '/docs/root.js': file(import.meta.resolve('./docs/root.js')),
  '/docs/init.js': file(import.meta.resolve('./docs/init.js')),
  '/docs/swagger-ui.css': file(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  '/docs/swagger-ui-bundle.js': file(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  '/asyncapi.json': file(import.meta.resolve('../../../schemas/asyncapi.json')),
  '/topics.asyncapi.json': file(import.meta.resolve('../../../schemas/topics.asyncapi.json')),
};

/**
 * Serves the home page, the documentation at `/docs/`, and the descriptions of both APIs and of the topics. All come
 * from memory, and load nothing from another origin. They are outside the rate limits: an office behind one address may
 * read any number of pages without using up its calls.
 *
 * @param openApi writes the OpenAPI document as JSON; called at the first request for it
 */
export function staticPages(openApi: () => string): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();
  app.get('/docs', (c) => c.redirect('/docs/', 308));
  // Browsers request it with every page that names no icon, such as a JSON document.
  app.get('/favicon.ico', (c) => c.body(null, 204, { 'cache-control': 'public, max-age=86400' }));
  for (const [path, page] of Object.entries(PAGES)) app.get(path, (c) => page.reply(c));
  let document: StaticFile | undefined;
  app.get('/openapi.json', (c) => {
    document ??= new StaticFile('openapi.json', Buffer.from(openApi()), HEADERS);
    return document.reply(c);
  });
  return app;
}

import { ndjson } from '@outrider/reports';
import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { COMPRESSIBLE_CONTENT_TYPE_REGEX } from 'hono/utils/compress';
import type { ApiEnv } from '../context.ts';

/** Responses smaller than this are sent faster uncompressed. */
const FROM_BYTES = 32 * 1024;

/**
 * Compresses lists and reports. Responses with an ETag are left uncompressed: compression would weaken the tag, and
 * `If-Match` requires strong ones.
 */
export function compressed(): MiddlewareHandler<ApiEnv> {
  const compressing = compress({
    threshold: FROM_BYTES,
    contentTypeFilter: (type) => type === ndjson.mediaType || COMPRESSIBLE_CONTENT_TYPE_REGEX.test(type),
  });
  return async (c, next) => {
    await next();
    if (!c.res.headers.has('etag')) await compressing(c, async () => {});
  };
}

import { Problem } from '@outrider/access';
import { tenantOf } from '@outrider/domain';
import type { Context, MiddlewareHandler, Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ApiEnv } from './context.ts';
import { ImportSlots, READING, WORKING } from './import-slots.ts';
import { wholeBody } from './input.ts';
import { refused } from './routes/auth.ts';
import { ROUTES } from './routes.ts';

/** How large a body may be. */
interface BodySize {
  maxSize: number;
  limit: MiddlewareHandler<ApiEnv>;
}

/** Larger than the largest geofence that anyone draws. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Any number of these are read at once. */
const SMALL_BODY_BYTES = 64 * 1024;
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Limits the size of request bodies, and admits large ones when there is memory for them. */
export function limitBodies(): MiddlewareHandler<ApiEnv> {
  const reading = new ImportSlots(READING);
  const working = new ImportSlots(WORKING);
  const usualSize: BodySize = { maxSize: MAX_BODY_BYTES, limit: limitBody(MAX_BODY_BYTES) };
  const largerSizes = ROUTES.flatMap(({ method, path, maxBodyBytes }) =>
    maxBodyBytes === undefined
      ? []
      : [
          {
            called: new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
            size: { maxSize: maxBodyBytes, limit: limitBody(maxBodyBytes) },
          },
        ],
  );
  const largerSizeOf = (call: string) => largerSizes.find(({ called }) => called.test(call))?.size;
  return (c, next) => {
    // No call has a body otherwise. GET and HEAD have none by the Fetch standard, and asking costs as much as the rest
    // of the call.
    if (!METHODS_WITH_BODY.has(c.req.method)) return next();
    // Nobody in particular sends nothing that is large.
    const isKnown = 'caller' in c.get('identity');
    const larger = isKnown ? largerSizeOf(`${c.req.method} ${c.req.path}`) : undefined;
    const size = larger ?? usualSize;
    const length = c.req.header('content-length');
    const isSmall = larger === undefined && length !== undefined && Number(length) <= SMALL_BODY_BYTES;
    return isKnown && !isSmall ? whenAdmitted(c, size, next) : size.limit(c, next);
  };

  /**
   * Large bodies are read, and then worked on, when there is memory for it: see {@link ImportSlots}. These are two
   * things, so that a client that sends slowly takes nothing from those whose bodies are here.
   */
  async function whenAdmitted(
    c: Context<ApiEnv>,
    { maxSize, limit }: BodySize,
    next: Next,
  ): Promise<Response | undefined> {
    const identity = c.get('identity');
    if (!('caller' in identity)) throw refused(identity.refused);
    const tenant = tenantOf(identity.caller);
    const { signal } = c.req.raw;
    const said = Number(c.req.header('content-length') ?? maxSize);
    const releases = [await reading.admit(tenant, said < maxSize ? said : maxSize, signal)];
    try {
      const answered = await limit(c, async () => {
        const body = await wholeBody(() => c.req.raw.arrayBuffer());
        c.req.raw = new Request(c.req.raw, { body });
        releases.push(await working.admit(tenant, body.byteLength, signal));
        await next();
      });
      return answered ?? undefined;
    } finally {
      for (const release of releases) release();
    }
  }
}

/** A body without a declared length is read here, not by the handler. */
function limitBody(maxSize: number): MiddlewareHandler<ApiEnv> {
  const onError = () => new Problem('too-large', `A body may have ${maxSize} bytes.`).toResponse();
  const limit = bodyLimit({ maxSize, onError });
  return async (c, next) => {
    let isRead = false;
    const answered = await wholeBody(() =>
      limit(c, async () => {
        isRead = true;
      }),
    );
    return isRead ? next() : (answered ?? undefined);
  };
}

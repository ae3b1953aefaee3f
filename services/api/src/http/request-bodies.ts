import { Problem } from '@outrider/access';
import { FairQueue, type FairQueueLimits, tenantOf } from '@outrider/domain';
import type { Context, MiddlewareHandler, Next } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ApiEnv } from '../context.ts';
import { refused } from '../routes/accounts/auth.ts';
import { ROUTES } from '../routes.ts';
import { wholeBody } from './input.ts';

/** Size limit of a body. */
interface BodySize {
  maxSize: number;
  limit: MiddlewareHandler<ApiEnv>;
}

/** Larger than the largest geofence that anyone draws. */
const MAX_BODY_BYTES = 1024 * 1024;
/** Bodies up to this size are read without queueing. */
const SMALL_BODY_BYTES = 64 * 1024;
/**
 * Bytes of bodies that are processed at once. Memory grows to some thirty times the size of a body while it is parsed,
 * checked and written.
 */
const WORKING: FairQueueLimits = {
  atOnce: 16 * 1024 * 1024,
  perTenant: 1,
  maxWaiting: 200,
  maxWaitingOfAccount: 10,
  maxWaitMs: 10_000,
};
/** Limits for reading: while a body is received and waits for processing, only its bytes are in memory. */
const READING: FairQueueLimits = { ...WORKING, atOnce: 8 * WORKING.atOnce };
const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
/** Limits the size of request bodies, and queues large ones until there is memory for them. */
export function limitBodies(): MiddlewareHandler<ApiEnv> {
  const reading = new FairQueue(READING);
  const working = new FairQueue(WORKING);
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
    // Other methods have no body. GET and HEAD have none by the Fetch standard, and asking costs as much as the rest of
    // the call.
    if (!METHODS_WITH_BODY.has(c.req.method)) return next();
    // Larger bodies are only accepted from authenticated callers.
    const isKnown = 'caller' in c.get('identity');
    const larger = isKnown ? largerSizeOf(`${c.req.method} ${c.req.path}`) : undefined;
    const size = larger ?? usualSize;
    const length = c.req.header('content-length');
    const isSmall = larger === undefined && length !== undefined && Number(length) <= SMALL_BODY_BYTES;
    return isKnown && !isSmall ? whenAdmitted(c, size, next) : size.limit(c, next);
  };

  /**
   * Queues large bodies for memory, first to be read and then to be processed, one of each tenant at a time. The two
   * queues are separate, so that a client that sends slowly does not delay bodies that have already arrived.
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
    const releases = [await admitted(reading, tenant, said < maxSize ? said : maxSize, signal)];
    try {
      const answered = await limit(c, async () => {
        const body = await wholeBody(() => c.req.raw.arrayBuffer());
        c.req.raw = new Request(c.req.raw, { body });
        releases.push(await admitted(working, tenant, body.byteLength, signal));
        await next();
      });
      return answered ?? undefined;
    } finally {
      for (const release of releases) release();
    }
  }
}

/**
 * Waits until there is memory for a body.
 *
 * @returns releases the memory; to be called when the call is answered
 * @throws {Problem} `unavailable` when too many wait, or for too long, or the client disconnected
 */
async function admitted(queue: FairQueue, tenant: string, bytes: number, signal: AbortSignal): Promise<() => void> {
  try {
    return await queue.enter({ owner: { account: tenant, tenant }, weight: bytes, signal });
  } catch {
    const headers = { 'retry-after': '5' };
    throw new Problem('unavailable', 'Too many large requests are being processed. Try again.', { headers });
  }
}

/** A body without a declared length is read here, not by the handler. */
function limitBody(maxSize: number): MiddlewareHandler<ApiEnv> {
  const onError = () => new Problem('too-large', `The body must have at most ${maxSize} bytes.`).toResponse();
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

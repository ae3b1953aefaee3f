import { hash } from 'node:crypto';
import {
  badParameter,
  notFound,
  Problem,
  type ShareConfig,
  type SharedLink,
  type SharedVehicle,
  type ShareSources,
  sharedLink,
  sharedPositions,
  sharedTracks,
} from '@outrider/access';
import { countedAs } from '@outrider/auth';
import { isoTime, VEHICLE_STATES } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { ApiEnv } from './context.ts';
import { timeOut } from './fields/fields.ts';
import { isKnown } from './http/byte-range.ts';
import { readQuery } from './http/input.ts';
import type { DescribedRoute } from './route.ts';

export interface SharePagesConfig extends ShareConfig {
  /** Calls for the data of links per minute and address. */
  viewsPerMinute: number;
}

export interface SharePagesParts extends ShareSources {
  config: { share: SharePagesConfig };
  hub: ShareSources['hub'] & Pick<Hub, 'hit'>;
  /** See `ApiParts`. */
  refresh?: () => Promise<void>;
  addressOf(c: Context<ApiEnv>): string;
  /** Unix milliseconds. */
  now(): number;
}

const PATH = '/s/{token}/data';
const TOKEN = /^[\w-]{22}$/;
const WINDOW_MS = 60_000;
/** A track is read from the archive for all its viewers together, this often at most. */
const TRACK_FOR_MS = 30_000;
const MAX_TRACKS = 50;
/** Links are for people: search engines must not list them, and pages that they lead to must not learn of them. */
const HEADERS = { 'cache-control': 'private, no-cache', 'x-robots-tag': 'noindex', 'referrer-policy': 'no-referrer' };

const EXAMPLE = {
  name: 'Delivery to Hill Street',
  expiresAt: '2026-01-16T12:00:00.000Z',
  track: null,
  vehicles: [
    {
      name: 'Van 7',
      state: 'moving' as const,
      position: {
        fixTime: '2026-01-15T11:59:55.000Z',
        latitude: 59.9386,
        longitude: 30.3141,
        speedKmh: 48.2,
        courseDeg: 90,
      },
      points: null,
    },
  ],
};
const point = z.tuple([z.number(), z.number(), z.number(), z.number().nullable()]);
const SharedOut = z
  .strictObject({
    name: z.string().nullable().meta({ description: 'Name of the link.' }),
    expiresAt: timeOut,
    track: z
      .strictObject({ from: timeOut, to: timeOut })
      .nullable()
      .meta({ description: 'Time range of the track. Null if the link shows the current positions.' }),
    vehicles: z.array(
      z.strictObject({
        name: z.string(),
        state: z.enum(VEHICLE_STATES).nullable().meta({ description: 'Null if the link shows a track.' }),
        position: z
          .strictObject({
            fixTime: timeOut,
            latitude: z.number(),
            longitude: z.number(),
            speedKmh: z.number().nullable(),
            courseDeg: z.int().nullable(),
          })
          .nullable()
          .meta({ description: 'The last fix. Null if there is none yet, or if the link shows a track.' }),
        points: z.array(point).nullable().meta({
          description:
            'Points of the track, each as longitude, latitude, Unix milliseconds and speed in km/h. Null if the link shows current positions.',
        }),
      }),
    ),
  })
  .meta({ id: 'Shared', examples: [EXAMPLE as never] });

const DESCRIBED_HEADERS = {
  ETag: 'Changes whenever the content changes.',
  'X-Robots-Tag': '`noindex`.',
  'Referrer-Policy': '`no-referrer`.',
};

/** Documentation of {@link sharePages}. */
export const sharePageDescriptions: readonly DescribedRoute[] = [
  {
    method: 'get',
    path: PATH,
    group: 'Vehicles',
    operationId: 'getShared',
    summary: 'Get what a share link shows. The token in the path is the only credential.',
    description:
      'With `If-None-Match`, the answer is 304 until something has changed. The limits of the API do not apply: an address may make `SHARE_LINK_VIEWS_PER_MINUTE` of these calls a minute. `/s/{token}` is a page that shows the same data.',
    access: 'unlimited',
    headers: { 'If-None-Match': { description: '`ETag` of the previous answer.', example: '"5d41402abc4b2a76"' } },
    params: z.object({
      token: z.string().meta({ description: 'Token of the share link.', examples: ['Jm3vXQ0c5Yl8bTz1oWkR9w'] }),
    }),
    query: null,
    body: null,
    answers: {
      200: { description: 'What the link shows now.', body: SharedOut, headers: DESCRIBED_HEADERS },
      304: { description: 'Nothing has changed.', headers: DESCRIBED_HEADERS },
    },
    problems: ['invalid-request', 'not-found', 'too-many-requests', 'unavailable'],
  },
];

/**
 * The data of share links, for people without a login. Therefore it is outside the API's rate limits, with a limit of
 * its own.
 */
export function sharePages(parts: SharePagesParts): Hono<ApiEnv> {
  const { config, hub, now } = parts;
  const tracks = new Map<string, { atMs: number; vehicles: Promise<SharedVehicle[]> }>();

  /** @throws {Problem} when the address exceeds the limit */
  async function count(c: Context<ApiEnv>): Promise<void> {
    const { hits, resetsAtMs } = await hub.hit(`share:ip:${countedAs(parts.addressOf(c))}`, WINDOW_MS, now());
    if (hits <= config.share.viewsPerMinute) return;
    const seconds = Math.max(1, Math.ceil((resetsAtMs - now()) / 1000));
    throw new Problem('too-many-requests', 'Too many requests for share links came from this address.', {
      headers: { 'retry-after': String(seconds) },
    });
  }

  function tracksOf(shared: SharedLink): Promise<SharedVehicle[]> {
    const key = [shared.link.id, ...shared.vehicles.map(({ id }) => id)].join();
    const known = tracks.get(key);
    if (known !== undefined && now() - known.atMs < TRACK_FOR_MS) return known.vehicles;
    const vehicles = sharedTracks(parts, shared, now());
    // After a failure, the next call tries again.
    vehicles.catch(() => tracks.delete(key));
    tracks.delete(key);
    tracks.set(key, { atMs: now(), vehicles });
    for (const oldest of tracks.keys()) if (tracks.size > MAX_TRACKS) tracks.delete(oldest);
    return vehicles;
  }

  const app = new Hono<ApiEnv>();
  app.get('/s/:token/data', async (c) => {
    c.set('routePath', PATH);
    readQuery(null, c.req.url);
    await count(c);
    await parts.refresh?.();
    const token = c.req.param('token');
    if (!TOKEN.test(token)) throw badParameter('token', 'It must be the complete token of a share link.');
    const shared = await sharedLink(parts, token);
    if (shared === null) throw notFound();
    const { link } = shared;
    const vehicles = link.track === null ? await sharedPositions(parts, shared) : await tracksOf(shared);
    const text = JSON.stringify({
      name: link.name,
      expiresAt: isoTime(link.expiresAtMs),
      track: link.track && { from: isoTime(link.track.fromMs), to: isoTime(link.track.toMs) },
      vehicles: vehicles.map(vehicleBody),
    } satisfies z.output<typeof SharedOut>);
    const etag = `"${hash('sha256', text).slice(0, 32)}"`;
    const headers = { ...HEADERS, etag };
    if (isKnown(c.req.header('if-none-match'), etag)) return c.body(null, 304, headers);
    return c.body(text, 200, { ...headers, 'content-type': 'application/json' });
  });
  app.all('/s/:token/data', () => {
    throw new Problem('method-not-allowed', 'Served here: GET.', { headers: { allow: 'GET' } });
  });
  return app;
}

function vehicleBody({ position, ...vehicle }: SharedVehicle) {
  if (position === null) return { ...vehicle, position };
  const { fixTimeMs, ...rest } = position;
  return { ...vehicle, position: { fixTime: isoTime(fixTimeMs), ...rest } };
}

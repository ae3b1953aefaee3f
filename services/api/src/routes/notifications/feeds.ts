import { badParameter, Problem } from '@outrider/access';
import { type FeedName, type FeedStart, MAX_CURSOR_CHARACTERS } from '@outrider/feeds';
import { acceptedFormat, ndjson } from '@outrider/reports';
import { z } from 'zod';
import { FEED_BOUNDS, type FeedPlace, HEARTBEAT_MS, MAX_WAIT_SECONDS, type StreamForm } from '../../feeds/feeds.ts';
import { exampleOf, timeIn, timeOut, wholeParameter } from '../../fields/fields.ts';
import { type AuthorizedContext, type Reply, type Route, route } from '../../route.ts';
import { PositionOut } from '../fleet/vehicles.ts';
import { EventOut } from './notifications.ts';

const CURSOR = 'MTtldmVudHM7NWQ0MTQwMmFiYzRiMmE3Njt0Mjs1ZDQxNDAyYWJjNGIyYTc2OzNm';
const LAST_EVENT_ID = 'last-event-id';
const HEARTBEAT_SECONDS = HEARTBEAT_MS / 1000;
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** Media types of the streaming forms. */
const STREAMS: readonly { name: StreamForm; mediaType: string }[] = [
  { name: 'ndjson', mediaType: ndjson.mediaType },
  { name: 'sse', mediaType: 'text/event-stream' },
];

const FeedEvent = EventOut.extend({
  phase: z.enum(['begin', 'end', 'removed']).meta({
    description:
      '`removed`: a recalculation found that the event did not happen; the other fields are its former content.',
  }),
}).meta({
  id: 'FeedEvent',
  description: 'An event, as in the live API and in webhooks. Each kind has further fields of its own.',
  examples: [exampleOf(EventOut)] as never,
});

const FeedPosition = PositionOut.extend({
  receivedAt: timeOut.meta({ description: 'Time at which the packet with this position was received.' }),
}).meta({
  id: 'FeedPosition',
  examples: [{ ...(exampleOf(PositionOut) as object), receivedAt: '2026-01-15T11:59:55.400Z' }] as never,
});

function startOf(text: string): FeedStart | null {
  if (text === 'earliest' || text === 'latest') return text;
  return timeIn.safeParse(text).data ?? null;
}

const query = z.object({
  cursor: z
    .string()
    .max(MAX_CURSOR_CHARACTERS)
    .optional()
    .meta({
      description: 'Where to continue: `nextCursor` of the previous answer, or the `cursor` of a line of a stream.',
      examples: [CURSOR],
    }),
  from: z
    .string()
    .refine(
      (text) => startOf(text) !== null,
      'It must be earliest, latest, or a time such as 2026-01-15T12:00:00.000Z.',
    )
    .optional()
    .meta({
      description:
        'Where to begin without a cursor. `latest` (default): with items that arrive from now on. `earliest`: with the oldest items in the log. A time: with items that were written to the log at that time or later.',
      examples: ['earliest'],
    }),
  limit: wholeParameter(1, MAX_LIMIT, DEFAULT_LIMIT)
    .optional()
    .meta({ description: `Maximum number of items. Default: ${DEFAULT_LIMIT}. Not for streams.` }),
  waitSeconds: wholeParameter(0, MAX_WAIT_SECONDS, 30).optional().meta({
    description:
      'Maximum time to wait for the first item if there is none yet, in seconds. Default: 0. Not for streams.',
  }),
});

const HEADERS = {
  'Last-Event-ID': {
    description:
      'Cursor of the last event that a client of server-sent events received. Takes precedence over `cursor`.',
    example: CURSOR,
  },
};

/** The route of a feed. */
function feedRoute(feed: FeedName, item: z.ZodType, words: { summary: string; description: string }): Route {
  const example = { items: [exampleOf(item)], nextCursor: CURSOR, lagSeconds: 0 };
  const page = z
    .strictObject({
      items: z.array(item),
      nextCursor: z
        .string()
        .meta({ description: 'Pass this value as `cursor` to continue, even if there were no items.' }),
      lagSeconds: z.number().meta({
        description:
          'Age of the oldest record of the log that this answer did not reach, in seconds. 0 if it reached the end of the log.',
      }),
    })
    .meta({ examples: [example] as never });
  const line = { type: feed === 'events' ? 'event' : 'position', ...(exampleOf(item) as object), cursor: CURSOR };
  const text = JSON.stringify(line);
  return route({
    method: 'get',
    path: `/api/v1/feed/${feed}`,
    group: 'Feeds',
    operationId: feed === 'events' ? 'followEvents' : 'followPositions',
    summary: words.summary,
    description: [
      words.description,
      'Repeat the call with `nextCursor`. With `waitSeconds`, the answer is sent as soon as there are items. An answer may ' +
        'have fewer items than `limit`, or none, although more follow: `lagSeconds` is then greater than 0.',
      `With \`Accept: application/x-ndjson\` the answer is a stream without end. Each line is a JSON message of the live API, with a \`cursor\` from which the feed continues after this message. The stream begins with \`{"type":"heartbeat","cursor":…,"lagSeconds":…}\`, which is repeated every ${HEARTBEAT_SECONDS} seconds. If the service ends the stream, its last message is \`{"type":"end","status":…,"detail":…}\`. With \`Accept: text/event-stream\` the same messages are sent as server-sent events, with the cursor as \`id\`. Heartbeats and ends are events named \`heartbeat\` and \`end\`.`,
      'Rights are checked for each item when it is sent. A cursor is valid for as long as the log keeps the records after it (`TELEMETRY_RETENTION_HOURS`). After that the answer is 410 `cursor-expired`, whose `resumption` shows from where the feed can be resumed.',
      `An account can follow at most ${FEED_BOUNDS.perAccount} feeds at a time.`,
    ].join('\n\n'),
    headers: HEADERS,
    query,
    answers: {
      200: {
        description: 'The items after the cursor.',
        body: page,
        otherTypes: {
          [ndjson.mediaType]: z.string().meta({ examples: [`${text}\n`] }),
          'text/event-stream': z.string().meta({ examples: [`id: ${CURSOR}\ndata: ${text}\n\n`] }),
        },
      },
    },
    problems: ['cursor-expired', 'not-acceptable', 'unavailable'],
    async handle({ query: asked }, context) {
      const form = formOf(context.header('accept'));
      const place = placeOf(asked, context.header(LAST_EVENT_ID));
      const call = { userId: context.caller.id, callerNow: context.callerNow, signal: context.signal };
      if (form === null) {
        const { limit = DEFAULT_LIMIT, waitSeconds = 0 } = asked;
        return {
          status: 200,
          body: await context.feeds.page(feed, place, { limit, waitMs: waitSeconds * 1000 }, call),
        };
      }
      for (const name of ['limit', 'waitSeconds'] as const)
        if (asked[name] !== undefined) throw badParameter(name, 'This is only for answers in JSON, not for streams.');
      return streamOf(feed, place, form, context, call);
    },
  });
}

async function streamOf(
  feed: FeedName,
  place: FeedPlace,
  { name, mediaType }: (typeof STREAMS)[number],
  { feeds, method }: AuthorizedContext,
  call: Parameters<AuthorizedContext['feeds']['stream']>[3],
): Promise<Reply> {
  const headers = {
    'content-type': mediaType,
    // Compression and proxy buffering would delay items.
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  };
  if (method === 'HEAD') return { status: 200, headers };
  return { status: 200, headers, bytes: await feeds.stream(feed, place, name, call) };
}

function formOf(accept: string | undefined): (typeof STREAMS)[number] | null {
  const found = acceptedFormat(accept, STREAMS);
  if (found === undefined)
    throw new Problem(
      'not-acceptable',
      'Feeds are available as application/json, application/x-ndjson or text/event-stream.',
    );
  return found;
}

function placeOf({ cursor, from }: z.output<typeof query>, lastEventId: string | undefined): FeedPlace {
  if (cursor !== undefined && from !== undefined) throw badParameter('from', 'Give either cursor or from, not both.');
  // A client of server-sent events reconnects to the same URL; this header says what it received last.
  if (lastEventId !== undefined && lastEventId !== '')
    return { cursor: { text: lastEventId, parameter: 'Last-Event-ID' } };
  return cursor === undefined
    ? { from: startOf(from ?? 'latest') ?? 'latest' }
    : { cursor: { text: cursor, parameter: 'cursor' } };
}

export const feedRoutes: Route[] = [
  feedRoute('events', FeedEvent, {
    summary: 'Follow all events after a cursor, including late and recalculated ones.',
    description:
      'Returns events in both phases, in the order in which they became known. Corrections of the past, by late data or a recalculation, have the `origin` `recalculated`. They are new events, changed events (with the same `id`), and events that did not happen (`phase` `removed`). Store events by `id`: the last item of an id is valid, except that a recalculated item always takes precedence over a live one, whichever arrives last. In rare cases, after a crash, an item is repeated.',
  }),
  feedRoute('positions', FeedPosition, {
    summary: 'Follow all positions after a cursor, in the order of their arrival.',
    description:
      'Returns the positions that terminals sent, without rejected ones, but including late ones: `receivedAt` is their time of arrival. The positions of a vehicle are in the order of their arrival. If a gateway had to repeat a packet, its positions are repeated too: vehicle and `fixTime` identify them.',
  }),
];

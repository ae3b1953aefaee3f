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
      '`removed`: a recalculation found that the event never happened; the other fields are what was known of it.',
  }),
}).meta({
  id: 'FeedEvent',
  description: 'An event as the live API and webhooks show it; kinds have fields of their own beside these.',
  examples: [exampleOf(EventOut)] as never,
});

const FeedPosition = PositionOut.extend({
  receivedAt: timeOut.meta({ description: 'When the packet came that it was in.' }),
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
      description: 'Go on behind this: `nextCursor` of the answer before, or the `cursor` of a line.',
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
        'Where to begin without a cursor: `latest` (default), with what comes from now on; `earliest`, with the oldest that the log keeps; a time, with what was written to the log then or later.',
      examples: ['earliest'],
    }),
  limit: wholeParameter(1, MAX_LIMIT, DEFAULT_LIMIT)
    .optional()
    .meta({ description: `At most this many items, ${DEFAULT_LIMIT} where it is left out. Not for streams.` }),
  waitSeconds: wholeParameter(0, MAX_WAIT_SECONDS, 30).optional().meta({
    description: 'How long to wait for the first item where there is none, 0 where it is left out. Not for streams.',
  }),
});

const HEADERS = {
  'Last-Event-ID': {
    description: 'The cursor of the last event that a client of server-sent events saw. Goes before `cursor`.',
    example: CURSOR,
  },
};

/** The route of a feed. */
function feedRoute(feed: FeedName, item: z.ZodType, words: { summary: string; description: string }): Route {
  const example = { items: [exampleOf(item)], nextCursor: CURSOR, lagSeconds: 0 };
  const page = z
    .strictObject({
      items: z.array(item),
      nextCursor: z.string().meta({ description: 'Ask on with this as `cursor`, whether there were items or not.' }),
      lagSeconds: z.number().meta({
        description:
          'Age of the oldest record of the log that this answer did not come to; 0 where it came to the end.',
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
      'Ask again and again with `nextCursor`, with `waitSeconds` so that an answer comes as soon as there is something. ' +
        'An answer may have fewer items than `limit`, or none, while `lagSeconds` says that more follow.',
      `With \`Accept: application/x-ndjson\` the answer is a stream that does not end: a JSON message in each line, as the live API sends it, with the \`cursor\` behind it. At once, and every ${HEARTBEAT_SECONDS} seconds, comes \`{"type":"heartbeat","cursor":…,"lagSeconds":…}\`; where the service ends the stream, \`{"type":"end","status":…,"detail":…}\` before that. With \`Accept: text/event-stream\` the same come as server-sent events, with the cursor as \`id\`; heartbeats and ends are events of these names.`,
      'Rights are judged for each item when it is sent. A cursor is good for as long as the log keeps what follows it (`TELEMETRY_RETENTION_HOURS`); afterwards the answer is 410 `cursor-expired`, whose `resumption` says where the feed can be followed from.',
      `An account follows ${FEED_BOUNDS.perAccount} feeds at a time.`,
    ].join('\n\n'),
    headers: HEADERS,
    query,
    answers: {
      200: {
        description: 'What follows the cursor.',
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
        if (asked[name] !== undefined) throw badParameter(name, 'A stream has no end: this is for answers in JSON.');
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
    throw new Problem('not-acceptable', 'It comes as application/json, application/x-ndjson or text/event-stream.');
  return found;
}

function placeOf({ cursor, from }: z.output<typeof query>, lastEventId: string | undefined): FeedPlace {
  if (cursor !== undefined && from !== undefined) throw badParameter('from', 'Say a cursor or a beginning, not both.');
  // A client of server-sent events reconnects to the same URL; this header says what it received last.
  if (lastEventId !== undefined && lastEventId !== '')
    return { cursor: { text: lastEventId, parameter: 'Last-Event-ID' } };
  return cursor === undefined
    ? { from: startOf(from ?? 'latest') ?? 'latest' }
    : { cursor: { text: cursor, parameter: 'cursor' } };
}

export const feedRoutes: Route[] = [
  feedRoute('events', FeedEvent, {
    summary: 'Every event from a cursor on, late and recalculated ones included.',
    description:
      'Events in both phases, in the order in which they became known. What late data or a recalculation makes of the past follows with `origin` `recalculated`: events that were not known, events that are otherwise than they were known (the same `id`), and events that never happened (`phase` `removed`). Keep events by `id`: the last item of an id stands, but a recalculated one stands against a live one whichever comes last. In rare cases, after a crash, an item comes again.',
  }),
  feedRoute('positions', FeedPosition, {
    summary: 'Every position from a cursor on, in the order in which they came.',
    description:
      'The positions that terminals sent and that are kept as good, late ones included: `receivedAt` says when each came. Those of a vehicle come in the order of their arrival. Where a gateway had to repeat a packet, its positions come again: a vehicle and a `fixTime` say which they are.',
  }),
];

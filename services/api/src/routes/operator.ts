import { notFound } from '@outrider/access';
import { isoTime, type SessionId } from '@outrider/domain';
import { deadLetterId } from '@outrider/log';
import { serviceVersion } from '@outrider/runtime';
import type { ArchiveGap } from '@outrider/warehouse';
import { z } from 'zod';
import { exampleOf, idOut, listOf, pageReply, paging, readCursor, timeOut } from '../fields/fields.ts';
import { pageOf } from '../http/whole-list.ts';
import { USES } from '../operated-service.ts';
import { callsOf, type Route } from '../route.ts';
import { SERIES, STEP_MS } from '../service-history.ts';
import { SESSION_EXAMPLE, SessionOut, sessionBody } from './accounts/users.ts';

const { get, post } = callsOf('Operations');

const figures = z.array(z.number().nullable());
const StatusOut = z
  .strictObject({
    status: z.enum(['ok', 'failed']),
    parts: z.array(
      z.strictObject({
        name: z.string(),
        status: z.enum(['ok', 'failed']),
        warnings: z.array(z.string()).meta({ description: 'What the operator should look at.' }),
      }),
    ),
    version: z.string(),
    nodeVersion: z.string(),
    startedAt: timeOut.meta({ description: 'When the process that answers was started.' }),
    uses: z
      .array(
        z.strictObject({
          name: z.enum(USES),
          used: z.number().nullable().meta({ description: 'Null: this process does not know.' }),
          limit: z.number().nullable().meta({ description: 'Null: there is none, or this process does not know.' }),
        }),
      )
      .meta({ description: 'What is used of each bound.' }),
    history: z
      .strictObject({
        stepSeconds: z.int(),
        at: z.array(timeOut),
        series: z.strictObject(Object.fromEntries(SERIES.map((name) => [name, figures]))),
      })
      .meta({
        description:
          'The last hour as this process counted it, the oldest first. Null: it does not count this; on servers each ' +
          'service counts its own.',
      }),
  })
  .meta({
    id: 'OperatorStatus',
    examples: [
      {
        status: 'ok',
        parts: [{ name: 'registry', status: 'ok', warnings: [] }],
        version: '0.2.0',
        nodeVersion: '26.10.0',
        startedAt: '2026-01-15T08:00:00.000Z',
        uses: [{ name: 'videoBytes', used: 1_500_000_000, limit: 10_000_000_000 }],
        history: {
          stepSeconds: 15,
          at: ['2026-01-15T12:00:00.000Z'],
          series: Object.fromEntries(SERIES.map((name) => [name, [12]])),
        },
      },
    ] as never,
  });

const LETTER_ID = 'telemetry/0@4/rules';
const DeadLetterOut = z
  .strictObject({
    id: z.string(),
    topic: z.string(),
    partition: z.int(),
    offset: z.int(),
    reader: z.string().meta({ description: 'What could not process it; `log`: it could not be decoded.' }),
    reason: z.string(),
    at: timeOut.meta({ description: 'When it was put aside.' }),
    bytes: z.int().nullable().meta({ description: 'Its length; null: it was too long to be kept.' }),
  })
  .meta({
    id: 'DeadLetter',
    examples: [
      {
        id: LETTER_ID,
        topic: 'telemetry',
        partition: 0,
        offset: 4,
        reader: 'rules',
        reason: 'RangeError: Invalid time value',
        at: '2026-01-15T12:00:00.000Z',
        bytes: 412,
      },
    ],
  });

const GAP_ID = 'positions/202601_12_40';
const ArchiveGapOut = z
  .strictObject({
    id: z.string(),
    table: z.string(),
    from: timeOut.meta({ description: 'Of its first row; where nothing was known of the part, of the whole month.' }),
    to: timeOut,
    rows: z.int().nullable().meta({ description: 'Null: nothing was known of the part.' }),
    vehicles: z.int().nullable(),
    reason: z.string().meta({
      description:
        'Why ClickHouse set the part aside, such as `broken-on-start`; `checksum`: it was read, and is damaged; `gone`: ' +
        'there is no trace of it; `replaced`: the whole archive is another one.',
    }),
    path: z.string().nullable().meta({ description: 'Where its files are now.' }),
    noticedAt: timeOut,
    restored: z.enum(['partly', 'not']).nullable().meta({
      description: 'How far it could be written again from the log; null: that is under way.',
    }),
    isAccepted: z.boolean().meta({ description: 'Nobody is warned of it any more. Reports say it all the same.' }),
  })
  .meta({
    id: 'ArchiveGap',
    examples: [
      {
        id: GAP_ID,
        table: 'positions',
        from: '2026-01-03T08:00:00.000Z',
        to: '2026-01-04T17:30:00.000Z',
        rows: 120_400,
        vehicles: 12,
        reason: 'broken-on-start',
        path: '/data/archive/store/4fd/4fd0a3a1-4d7a-43c6-b3da-c21475a84302/detached/broken-on-start_202601_12_40_3',
        noticedAt: '2026-01-15T12:00:00.000Z',
        restored: 'not',
        isAccepted: false,
      },
    ],
  });

function gapBody({
  fromMs,
  toMs,
  noticedAtMs,
  restored,
  offsets: _,
  hasCorrections: __,
  log: ___,
  ...gap
}: ArchiveGap) {
  return {
    ...gap,
    from: isoTime(fromMs),
    to: isoTime(toMs),
    noticedAt: isoTime(noticedAtMs),
    restored: restored === 'whole' ? null : restored,
  };
}

const MapOut = z
  .strictObject({
    file: z.string(),
    bytes: z.int(),
    state: z.enum(['served', 'new', 'hidden', 'refused', 'unreadable']).meta({
      description:
        '`new`: added since the start; the next one finds it. `hidden`: the operator has a map of this name. ' +
        '`refused`: its name or format is not that of a map.',
    }),
    name: z.string().nullable().meta({ description: 'What the map calls itself.' }),
    attribution: z.string().nullable(),
    minZoom: z.number().nullable(),
    maxZoom: z.number().nullable(),
  })
  .meta({
    id: 'MapFile',
    examples: [
      {
        file: 'world.mbtiles',
        bytes: 2_012_160,
        state: 'served',
        name: 'World',
        attribution: 'Natural Earth',
        minZoom: 0,
        maxZoom: 6,
      },
    ],
  });

const OwnedSessionOut = z.strictObject({ ...SessionOut.shape, userId: idOut, login: z.string() }).meta({
  id: 'OwnedSession',
  examples: [{ ...SESSION_EXAMPLE, userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79', login: 'anna' }],
});

const sessionCursor = z.tuple([z.number(), z.string()]);
const letterId = z.string().regex(/^[\w-]{1,100}\/\d{1,6}@\d{1,16}\/[\w.-]{1,100}$/, 'It must be an id of the list.');

export const operatorRoutes: Route[] = [
  get('/api/v1/operator/status', {
    operationId: 'getOperatorStatus',
    summary: 'How the service is: its parts, what it uses of its bounds, and its last hour.',
    description: 'For operators.',
    answers: { 200: { description: 'The state of the process that answers.', body: StatusOut } },
    problems: ['forbidden'],
    async handle(_, { access, operated }) {
      access.requireOperator();
      const { status, parts } = await operated.readiness();
      const { samples } = await operated.history();
      return {
        status: 200,
        body: {
          status,
          parts: Object.entries(parts).map(([name, part]) => ({
            name,
            status: part.status,
            warnings: part.warnings ?? [],
          })),
          version: serviceVersion(),
          nodeVersion: process.versions.node,
          startedAt: isoTime(operated.startedAtMs),
          uses: await operated.uses(),
          history: {
            stepSeconds: STEP_MS / 1000,
            at: samples.map(({ atMs }) => isoTime(atMs)),
            series: Object.fromEntries(SERIES.map((name) => [name, samples.map(({ sample }) => sample[name])])),
          },
        },
      };
    },
  }),
  get('/api/v1/operator/sessions', {
    operationId: 'listAllSessions',
    scope: null,
    summary: 'Sessions of all accounts, the last used first.',
    description: 'For operators. `DELETE /api/v1/users/{id}/sessions/{sessionId}` ends one.',
    query: z.object(paging),
    answers: { 200: pageOf(OwnedSessionOut) },
    problems: ['forbidden'],
    async handle({ query: { limit, cursor } }, { access, sessionId }) {
      const after = readCursor(sessionCursor, cursor);
      const found = await access.users.allSessions(
        limit + 1,
        after && { lastUsedAtMs: after[0], id: after[1] as SessionId },
      );
      const items = found.slice(0, limit);
      const last = items.at(-1)?.session;
      const next = found.length > limit && last ? [last.lastUsedAtMs, last.id] : null;
      return pageReply({ items, next }, ({ session, login }) => ({
        ...sessionBody(session, sessionId),
        userId: session.userId,
        login,
      }));
    },
  }),
  get('/api/v1/operator/archive-gaps', {
    operationId: 'listArchiveGaps',
    summary: 'Parts of the archive that were lost and could not be written again, the newest first.',
    description: 'For operators.',
    answers: {
      200: {
        description: 'All gaps that are known.',
        body: z
          .strictObject({ items: z.array(ArchiveGapOut) })
          .meta({ id: 'ArchiveGaps', examples: [{ items: [exampleOf(ArchiveGapOut)] }] as never }),
      },
    },
    problems: ['forbidden', 'unavailable'],
    async handle(_, { access, operated }) {
      access.requireOperator();
      return { status: 200, body: { items: (await operated.archiveGaps()).map(gapBody) } };
    },
  }),
  post('/api/v1/operator/archive-gaps/accept', {
    operationId: 'acceptArchiveGap',
    scope: 'write',
    summary: 'Accept that a part of the archive is lost: nobody is warned of it any more.',
    description: 'For operators. Reports over its time say `incomplete` all the same.',
    body: z.strictObject({ id: z.string().max(200) }).meta({ id: 'ArchiveGapId', examples: [{ id: GAP_ID }] }),
    answers: { 200: { description: 'The gap, now accepted.', body: ArchiveGapOut } },
    problems: ['forbidden', 'not-found', 'unavailable'],
    async handle({ body }, { access, operated }) {
      access.requireOperator();
      const gap = await operated.acceptArchiveGap(body.id);
      if (gap === null) throw notFound();
      return { status: 200, body: gapBody(gap) };
    },
  }),
  get('/api/v1/operator/dead-letters', {
    operationId: 'listDeadLetters',
    summary: 'Records that could not be processed and were put aside, the newest first.',
    description: 'For operators. `outrider dead-letters replay` appends them to their topics again.',
    query: z.object(paging),
    answers: { 200: pageOf(DeadLetterOut) },
    problems: ['forbidden'],
    async handle({ query: { limit, cursor } }, { access, operated }) {
      access.requireOperator();
      const all = await operated.deadLetters();
      const after = readCursor(letterId, cursor);
      const from = after === null ? 0 : all.findIndex((letter) => deadLetterId(letter) === after) + 1;
      const items = all.slice(from, from + limit);
      const last = items.at(-1);
      const next = from + limit < all.length && last ? deadLetterId(last) : null;
      return pageReply({ items, next }, (letter) => ({
        id: deadLetterId(letter),
        topic: letter.topic,
        partition: letter.partition,
        offset: letter.offset,
        reader: letter.reader,
        reason: letter.reason,
        at: isoTime(letter.diedAtMs),
        bytes: letter.recordBytes,
      }));
    },
  }),
  get('/api/v1/operator/dead-letters/file', {
    operationId: 'getDeadLetter',
    summary: 'The bytes of a record that was put aside.',
    description: 'For operators.',
    query: z.object({ id: letterId.meta({ examples: [LETTER_ID] }) }),
    answers: {
      200: {
        description: 'The bytes of the record as the log has them.',
        mediaType: 'application/octet-stream',
        headers: { 'Content-Disposition': 'Suggested name for the saved file.' },
        body: z.string().meta({ format: 'binary', examples: ['(binary data)'] }),
      },
    },
    problems: ['forbidden', 'not-found'],
    async handle({ query }, { access, operated }) {
      access.requireOperator();
      const letter = await operated.deadLetter(query.id);
      if (letter?.record == null) throw notFound();
      const { record } = letter;
      return {
        status: 200,
        bytes: (async function* () {
          yield record;
        })(),
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(record.length),
          'content-disposition': `attachment; filename="${letter.topic}-${letter.partition}-${letter.offset}.bin"`,
        },
      };
    },
  }),
  get('/api/v1/operator/maps', {
    operationId: 'listMapFiles',
    summary: 'Files in the folders of maps, and which of them are served.',
    description: 'For operators. The folders are `DATA_DIR/maps` and that of the console, read at the start.',
    answers: { 200: { description: 'All map files.', body: listOf(MapOut) } },
    problems: ['forbidden'],
    async handle(_, { access, operated }) {
      access.requireOperator();
      return pageReply({ items: await operated.maps(), next: null }, ({ file, bytes, state, info }) => ({
        file,
        bytes,
        state,
        name: info?.name ?? null,
        attribution: info?.attribution ?? null,
        minZoom: info?.minzoom ?? null,
        maxZoom: info?.maxzoom ?? null,
      }));
    },
  }),
];

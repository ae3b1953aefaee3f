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
        warnings: z.array(z.string()).meta({ description: 'Problems that need the attention of the operator.' }),
      }),
    ),
    version: z.string(),
    nodeVersion: z.string(),
    startedAt: timeOut.meta({ description: 'Time at which the answering process was started.' }),
    uses: z
      .array(
        z.strictObject({
          name: z.enum(USES),
          used: z.number().nullable().meta({ description: 'Current use. Null if it is not known to this process.' }),
          limit: z
            .number()
            .nullable()
            .meta({ description: 'Null if there is no limit, or it is not known to this process.' }),
        }),
      )
      .meta({ description: 'Current use and limit of each limited resource.' }),
    history: z
      .strictObject({
        stepSeconds: z.int(),
        at: z.array(timeOut),
        series: z.strictObject(Object.fromEntries(SERIES.map((name) => [name, figures]))),
      })
      .meta({
        description:
          'Samples of the last hour, as counted by this process, oldest first. A value is null if this process does not ' +
          'count it: where the services run as separate processes, each counts its own values.',
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
    reader: z
      .string()
      .meta({ description: 'Consumer that could not process the record; `log` if the record could not be decoded.' }),
    reason: z.string(),
    at: timeOut.meta({ description: 'Time at which the record was set aside.' }),
    bytes: z
      .int()
      .nullable()
      .meta({ description: 'Length of the record in bytes. Null if the record was too long to be kept.' }),
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
    from: timeOut.meta({
      description:
        'Time of the first lost row; `to` is that of the last. If the content of the part is unknown, its whole month.',
    }),
    to: timeOut,
    rows: z.int().nullable().meta({ description: 'Number of lost rows. Null if the content of the part is unknown.' }),
    vehicles: z.int().nullable(),
    reason: z.string().meta({
      description:
        'Why ClickHouse detached the part, such as `broken-on-start`. `checksum`: the part was read and is damaged. ' +
        '`gone`: no trace of the part was found. `replaced`: the whole archive was replaced by another one.',
    }),
    path: z.string().nullable().meta({ description: 'Current folder of the files of the part, if known.' }),
    noticedAt: timeOut,
    restored: z.enum(['partly', 'not']).nullable().meta({
      description:
        'Whether rows could be restored from the log: some (`partly`) or none (`not`). Null if the restoration has not finished.',
    }),
    isAccepted: z.boolean().meta({
      description:
        'True if an operator accepted the loss. It then causes no more warnings, but reports still list it as `incomplete`.',
    }),
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
        '`new`: added since the service started; served after the next start. `hidden`: another map of this name is ' +
        'served instead. `refused`: the name or format is not that of a map.',
    }),
    name: z.string().nullable().meta({ description: 'Name of the map in its own metadata.' }),
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
const letterId = z
  .string()
  .regex(/^[\w-]{1,100}\/\d{1,6}@\d{1,16}\/[\w.-]{1,100}$/, 'It must be the id of a dead letter in the list.');

export const operatorRoutes: Route[] = [
  get('/api/v1/operator/status', {
    operationId: 'getOperatorStatus',
    summary: 'Get the state of the service: its parts, the use of its limits, and its last hour.',
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
    summary: 'List the sessions of all accounts, last used first.',
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
    summary: 'List lost parts of the archive that could not be restored, newest first.',
    description: 'For operators.',
    answers: {
      200: {
        description: 'All known gaps.',
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
    summary: 'Accept the loss of a part of the archive.',
    description:
      'For operators. The loss causes no more warnings. Reports about its time range still list it as `incomplete`.',
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
    summary: 'List records that could not be processed and were set aside, newest first.',
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
    summary: 'Download a record that was set aside.',
    description: 'For operators.',
    query: z.object({ id: letterId.meta({ examples: [LETTER_ID] }) }),
    answers: {
      200: {
        description: 'The bytes of the record as they were in the log.',
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
    summary: 'List the files in the map folders, and whether each is served.',
    description:
      'For operators. The folders are `DATA_DIR/maps` and that of the console. Maps are found when the service starts.',
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

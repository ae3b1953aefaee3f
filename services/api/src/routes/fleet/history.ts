import { Faults } from '@outrider/access';
import { isoTime } from '@outrider/domain';
import { z } from 'zod';
import { HISTORY_COLUMNS, MAX_HISTORY_ROWS, readHistory } from '../../csv/history-csv.ts';
import { dryRun } from '../../csv/import-report.ts';
import { timeOut, timeSuchAs } from '../../fields/fields.ts';
import { type Route, route } from '../../route.ts';
import { accepted, HistoryErasureOut } from '../jobs.ts';
import { vehicleKey } from './vehicles.ts';

const MAX_CSV_BYTES = 8 * 1024 * 1024;
const COLUMNS = HISTORY_COLUMNS.map((name) => `\`${name}\``).join(', ');

export const historyRoutes: Route[] = [
  route({
    method: 'post',
    path: '/api/v1/vehicles/{id}/history',
    group: 'Vehicles',
    operationId: 'importHistory',
    summary: 'Add positions to the past of a vehicle.',
    description: `A CSV with a header, as the report \`track\` writes it: ${COLUMNS}; only the first three are needed. All rows are taken, or none. They are kept for good once this is answered, and archived within seconds; sent again, they are there once. They move nothing of the present, and nobody is notified of them: not where the vehicle is, when it was heard of last, nor an event of now. What they change of the past is found out by \`POST /api/v1/vehicles/{id}/recalculate\`, once all of them are there. In UTF-8, or UTF-16 with a byte order mark; at most ${MAX_HISTORY_ROWS} rows. A dealer with all its accounts may make \`HISTORY_IMPORTS_PER_MINUTE\` of these calls.`,
    params: z.object({ id: vehicleKey }),
    body: z.string().meta({
      examples: ['fixTime,latitude,longitude,speedKmh,ignition\r\n2026-01-15T11:59:55Z,59.9386,30.3141,42.5,true\r\n'],
    }),
    bodyType: 'text/csv',
    maxBodyBytes: MAX_CSV_BYTES,
    answers: {
      200: {
        description: 'All positions of the file are kept.',
        body: z
          .strictObject({
            positions: z.int(),
            from: timeOut.nullable().meta({ description: 'Of the oldest; null without any.' }),
            to: timeOut.nullable().meta({ description: 'Of the newest.' }),
          })
          .meta({
            id: 'TakenHistory',
            examples: [{ positions: 1, from: '2026-01-15T11:59:55.000Z', to: '2026-01-15T11:59:55.000Z' }],
          }),
      },
    },
    problems: ['not-found', 'forbidden', 'unavailable'],
    async handle({ params, body }, { access, nowMs }) {
      const history = await access.vehicles.history(params.id);
      const faults = new Faults();
      const read = readHistory(body, faults, nowMs);
      faults.throwIfAny();
      const { positions, fromMs, toMs } = await history.add(read, nowMs);
      const at = (timeMs: number | null) => timeMs && isoTime(timeMs);
      return { status: 200, body: { positions, from: at(fromMs), to: at(toMs) } };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/vehicles/{id}/history/erase',
    group: 'Vehicles',
    operationId: 'eraseHistory',
    summary: 'Erase what a vehicle did before a time, for good.',
    description:
      'Its positions and events, its videos, notifications about it in all inboxes, and files of reports that may hold any of it. Events count by when they began. Counters go on as they are. It can’t be undone or cancelled. From now on nothing of that time is kept: what comes of it later, by late data or an import, is erased within a day. The log keeps its records for `TELEMETRY_RETENTION_HOURS`. With `dryRun` nothing is erased: the answer says how much would be.',
    params: z.object({ id: vehicleKey }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({
        before: timeSuchAs('2025-01-01T00:00:00.000Z').meta({ description: 'A time that is past; exclusive.' }),
      })
      .meta({ id: 'HistoryErasure', examples: [{ before: '2025-01-01T00:00:00.000Z' } as never] }),
    answers: {
      200: {
        description: 'What would be erased: the answer to a dry run.',
        body: z
          .strictObject({
            positions: z.int().meta({ description: 'Records of positions, rejected ones included.' }),
            events: z.int().meta({ description: 'Records of events: one of each begin and end.' }),
            videos: z.int(),
            notifications: z.int(),
          })
          .meta({
            id: 'ErasableHistory',
            examples: [{ positions: 412_087, events: 1208, videos: 3, notifications: 85 }],
          }),
      },
      202: {
        description: 'It is a job now: see how far it is there.',
        body: HistoryErasureOut,
        headers: { Location: 'URL of the job.' },
      },
    },
    problems: ['not-found', 'forbidden', 'vehicle-suspended', 'conflict'],
    async handle({ params, query, body: { before } }, { access, nowMs }) {
      const history = await access.vehicles.history(params.id);
      if (query.dryRun === 'true') return { status: 200, body: await history.erasable(before, nowMs) };
      return accepted(await history.erase(before, nowMs), access.jobs);
    },
  }),
];

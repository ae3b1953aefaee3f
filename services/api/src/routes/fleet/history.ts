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
    summary: 'Import past positions of a vehicle.',
    description: `A CSV with a header, in the format of the report \`track\`: ${COLUMNS}. Only the first three columns are required. All rows are imported or none. The positions are stored durably when the call returns, and archived within seconds. Positions that are sent again are stored only once. They do not change the current position, the last contact or current events of the vehicle, and cause no notifications. To update the events of the past, call \`POST /api/v1/vehicles/{id}/recalculate\` once all positions are imported. The text must be UTF-8, or UTF-16 with a byte order mark. At most ${MAX_HISTORY_ROWS} rows. A dealer with all its accounts may make \`HISTORY_IMPORTS_PER_MINUTE\` of these calls per minute.`,
    params: z.object({ id: vehicleKey }),
    body: z.string().meta({
      examples: ['fixTime,latitude,longitude,speedKmh,ignition\r\n2026-01-15T11:59:55Z,59.9386,30.3141,42.5,true\r\n'],
    }),
    bodyType: 'text/csv',
    maxBodyBytes: MAX_CSV_BYTES,
    answers: {
      200: {
        description: 'All positions of the file are stored.',
        body: z
          .strictObject({
            positions: z.int(),
            from: timeOut
              .nullable()
              .meta({ description: 'Time of the oldest position. Null if the file has no positions.' }),
            to: timeOut
              .nullable()
              .meta({ description: 'Time of the newest position. Null if the file has no positions.' }),
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
    summary: 'Permanently erase the history of a vehicle before a time.',
    description:
      'Erases positions, events and videos of the vehicle, notifications about it in all inboxes, and report files that may contain any of these. Events are erased if they began before the time. Counters keep their values. The erasure cannot be undone or cancelled, and remains in force: data from before the time that arrives later, as late data or by an import, is erased within a day. The log keeps its records for `TELEMETRY_RETENTION_HOURS`. With `dryRun`, nothing is erased, and the answer says how much would be.',
    params: z.object({ id: vehicleKey }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({
        before: timeSuchAs('2025-01-01T00:00:00.000Z').meta({
          description: 'Time before which the history is erased, exclusive. It must be in the past.',
        }),
      })
      .meta({ id: 'HistoryErasure', examples: [{ before: '2025-01-01T00:00:00.000Z' } as never] }),
    answers: {
      200: {
        description: 'Answer to a dry run: how much would be erased.',
        body: z
          .strictObject({
            positions: z.int().meta({ description: 'Number of position records, including rejected positions.' }),
            events: z
              .int()
              .meta({ description: 'Number of event records. The begin and the end of an event are one record each.' }),
            videos: z.int(),
            notifications: z.int(),
          })
          .meta({
            id: 'ErasableHistory',
            examples: [{ positions: 412_087, events: 1208, videos: 3, notifications: 85 }],
          }),
      },
      202: {
        description: 'The erasure was started as a job, which shows its progress.',
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

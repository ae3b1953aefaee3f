import { ApiError } from '@outrider/client';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { readGpxTrack } from '@outrider/geo/files';
import { readSheet, writeCsvLine } from '@outrider/reports';
import { endedJob } from '../cli/ended-job.ts';
import type { Target } from './target.ts';

/** Limits of one call of `POST /api/v1/vehicles/{id}/history`: rows, and bytes. */
const MAX_ROWS = 10_000;
const MAX_CHARACTERS = 4_000_000;
const DAY_MS = 86_400_000;
/** The longest range of one recalculation. */
const RECALCULATED_MS = 31 * DAY_MS;
const LOOK_EVERY_MS = 1000;
const BUSY_EVERY_MS = 5000;

/** Rows with the names of their columns. */
export interface HistoryRows {
  header: readonly string[];
  rows: Iterable<readonly string[]>;
}

/** Imported part of a vehicle's history. */
export interface ImportedHistory {
  positions: number;
  /** ISO 8601; null without positions. */
  from: string | null;
  to: string | null;
}

/**
 * The rows of a CSV for the service, which validates them.
 *
 * @throws {CsvError} when the text is not CSV
 */
export function csvHistory(text: string): HistoryRows {
  const { delimiter, records } = readSheet(text);
  const header = records.next();
  const isDecimalComma = delimiter === ';';
  const plain = (cell: string) => (isDecimalComma && /^-?\d+,\d+$/.test(cell) ? cell.replace(',', '.') : cell);
  return {
    header: header.done ? [] : header.value.cells.map((cell) => cell.trim()),
    rows: (function* () {
      for (const { cells } of records) if (cells.some((cell) => cell.trim() !== '')) yield cells.map(plain);
    })(),
  };
}

/**
 * The points of a GPX that have a time.
 *
 * @throws {FileError} when the text is not GPX
 */
export function gpxHistory(text: string): HistoryRows & { withoutTime: number } {
  const { points, withoutTime } = readGpxTrack(text);
  return {
    header: ['fixTime', 'latitude', 'longitude', 'altitudeM', 'speedKmh', 'courseDeg'],
    rows: points.map(({ time, latitude, longitude, altitudeM, speedKmh, courseDeg }) =>
      [time, latitude, longitude, altitudeM, speedKmh, courseDeg].map((value) => decimal(value)),
    ),
    withoutTime,
  };
}

/** A number as a cell: never in scientific notation. */
export function decimal(value: number | string | null): string {
  if (value === null || typeof value === 'string') return value ?? '';
  return Number.isFinite(value) ? value.toFixed(7).replace(/\.?0+$/, '') : String(value);
}

/**
 * Adds rows to a vehicle's history, in as many calls as necessary.
 *
 * @throws {ApiError} naming the wrong row within its call
 */
export async function sendHistory(
  { client, call }: Target,
  vehicle: string,
  { header, rows }: HistoryRows,
): Promise<ImportedHistory> {
  const sent: ImportedHistory = { positions: 0, from: null, to: null };
  let lines: string[] = [];
  let characters = 0;
  const send = async () => {
    if (lines.length === 0) return;
    const body = new Blob([writeCsvLine(header, ','), ...lines], { type: 'text/csv' });
    const taken = await call(() => client.post('/api/v1/vehicles/{id}/history', { path: { id: vehicle }, body }));
    sent.positions += taken.positions;
    if (taken.from !== null && (sent.from === null || taken.from < sent.from)) sent.from = taken.from;
    if (taken.to !== null && (sent.to === null || taken.to > sent.to)) sent.to = taken.to;
    lines = [];
    characters = 0;
  };
  for (const row of rows) {
    const line = writeCsvLine(row, ',');
    lines.push(line);
    characters += line.length;
    if (lines.length === MAX_ROWS || characters >= MAX_CHARACTERS) await send();
  }
  await send();
  return sent;
}

/**
 * Recalculates the events of a vehicle from its present history, up to 31 days at a time, and waits for the result.
 *
 * @returns number of recalculations, and of failed ones
 */
export async function recalculate(
  { client, call }: Target,
  vehicle: string,
  range: { from: string; to: string },
): Promise<{ jobs: number; failed: number }> {
  let jobs = 0;
  let failed = 0;
  const endMs = Date.parse(range.to) + 1;
  for (let fromMs = Date.parse(range.from); fromMs < endMs; fromMs += RECALCULATED_MS) {
    const query = {
      from: new Date(fromMs).toISOString(),
      to: new Date(Math.min(endMs, fromMs + RECALCULATED_MS)).toISOString(),
    };
    const begun = await begin(() =>
      call(() => client.post('/api/v1/vehicles/{id}/recalculate', { path: { id: vehicle }, query })),
    );
    jobs++;
    const look = () => call(() => client.get('/api/v1/jobs/{id}', { path: { id: begun.id } }));
    if ((await endedJob(look, LOOK_EVERY_MS)).state !== 'done') failed++;
  }
  return { jobs, failed };
}

/** Waits while the account's limit of open jobs is used up: others of its jobs may have to end first. */
async function begin<T>(make: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      await SYSTEM_CLOCK.sleep(BUSY_EVERY_MS);
    }
  }
}

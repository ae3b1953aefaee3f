import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ApiError, ConnectionError } from '@outrider/client';
import { FileError } from '@outrider/geo/files';
import { CsvError, decodeText } from '@outrider/reports';
import { StartError } from '@outrider/runtime';
import { csvHistory, gpxHistory, type ImportedHistory, recalculate, sendHistory } from './history.ts';
import { ImportProgress, ImportReport } from './import-notes.ts';
import { openTarget, type Target } from './target.ts';
import { importTraccar } from './traccar.ts';
import { TraccarApi } from './traccar-api.ts';
import { openTraccarDatabase } from './traccar-database.ts';

const USAGE =
  'it is: import csv|gpx FILE --vehicle ID --to URL, or: import traccar --url URL | --database URL --to URL ' +
  '[--dry-run] [--history FROM [--progress FILE]] [--report FILE]';
const OPTIONS = {
  to: { type: 'string' },
  key: { type: 'string' },
  login: { type: 'string' },
  vehicle: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  user: { type: 'string' },
  database: { type: 'string' },
  'time-zone': { type: 'string' },
  history: { type: 'string' },
  progress: { type: 'string' },
  report: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
} as const;

/**
 * `outrider import csv|gpx FILE` and `outrider import traccar`: imports into a running service through its REST API.
 * Secrets may be in the environment: `OUTRIDER_KEY`, `OUTRIDER_PASSWORD`, `TRACCAR_TOKEN`, `TRACCAR_PASSWORD`.
 *
 * @param print is passed each line of output
 * @returns number of failures
 * @throws {StartError} when the arguments are invalid, or a file or a service can't be used
 */
export async function runImport(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<number> {
  const { values, positionals } = parsed(words);
  const [what, file, ...rest] = positionals;
  if (rest.length > 0 || values.to === undefined) throw new StartError(USAGE);
  const target = await openTarget({
    url: values.to,
    key: values.key ?? environment.OUTRIDER_KEY,
    login: values.login,
    password: environment.OUTRIDER_PASSWORD,
  });
  try {
    if (what === 'traccar' && file === undefined && (values.url === undefined) !== (values.database === undefined))
      return await importFromTraccar(target, values, environment, print);
    if ((what === 'csv' || what === 'gpx') && file !== undefined && values.vehicle !== undefined)
      return await importFile(target, what, file, values.vehicle, print);
  } catch (error) {
    throw asStartError(error);
  }
  throw new StartError(USAGE);
}

function parsed(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new StartError(`${(error as Error).message}; ${USAGE}`);
  }
}

async function importFromTraccar(
  target: Target,
  values: ReturnType<typeof parsed>['values'],
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
): Promise<number> {
  const { url = '', database, token = environment.TRACCAR_TOKEN, user, history, progress, to = '' } = values;
  if (progress !== undefined && history === undefined) throw new StartError('--progress is of --history: give both');
  const password = environment.TRACCAR_PASSWORD;
  const timeZone = values['time-zone'] ?? 'UTC';
  const source =
    database === undefined
      ? new TraccarApi({ url, token, user, password })
      : await openTraccarDatabase({ database, user, password, timeZone });
  try {
    const report = new ImportReport(values.report ?? null);
    try {
      const kept = new ImportProgress(progress ?? null, source.name, new URL(to).host);
      const options = { isDryRun: values['dry-run'], history, progress: kept, report };
      return await importTraccar(target, source, options, print);
    } finally {
      report.close();
    }
  } finally {
    await source.close();
  }
}

async function importFile(
  target: Target,
  format: 'csv' | 'gpx',
  file: string,
  vehicle: string,
  print: (line: string) => void,
): Promise<number> {
  const text = await readFile(file)
    .then(decodeText)
    .catch((error: Error) => {
      throw new StartError(`cannot read ${file}: ${error.message}`);
    });
  const rows = format === 'csv' ? { ...csvHistory(text), withoutTime: 0 } : gpxHistory(text);
  if (rows.withoutTime > 0) print(`points without a time, left out: ${rows.withoutTime}`);
  return finish(target, vehicle, await sendHistory(target, vehicle, rows), print);
}

/** @returns number of failed recalculations */
async function finish(
  target: Target,
  vehicle: string,
  { positions, from, to }: ImportedHistory,
  print: (line: string) => void,
): Promise<number> {
  print(`${vehicle}: ${positions} positions${from === null ? '' : `, ${from} to ${to}`}`);
  if (from === null || to === null) return 0;
  const { jobs, failed } = await recalculate(target, vehicle, { from, to });
  print(`${vehicle}: events recalculated, ${jobs} ${jobs === 1 ? 'job' : 'jobs'}, ${failed} failed`);
  return failed;
}

function asStartError(error: unknown): unknown {
  if (error instanceof ConnectionError || error instanceof CsvError || error instanceof FileError)
    return new StartError(error.message);
  if (!(error instanceof ApiError)) return error;
  const places = (error.problem.errors ?? []).map(({ row, column, pointer, parameter, detail }) => {
    const place = row === undefined ? (pointer ?? parameter ?? '') : `row ${row}${column ? ` ${column}` : ''}`;
    return `\n  ${place}: ${detail}`;
  });
  return new StartError(`the service refused it: ${error.message}${places.join('')}`);
}

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TerminalId } from '@outrider/domain';
import { depotDrive, playTo } from '../../services/outrider/src/depot-drive.fixture.ts';
import {
  inForce,
  logIn,
  OPERATOR_PASSWORD,
  type RunningService,
  spawnService,
  startService,
} from '../../services/outrider/src/service.fixture.ts';

/** What a disk does to a file. */
export const FAULTS = ['bit', 'cut', 'zeros', 'gone'] as const;
export type Fault = (typeof FAULTS)[number];

const PAGE_BYTES = 4096;
const TERMINAL = '356307042441013' as TerminalId;
const PATIENCE_MS = 10_000;
/** A level of log lines. */
const WARN = 40;
const HOUR_MS = 3_600_000;
/** Around the drive. */
const PERIOD = {
  from: new Date(Date.now() - HOUR_MS).toISOString(),
  to: new Date(Date.now() + HOUR_MS).toISOString(),
};

/** A data folder with something of everything, and what its service answers. */
export interface Image {
  /** Of a service that was stopped. */
  stopped: string;
  /** Of one that was killed just after changes: the newest of them are in write-ahead logs. */
  killed: string;
  expected: Observed;
  afterKill: Observed;
  /** What a healthy start says. */
  usual: ReadonlySet<string>;
  close(): void;
}

/** What the service answers to each question, as text; `problem …` where it answers with an error. */
type Observed = Readonly<Record<string, string>>;

/** What came of a fault. */
export interface Outcome {
  file: string;
  fault: Fault;
  /** `refused`: the start, with a sentence that names the file. `whole`: all is answered as before. */
  result: 'refused' | 'whole' | 'lost';
  /** Log lines and warnings that were not there before. */
  said: string[];
  /** Questions that are answered otherwise. */
  lost: string[];
  /** An answer lacks something and nothing said so, or the start ended without a sentence that names the file. */
  isSilent: boolean;
}

/** Starts a service on a new folder, gives it some of everything, and keeps its folder as it was at two moments. */
export async function makeImage(): Promise<Image> {
  const root = mkdtempSync(join(tmpdir(), 'outrider-damage-'));
  const [work, stopped, killed] = ['work', 'stopped', 'killed'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const first = await startService(work);
  await fill(first);
  await first.interrupt();
  cpSync(work, stopped, { recursive: true });
  const second = await startService(work);
  const expected = await observe(second);
  const usual = new Set([...linesOf(second.stderrText()), ...(await warningsOf(second.ports.http))]);
  await second.call('POST', '/api/v1/vehicle-groups', { name: 'Late' });
  const afterKill = await observe(second);
  await second.kill();
  cpSync(work, killed, { recursive: true });
  rmSync(work, { recursive: true });
  return { stopped, killed, expected, afterKill, usual, close: () => rmSync(root, { recursive: true, force: true }) };
}

async function fill(service: RunningService): Promise<void> {
  const { call, ports } = service;
  const make = (path: string, body: unknown) => call<{ id: string }>('POST', `/api/v1/${path}`, body);
  const group = await make('vehicle-groups', { name: 'North' });
  await make('users', { login: 'anna', name: 'Anna', password: 'a long password', groupIds: [group.id] });
  const van = await make('vehicles', { name: 'Van', terminalId: TERMINAL, groupIds: [group.id] });
  await make('geozones', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [13.405, 52.52] },
    properties: { name: 'Depot', shape: 'circle', radiusM: 150 },
  });
  await make('notification-rules', { name: 'Visits', eventKinds: ['geofence-visit'], vehicleIds: [van.id] });
  await inForce(ports.http);
  const longitudes = Array.from({ length: 15 }, (_, nth) => 13.39 + nth * 0.002);
  await playTo(service, TERMINAL, depotDrive(0, ...longitudes));
  await until('the archive has the drive', async () => {
    const { track, visits } = await observe(service);
    return track?.split('fixTime').length === longitudes.length + 1 && visits?.includes('"Depot"') === true;
  });
  const job = await make('report-jobs', { kind: 'track', format: 'csv', ...PERIOD, timeZone: 'UTC' });
  await until('the report is made', async () => {
    return (await call<{ state: string }>('GET', `/api/v1/jobs/${job.id}`)).state === 'done';
  });
}

/** What is asked, by name. `{id}` is that of the first in the list. */
const QUESTIONS: Readonly<Record<string, string>> = {
  vehicles: '/api/v1/vehicles',
  vehicle: '/api/v1/vehicles/{id}',
  groups: '/api/v1/vehicle-groups',
  users: '/api/v1/users',
  geofences: '/api/v1/geozones',
  rules: '/api/v1/notification-rules',
  inbox: '/api/v1/notifications',
  track: `/api/v1/reports/track?vehicleId={vehicle}&from=${PERIOD.from}&to=${PERIOD.to}`,
  visits: `/api/v1/reports/geozone-visits?from=${PERIOD.from}&to=${PERIOD.to}`,
  file: '/api/v1/report-jobs/{job}/file',
};

async function observe({ ports, jwt }: Pick<RunningService, 'ports' | 'jwt'>): Promise<Observed> {
  const ask = async (path: string) => {
    try {
      const answer = await fetch(`http://127.0.0.1:${ports.http}${path}`, { headers: { authorization: `JWT ${jwt}` } });
      const text = await answer.text();
      return answer.ok ? text : `problem ${answer.status} ${text}`;
    } catch (error) {
      return `problem: ${(error as Error).message}`;
    }
  };
  const idIn = (text: string) => /"id":"([^"]+)"/.exec(text)?.[1] ?? 'none';
  const vehicle = idIn(await ask('/api/v1/vehicles'));
  const job = idIn(await ask('/api/v1/jobs'));
  const observed: Record<string, string> = {};
  for (const [name, path] of Object.entries(QUESTIONS)) {
    const text = await ask(path.replace('{id}', vehicle).replace('{vehicle}', vehicle).replace('{job}', job));
    // When accounts and rules were used last changes with each start.
    observed[name] = text.replaceAll(/"last[A-Za-z]*":("[^"]*"|null|\{[^}]*\})/g, '');
  }
  return observed;
}

/** Puts a fault on a copy of the folder, starts a service on it, and compares its answers. */
export async function play(image: Image, from: 'stopped' | 'killed', file: string, fault: Fault): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-damaged-'));
  cpSync(image[from], folder, { recursive: true });
  damage(join(folder, file), fault);
  const service = spawnService(folder);
  try {
    const ports = await service.ready;
    if (ports === null) {
      await service.ended;
      const text = service.stderrText();
      const isNamed = text.includes(basename(file)) || text.includes(folder);
      return {
        file,
        fault,
        result: 'refused',
        said: [isNamed ? lastLineOf(text) : text.trim()],
        lost: [],
        isSilent: !isNamed,
      };
    }
    const expected = from === 'killed' ? image.afterKill : image.expected;
    let lost: string[] = [];
    let observed: Observed = {};
    for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await sleep(500)) {
      const jwt = await logIn(ports.http, 'admin', OPERATOR_PASSWORD).catch(() => 'none');
      observed = await observe({ ports, jwt });
      lost = Object.keys(expected).filter((name) => observed[name] !== expected[name]);
      if (lost.length === 0) break;
    }
    const said = [...linesOf(service.stderrText()), ...(await warningsOf(ports.http))].filter(
      (line) => !image.usual.has(line),
    );
    const result = lost.length === 0 ? 'whole' : 'lost';
    const isOnlyMissing = lost.some((name) => !isFailure(observed[name] ?? ''));
    return { file, fault, result, said: [...new Set(said)], lost, isSilent: isOnlyMissing && said.length === 0 };
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Files of a part of the archive; `archive-check.service.test.ts` has others. */
const OF_PART: ReadonlySet<string> = new Set([
  'checksums.txt',
  'columns.txt',
  'data.bin',
  'data.cmrk4',
  'primary.cidx',
]);

/** Files of a folder that hold something, one of each kind: of the archive, those of its largest part and a table. */
export function kindsOf(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => statSync(join(folder, name)).size > 0 && !/^in-use\.lock|-shm$|\/metadata_dropped\//.test(name));
  const [largest] = all
    .filter((name) => basename(name) === 'data.bin')
    .toSorted((one, other) => statSync(join(folder, other)).size - statSync(join(folder, one)).size);
  const ofArchive = all.filter((name) => name.startsWith('warehouse/store/'));
  const kept = ofArchive.filter(
    (name) =>
      (dirname(name) === dirname(largest ?? '') && OF_PART.has(basename(name))) || /\/positions\.sql$/.test(name),
  );
  return [...all.filter((name) => !ofArchive.includes(name)), ...kept].toSorted();
}

/** One line for people. */
export function sentenceOf({ file, fault, result, said, lost, isSilent }: Outcome): string {
  const what = lost.length === 0 ? result : `lost: ${lost.join(', ')}`;
  return `${isSilent ? 'SILENT' : 'ok'}  ${file}  ${fault}  ${what}  ${said.map((line) => line.slice(0, isSilent ? 4000 : 200)).join(' | ')}`;
}

function damage(path: string, fault: Fault): void {
  if (fault === 'gone') {
    rmSync(path);
    return;
  }
  const bytes = readFileSync(path);
  if (fault === 'cut') {
    truncateSync(path, bytes.length >> 1);
    return;
  }
  // In the middle of what is written: a database has empty pages.
  let at = bytes.length >> 1;
  while (at < bytes.length - 1 && bytes[at] === 0) at++;
  if (fault === 'bit') bytes.writeUInt8((bytes[at] as number) ^ 4, at);
  else bytes.fill(0, at - (at % PAGE_BYTES), Math.min(bytes.length, at - (at % PAGE_BYTES) + PAGE_BYTES));
  writeFileSync(path, bytes);
}

/** Sentences of log lines from level `warn` up. */
function linesOf(stderrText: string): string[] {
  return stderrText.split('\n').flatMap((line) => {
    try {
      const { level, msg } = JSON.parse(line) as { level: number; msg: string };
      return level >= WARN ? [msg] : [];
    } catch {
      return line === '' ? [] : [line];
    }
  });
}

async function warningsOf(port: number): Promise<string[]> {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`);
  const { parts } = (await answer.json()) as { parts: Record<string, { warnings?: string[] }> };
  return Object.values(parts).flatMap(({ warnings }) => warnings ?? []);
}

/** Whether an answer says that the service could not give it: nobody takes that for all that there is. */
function isFailure(answer: string): boolean {
  return /^problem(?: 5\d\d|:)/.test(answer);
}

function lastLineOf(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await sleep(100)) if (await holds()) return;
  throw new Error(`not within a minute: ${what}`);
}

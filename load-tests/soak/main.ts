import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from '../bench/road/child.ts';
import { createGeofences, createVehicles, openRest } from '../bench/road/definitions.ts';
import type { PacerMessage, PacerTask } from '../bench/road/pacer.ts';
import { startService } from '../bench/road/service.ts';
import { renderTable } from '../bench/table.ts';
import { measureCapacity } from './capacity.ts';
import { letPeopleIn } from './people.ts';
import { type Look, look, MEMORY } from './samples.ts';
import { isFlat, trendOf } from './trend.ts';

const USAGE = `npm run soak [-- --minutes N] [--share S]

Measures what the service can take, then drives a share of it (0.5) for so many minutes (30), with people who watch and ask. Ends
with 1 where memory grows, something lags, or something acknowledged is not stored.`;

const GEOFENCES = 1000;
const PER_PACKET = 10;
/**
 * About as many as a system lets a process have connections without being asked; more load is fixes that are nearer to
 * each other.
 */
const TERMINALS = 15_000;
/** Drives that terminals share. */
const ROUNDS = 300;
const LOOK_EVERY_MS = 5000;
/** The log keeps so much of the packets: it is to reach this bound and stay there. */
const LOG_MB = 2048;
/**
 * Memory is flat where it rises by no more than this share over the last two thirds of the time, and a little beside.
 */
const FLAT = { share: 0.05, besideMb: 20 };
const WINDOWS = 16;
/** Generous, as the machine may have much else to do: what matters is that it does not grow. */
const MOST_LAG_SECONDS = 30;
const DRAINED_WITHIN_MS = 120_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    share: { type: 'string', default: '0.5' },
    help: { type: 'boolean', short: 'h' },
  },
});
const minutes = Number(values.minutes);
const share = Number(values.share);
if (values.help || !(minutes > 0) || !(share > 0)) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 1);
}

const folder = await mkdtemp(join(tmpdir(), 'outrider-soak-'));
const dataFolder = join(folder, 'data');
let errors = '';
const service = await startService(
  {
    DATA_DIR: dataFolder,
    MAX_TERMINAL_CONNECTIONS: String(TERMINALS + 1000),
    TELEMETRY_RETENTION_MB: String(LOG_MB),
    WEBHOOK_ALLOW_PRIVATE: 'yes',
    ARCHIVE_UNREAD_MS: '1000',
  },
  (text) => {
    if (errors.length < 10_000 && /"level":(50|60)/.test(text)) errors += text;
  },
);
let code = 1;
try {
  code = (await soak()) ? 0 : 1;
} finally {
  await service.stop().catch((error: Error) => {
    console.error(error.message);
    code = 1;
  });
  await rm(folder, { recursive: true, force: true });
}
process.exit(code);

/** @returns whether all is as it should be */
async function soak(): Promise<boolean> {
  const rest = await openRest(service);
  console.error(`making ${whole(TERMINALS)} vehicles and ${whole(GEOFENCES)} geofences`);
  const vehicleIds = await createVehicles(rest, TERMINALS);
  await createGeofences(rest, GEOFENCES);
  // A change is in force within a second.
  await wait(2000);
  console.error('measuring what it can take of so many terminals');
  const capacity = await measureCapacity(service, TERMINALS, PER_PACKET);
  const rate = capacity.positionsPerSecond * share;
  console.error(
    `it takes ${whole(capacity.positionsPerSecond)} positions/s; driving ${whole(rate)} for ${minutes} minutes`,
  );
  const pacer = await startChild<PacerTask, PacerMessage>(new URL('../bench/road/pacer.ts', import.meta.url).href, {
    host: service.host,
    port: service.ports.teltonika,
    terminals: TERMINALS,
    perPacket: PER_PACKET,
    fixSeconds: TERMINALS / rate,
    rounds: ROUNDS,
    connectAtATime: 100,
    live: { url: `ws://${service.host}:${service.ports.http}/live`, jwt: rest.jwt, vehicleIds },
  });
  try {
    await pacer.next('connected');
    const people = await letPeopleIn(service, rest, vehicleIds);
    pacer.say('begin');
    await pacer.next('begun');
    pacer.say('measure');
    const began = performance.now();
    const looks: Look[] = [];
    while (performance.now() - began < minutes * 60_000) {
      const seen = await look(service, dataFolder, began);
      looks.push(seen);
      console.error(lineOf(seen));
      await wait(LOOK_EVERY_MS);
    }
    pacer.say('end');
    const paced = await pacer.next('paced');
    await people.leave();
    const acknowledged = capacity.positions + paced.acknowledgedInAll;
    const drained = await drain(acknowledged);
    rest.close();

    const checks = [
      ...memoryChecks(looks),
      check('terminals that lost their connection', String(paced.lost), paced.lost === 0),
      check('errors in the logger', errors === '' ? 'none' : errors.slice(0, 300), errors === ''),
      check(
        'people',
        people.received.failures.join('; ') || 'all were answered',
        people.received.failures.length === 0,
      ),
      ...lagChecks(looks),
      check(
        'acknowledged, through the rules, in the archive',
        `${whole(acknowledged)}, ${whole(drained.processed)}, ${whole(drained.archived)}`,
        drained.received >= acknowledged &&
          drained.processed === drained.received &&
          drained.archived === drained.received,
      ),
    ];
    const first = looks[0];
    const last = looks.at(-1);
    const rows: [string, string][] = [
      ['what it can take, positions/s', whole(capacity.positionsPerSecond)],
      ['what was asked of it, positions/s', `${whole(rate)} (${whole((rate / capacity.positionsPerSecond) * 100)} %)`],
      ['what came, positions/s', whole(paced.sentPositions / paced.seconds)],
      ['minutes', (paced.seconds / 60).toFixed(1)],
      ['terminals, geofences', `${whole(TERMINALS)}, ${whole(GEOFENCES)}`],
      [
        'acknowledged within, ms: p50, p99, max',
        paced.ackMs ? `${whole(paced.ackMs.p50)}, ${whole(paced.ackMs.p99)}, ${whole(paced.ackMs.max)}` : '–',
      ],
      [
        'live within, ms: p50, p99, max',
        paced.liveMs ? `${whole(paced.liveMs.p50)}, ${whole(paced.liveMs.p99)}, ${whole(paced.liveMs.max)}` : '–',
      ],
      [
        'live positions, events, notifications told',
        `${whole(people.received.positions)}, ${whole(people.received.events)}, ${whole(people.received.notifications)}`,
      ],
      [
        'webhooks, reports, report jobs',
        `${whole(people.received.webhooks)}, ${whole(people.received.reports)}, ${whole(people.received.jobs)}`,
      ],
      [
        'log on disk, MB: first, last, bound',
        `${whole(first?.logMb ?? 0)}, ${whole(last?.logMb ?? 0)}, ${whole(LOG_MB)}`,
      ],
      [
        'archive on disk, MB: first, last (it keeps all)',
        `${whole(first?.archiveMb ?? 0)}, ${whole(last?.archiveMb ?? 0)}`,
      ],
      ['other files, MB: first, last', `${whole(first?.otherMb ?? 0)}, ${whole(last?.otherMb ?? 0)}`],
      ['files mapped into memory, MB: first, last', `${whole(first?.mappedMb ?? 0)}, ${whole(last?.mappedMb ?? 0)}`],
    ];
    console.log(`\n${renderTable({ title: 'Soak', columns: ['what', 'value'], rows })}`);
    console.log(
      `\n${renderTable({ title: 'Held against its bounds', columns: ['what', 'value', 'verdict'], rows: checks.map(({ what, value, holds }) => [what, value, holds ? 'holds' : 'BROKEN']) })}`,
    );
    const good = checks.every(({ holds }) => holds);
    console.log(`\n${good ? 'Memory is flat, lag is bounded, nothing was lost.' : 'Something does not hold.'}`);
    return good;
  } finally {
    await pacer.stop();
  }
}

interface Check {
  what: string;
  value: string;
  holds: boolean;
}

function check(what: string, value: string, holds: boolean): Check {
  return { what, value, holds };
}

/** Each kind of memory over the last two thirds of the time. */
function memoryChecks(looks: readonly Look[]): Check[] {
  const from = (looks.at(-1)?.at ?? 0) / 3;
  return MEMORY.map((kind) => {
    const trend = trendOf(
      looks.map(({ at, memoryMb }) => ({ at, value: memoryMb[kind] })),
      from,
      WINDOWS,
    );
    if (!trend) return check(`${kind}, MB`, 'too short a time', false);
    const value = `${whole(trend.mean)}, rises by ${trend.rise.toFixed(1)} (${trend.perMinute.toFixed(2)} a minute)`;
    return check(`${kind}, MB`, value, isFlat(trend, FLAT.share, FLAT.besideMb));
  });
}

function lagChecks(looks: readonly Look[]): Check[] {
  const most = (of: (seen: Look) => number): number => Math.max(...looks.map(of));
  const seconds = (what: string, value: number): Check => check(what, value.toFixed(1), value <= MOST_LAG_SECONDS);
  return [
    seconds(
      'rules behind at most, s',
      most(({ rulesLagSeconds }) => rulesLagSeconds),
    ),
    seconds(
      'archive behind at most, s',
      most(({ archiveDelaySeconds }) => archiveDelaySeconds),
    ),
    seconds(
      'metrics answered within at most, s',
      most(({ answeredMs }) => answeredMs / 1000),
    ),
  ];
}

/** Waits until what was acknowledged has come through. @returns what the service counted */
async function drain(acknowledged: number): Promise<Pick<Look, 'received' | 'processed' | 'archived'>> {
  const until = performance.now() + DRAINED_WITHIN_MS;
  for (;;) {
    const seen = await look(service, dataFolder, 0);
    const { received, processed, archived } = seen;
    if (received >= acknowledged && processed === received && archived === received) return seen;
    if (performance.now() > until) return seen;
    await wait(500);
  }
}

function lineOf({
  at,
  memoryMb,
  received,
  processed,
  archived,
  rulesLagSeconds,
  terminals,
  liveClients,
  logMb,
  archiveMb,
}: Look): string {
  const heaps = (['main', 'gateway', 'rules'] as const).map((thread) => whole(memoryMb[`heap ${thread}`])).join('/');
  const behind = `${whole(received - processed)} behind in the rules (${rulesLagSeconds.toFixed(1)} s), ${whole(received - archived)} in the archive`;
  return `${whole(at)} s: ${whole(memoryMb.resident)} MB, native ${whole(memoryMb.native)}, heaps ${heaps}, ${whole(received)} positions, ${behind}, ${terminals} terminals, ${liveClients} live, log ${whole(logMb)} MB, archive ${whole(archiveMb)} MB`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

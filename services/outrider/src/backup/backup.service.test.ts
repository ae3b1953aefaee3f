import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { comparable, inOrder } from '@outrider/engine/oracle';
import { featureFromShape } from '@outrider/geo';
import type { ListedProtocol } from '@outrider/protocols';
import { connectTerminal, createRandom, type TerminalClient } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { driveRound, onCircuit } from '../circuit.fixture.ts';
import { complaintsOf, expectNone } from '../complaints.fixture.ts';
import { engineEvents, readLog } from '../log-reader.fixture.ts';
import { call, inForce, type Ports, type RunningService, reservedPorts, startService } from '../service.fixture.ts';

const MAIN = join(import.meta.dirname, '..', 'main.ts');
const PATIENCE = { timeout: 60_000, interval: 50 };
const ENVIRONMENT = { CHECKPOINT_MS: '100', ARCHIVE_MS: '100' };
const FLEET: readonly { protocol: ListedProtocol; terminalId: TerminalId }[] = [
  { protocol: 'teltonika', terminalId: '356307042441013' as TerminalId },
  { protocol: 'wialon-ips', terminalId: 'wialon-7' as TerminalId },
  { protocol: 'osmand', terminalId: 'phone-7' as TerminalId },
];
const BEGAN_AGO_MS = 20 * 3_600_000;
const FIRST_FIX_AGO_MS = 90 * 86_400_000;
const FEED_EVERY_MS = 50;

let folder: string;
let service: RunningService | null = null;
let terminals: TerminalClient[] = [];
let feeding: NodeJS.Timeout | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-backup-'));
});
afterEach(async () => {
  await disconnect();
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

/** A command of the command line. @returns what it printed */
async function outrider(...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, DATA_DIR: join(folder, 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      text += chunk;
    });
  const [code] = await once(child, 'exit');
  expect(code, text).toBe(0);
  return text;
}

interface Driver {
  vehicleId: VehicleId;
  drive: Generator<Position, never>;
  /** In the order in which they were recorded, which is that of their acknowledgements. */
  sent: Position[];
}

async function defineFleet({ call, ports }: RunningService): Promise<Driver[]> {
  const shape = { type: 'circle', center: onCircuit(0.3), radiusM: 200 } as const;
  const feature = featureFromShape(shape);
  await call('POST', '/api/v1/geozones', { ...feature, properties: { ...feature.properties, name: 'Depot' } });
  const beganMs = Math.floor((Date.now() - BEGAN_AGO_MS) / 1000) * 1000;
  const drivers: Driver[] = [];
  for (const [nth, { terminalId }] of FLEET.entries()) {
    const vehicle = { name: terminalId, terminalId, speedLimitKmh: 60 };
    const { id } = await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', vehicle);
    drivers.push({ vehicleId: id, drive: driveRound(createRandom(nth + 1), beganMs), sent: [] });
  }
  await inForce(ports.http);
  return drivers;
}

function connect(ports: Ports, drivers: readonly Driver[]): void {
  terminals = FLEET.map(({ protocol, terminalId }) =>
    connectTerminal({
      ...{ protocol, terminalId, host: '127.0.0.1', port: ports[protocol] },
      ...{ positionsPerPacket: 5, windowPackets: 4, maxStoredPositions: 100_000, backoffMs: [30, 200] },
    }),
  );
  feeding = setInterval(() => {
    for (const [nth, { drive, sent }] of drivers.entries()) {
      const some = [drive.next().value, drive.next().value];
      sent.push(...some);
      terminals[nth]?.record(some);
    }
  }, FEED_EVERY_MS);
}

async function disconnect(): Promise<void> {
  clearInterval(feeding);
  await Promise.all(terminals.map((terminal) => terminal.close()));
  terminals = [];
}

const acknowledged = () => terminals.map((terminal) => terminal.stats().acknowledged);

async function moreAcknowledged(count: number): Promise<void> {
  const before = acknowledged();
  await vi.waitFor(() => {
    for (const [nth, now] of acknowledged().entries()) expect(now).toBeGreaterThan((before[nth] ?? 0) + count);
  }, PATIENCE);
}

/** All pages of a list of reports, over all of the test. */
async function reported<T>({ ports, jwt }: RunningService, kind: string, vehicleId: VehicleId): Promise<T[]> {
  const from = new Date(Date.now() - 2 * FIRST_FIX_AGO_MS).toISOString();
  const query = new URLSearchParams({ vehicleId, from, to: new Date().toISOString() });
  const items: T[] = [];
  for (;;) {
    const path = `/api/v1/reports/${kind}?${query}&limit=1000`;
    const page = await call<{ items: T[]; nextCursor: string | null }>(ports.http, jwt, 'GET', path);
    items.push(...page.items);
    if (page.nextCursor === null) return items;
    query.set('cursor', page.nextCursor);
  }
}

function inodesOfParts(backup: string): Set<number> {
  const warehouse = join(folder, backup, 'data', 'warehouse');
  const files = readdirSync(warehouse, { recursive: true, withFileTypes: true });
  return new Set(
    files
      .filter(({ name }) => name.endsWith('.bin'))
      .map(({ parentPath, name }) => statSync(join(parentPath, name)).ino),
  );
}

test('what was acknowledged before a backup of the running service is there once after it was restored elsewhere, with its events, and the service goes on', {
  timeout: 240_000,
}, async () => {
  service = await startService(join(folder, 'data'), await reservedPorts(), ENVIRONMENT);
  const drivers = await defineFleet(service);
  connect(service.ports, drivers);
  // Of another month: alone in its part of the archive, which stays as it is.
  const [latitude = 0, longitude = 0] = onCircuit(0).toReversed();
  const first = { ...blankPosition(Date.now() - FIRST_FIX_AGO_MS, latitude, longitude), satellites: 9 };
  drivers[0]?.sent.push(first);
  terminals[0]?.record([first]);
  await moreAcknowledged(100);
  expect(await outrider('backup', join(folder, 'monday'))).toContain('service running');
  await moreAcknowledged(100);
  const before = acknowledged();
  await outrider('backup', join(folder, 'tuesday'), '--base', join(folder, 'monday'), '--with-secrets-key');
  await moreAcknowledged(50);
  await disconnect();
  const shadow = join(folder, 'data', 'warehouse', 'shadow');
  await vi.waitFor(() => expect(readdirSync(shadow)).toEqual(['increment.txt']), PATIENCE);
  const { jwt, stderrText, ports } = service;
  await service.kill();
  expectNone(complaintsOf(stderrText()));
  expect(inodesOfParts('tuesday').isDisjointFrom(inodesOfParts('monday'))).toBe(false);

  await outrider('backup', '--verify', join(folder, 'tuesday'));
  rmSync(join(folder, 'monday'), { recursive: true });
  await outrider('restore', join(folder, 'tuesday'), '--to', join(folder, 'restored'));
  service = await startService(join(folder, 'restored'), ports, ENVIRONMENT);
  // Tokens are good: the keys are the same.
  await call(ports.http, jwt, 'GET', '/api/v1/me');

  connect(ports, drivers);
  await moreAcknowledged(100);
  clearInterval(feeding);
  await Promise.all(terminals.map((terminal) => terminal.settled()));
  const log = await vi.waitFor(async () => {
    const content = await readLog(join(folder, 'restored'));
    expect(inOrder(content.events)).toEqual(comparable(inOrder(engineEvents(content))));
    return content;
  }, PATIENCE);
  for (const [nth, { vehicleId, sent }] of drivers.entries()) {
    const ofVehicle = log.packets.filter(({ value }) => value.vehicleId === vehicleId);
    const received = ofVehicle.flatMap(({ value }) => value.positions.map(({ fixTimeMs }) => fixTimeMs));
    const archivedAt = async () =>
      (await reported<{ fixTime: string }>(running(), 'track', vehicleId)).map(({ fixTime }) => Date.parse(fixTime));
    await vi.waitFor(async () => expect(await archivedAt()).toEqual(received), PATIENCE);
    expect(received).toEqual(expect.arrayContaining(sent.slice(0, before[nth]).map(({ fixTimeMs }) => fixTimeMs)));
    expect(received).toContain(sent.at(-1)?.fixTimeMs);

    const events = new Set(log.events.filter((event) => event.vehicleId === vehicleId).map(({ id }) => id));
    expect(events.size).toBeGreaterThan(5);
    await vi.waitFor(async () => {
      const archived = (await reported<{ id: string }>(running(), 'events', vehicleId)).map(({ id }) => id);
      expect(archived.toSorted()).toEqual([...events].toSorted());
    }, PATIENCE);
  }
});

function running(): RunningService {
  if (service === null) throw new Error('no service runs');
  return service;
}

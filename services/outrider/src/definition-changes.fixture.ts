import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { blankPosition, type DefinitionChange, type Position, type TerminalId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { createRandom, playDrive } from '@outrider/simulator';
import { expect, vi } from 'vitest';
import { placeAt } from './circuit.fixture.ts';
import { type LogContent, readLog } from './log-reader.fixture.ts';
import { call, inForce, reservedPorts, type ServiceProcess, spawnService, startService } from './service.fixture.ts';

const ENVIRONMENT = { CHECKPOINT_MS: '200' };
const PATIENCE = { timeout: 60_000, interval: 50 };
/** What a call that makes something takes, about: a death lies before, within or right after it. */
const CALL_MS = 40;

/** What came of each round. */
export interface Round {
  geofenceId: string;
  ruleId: string;
  vehicleId: string;
}

interface Notification {
  ruleId: string;
  event: { phase: string; vehicleId: string; endReason: string | null };
}

/** What is left of definitions that were changed while the service was killed. */
export interface Changed {
  rounds: Round[];
  /** With every version of every definition, in the order in which they were made. */
  log: LogContent;
  /** The inbox, the oldest first. */
  notifications: Notification[];
  vehicles: { id: string }[];
  geofences: { id: string }[];
  rules: { id: string; inactiveReason: string | null }[];
}

/**
 * In each round a vehicle, a geofence and a rule are made, each while the service dies with -9 at some moment of the
 * call, and each asked for again until it is answered. Then the vehicle drives through the geofence, a second after the
 * last answer; the geofence is moved, entered again, and deleted with the vehicle inside. No packet is on its way while
 * a definition changes, so that the order of all that happened is known.
 */
export async function changeDefinitions(seed: number, rounds: number): Promise<Changed> {
  const random = createRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'outrider-definitions-'));
  const ports = await reservedPorts();
  const changes = new Map<string, DefinitionChange>();
  let service: Pick<ServiceProcess, 'kill'> | null = null;
  try {
    const first = await startService(folder, ports, ENVIRONMENT);
    service = first;
    const { jwt } = first;
    const port = ports.http;

    const restart = async () => {
      await service?.kill();
      const next = spawnService(folder, ports, ENVIRONMENT);
      service = next;
      expect(await next.ready, next.stderrText()).toEqual(ports);
    };
    /** Makes a call that dies with the service at some moment, and once more, until it is answered. */
    const callUnderFire = async <T>(method: string, path: string, body?: unknown): Promise<T | null> => {
      const headers = { Authorization: `JWT ${jwt}`, 'Content-Type': 'application/json', 'Idempotency-Key': newKey() };
      const request = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const answered = fetch(`http://127.0.0.1:${port}${path}`, request).then(
        (response) => response.ok,
        () => false,
      );
      // Half of the calls wait for the answer: an answered change must survive the kill that follows at once.
      if (random.next() < 0.5) await answered;
      else await wait(random.next() * CALL_MS);
      await restart();
      const wasAnswered = await answered;
      const again = await fetch(`http://127.0.0.1:${port}${path}`, request);
      const text = await again.text();
      if (method === 'DELETE') {
        expect(wasAnswered ? [404] : [204, 404]).toContain(again.status);
        return null;
      }
      // It was made, and died before its answer was kept: the answer to the same key is to look for it.
      if (again.status === 409 && text.includes('its answer was lost')) return found<T>(path, body);
      expect(again.ok, text).toBe(true);
      return JSON.parse(text) as T;
    };
    const found = async <T>(path: string, body: unknown): Promise<T> => {
      const { items } = await call<{ items: (Named & T)[] }>(port, jwt, 'GET', `${path}?limit=1000`);
      const [one, ...more] = items.filter((item) => nameOf(item) === nameOf(body as Named));
      if (!one || more.length > 0) throw new Error(`${more.length + (one ? 1 : 0)} of one name at ${path}`);
      return one;
    };
    let keys = 0;
    const newKey = () => `definition-changes-${seed}-${keys++}`;
    /** Takes note of what the log holds, once it holds this: of each definition it keeps the newest version alone. */
    const note = (id: string, version: number) =>
      vi.waitFor(async () => {
        for (const change of (await readLog(folder)).changes) changes.set(`${change.id}/${change.version}`, change);
        expect([...changes.keys()]).toContain(`${id}/${version}`);
      }, PATIENCE);

    const made: Round[] = [];
    // Whole seconds, as some protocols count.
    let fixTimeMs = Math.floor(Date.now() / 1000) * 1000 - 10 * 3_600_000;
    const drive = async (vehicleId: string, terminalId: TerminalId, eastM: readonly number[]): Promise<void> => {
      const positions = eastM.map((metres): Position => {
        fixTimeMs += 60_000;
        const [longitude, latitude] = placeAt(metres, 0);
        return { ...blankPosition(fixTimeMs, latitude, longitude), speedKmh: 50, courseDeg: 90, satellites: 9 };
      });
      await playDrive({ protocol: 'wialon-ips', terminalId, host: '127.0.0.1', port: ports['wialon-ips'], positions });
      // What was acknowledged is replayed under what was in force.
      if (random.next() < 0.5) await restart();
      const last = new Date(fixTimeMs).toISOString();
      await vi.waitFor(async () => {
        const path = `/api/v1/vehicles/${vehicleId}/state`;
        const state = await call<{ position: { fixTime: string } | null }>(port, jwt, 'GET', path);
        expect(state.position?.fixTime).toBe(last);
      }, PATIENCE);
    };

    for (let round = 0; round < rounds; round++) {
      const terminalId = `round-${round}` as TerminalId;
      const zone = (eastM: number) => {
        const feature = featureFromShape({ type: 'circle', center: placeAt(eastM, 0), radiusM: 200 });
        return { ...feature, properties: { ...feature.properties, name: `Zone ${round}` } };
      };
      const vehicle = await callUnderFire<{ id: string }>('POST', '/api/v1/vehicles', { name: terminalId, terminalId });
      const geofence = await callUnderFire<{ id: string }>('POST', '/api/v1/geozones', zone(1000));
      const rule = await callUnderFire<{ id: string }>('POST', '/api/v1/notification-rules', {
        name: `Rule ${round}`,
        eventKinds: ['geofence-visit'],
        phases: ['begin', 'end'],
        geofenceIds: [geofence?.id],
      });
      if (!vehicle || !geofence || !rule) throw new Error('a call that makes something answers with it');
      await note(rule.id, 1);
      await inForce(port);
      await drive(vehicle.id, terminalId, [0, 1000, 2000]);

      const path = `/api/v1/geozones/${geofence.id}`;
      await callUnderFire('PATCH', path, zone(3000));
      await note(geofence.id, 2);
      await inForce(port);
      await drive(vehicle.id, terminalId, [1000, 2000, 3000]);

      await callUnderFire('DELETE', path);
      await note(geofence.id, 3);
      await inForce(port);
      await drive(vehicle.id, terminalId, [2000, 3000, 4000]);
      made.push({ vehicleId: vehicle.id, geofenceId: geofence.id, ruleId: rule.id });
    }

    const list = async <T>(what: string) =>
      (await call<{ items: T[] }>(port, jwt, 'GET', `/api/v1/${what}?limit=1000`)).items;
    const { packets, events } = await readLog(folder);
    let notifications: Notification[] = [];
    await vi
      .waitFor(async () => {
        notifications = (await list<Notification>('notifications')).toReversed();
        expect(notifications.length).toBeGreaterThanOrEqual(3 * rounds);
      }, PATIENCE)
      // What is missing is for the test to say.
      .catch(() => {});
    return {
      rounds: made,
      log: { packets, events, changes: [...changes.values()] },
      notifications,
      vehicles: await list('vehicles'),
      geofences: await list('geozones'),
      rules: await list('notification-rules'),
    };
  } finally {
    await service?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Named = { name?: string; properties?: { name: string } };

function nameOf({ name, properties }: Named): string | undefined {
  return name ?? properties?.name;
}

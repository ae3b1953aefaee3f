import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { createRandom, playDrive } from '@outrider/simulator';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { driveRound, onCircuit } from './circuit.fixture.ts';
import { inForce, OPERATOR_PASSWORD, type RunningService, startService } from './service.fixture.ts';

const PYTRACCAR = 'pytraccar==2.1.1';
const TERMINAL = '356307042441013' as TerminalId;
const PATIENCE = { timeout: 60_000, interval: 50 };
const run = promisify(execFile);

/** A client that says what it was answered, a JSON message in each line. */
const CLIENT = `
import asyncio, json, sys
from datetime import datetime, timedelta, timezone
import aiohttp
from pytraccar import ApiClient, TraccarAuthenticationException

def say(what, value):
    print(json.dumps([what, value]), flush=True)

async def main(port, password):
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as session:
        wrong = ApiClient("127.0.0.1", "admin", "wrong", session, port=port)
        try:
            await wrong.get_devices()
        except TraccarAuthenticationException:
            say("refused", True)
        client = ApiClient("127.0.0.1", "admin", password, session, port=port)
        say("server", await client.get_server())
        say("geofences", await client.get_geofences())
        say("devices", await client.get_devices())
        say("positions", await client.get_positions())
        now = datetime.now(tz=timezone.utc).replace(tzinfo=None)
        say("events", await client.get_reports_events(
            devices=[device["id"] for device in await client.get_devices()],
            start_time=now, end_time=now - timedelta(days=1), event_types=["deviceMoving", "geofenceEnter"]))
        async def on_news(news):
            say("news", news)
        await client.subscribe(on_news)

asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
`;

let folder: string;
let python: string | null = null;
let service: RunningService;
let vehicleId: VehicleId;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-traccar-'));
  try {
    await run('python3', ['-m', 'venv', join(folder, 'venv')], { timeout: 60_000 });
    const pip = join(folder, 'venv', 'bin', 'pip');
    await run(pip, ['install', '--quiet', '--disable-pip-version-check', PYTRACCAR], { timeout: 120_000 });
    python = join(folder, 'venv', 'bin', 'python');
  } catch {
    return;
  }
  service = await startService(join(folder, 'data'));
  const vehicle = { name: 'Van', terminalId: TERMINAL };
  vehicleId = (await service.call<{ id: VehicleId }>('POST', '/api/v1/vehicles', vehicle)).id;
  await service.call('POST', '/api/v1/geozones', {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: onCircuit(0.5) },
    properties: { name: 'Depot', shape: 'circle', radiusM: 200 },
  });
  await inForce(service.ports.http);
}, 240_000);
afterAll(async () => {
  await service?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const send = (positions: readonly Position[]) =>
  playDrive({
    ...{ protocol: 'teltonika', terminalId: TERMINAL, host: '127.0.0.1', port: service.ports.teltonika },
    ...{ positions, positionsPerPacket: 10 },
  });

test('pytraccar reads vehicles, positions, geofences and events, and is sent what happens', async (context) => {
  if (python === null) return context.skip(`python3 with venv, and ${PYTRACCAR} from PyPI, could not be had`);
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 30 * 60_000;
  const round = driveRound(createRandom(1), startMs);
  const positions = Array.from({ length: 300 }, () => round.next().value);
  const [before, after] = [positions.slice(0, 200), positions.slice(200)];
  await send(before);
  const state = () =>
    service.call<{ position: { fixTime: string } | null }>('GET', `/api/v1/vehicles/${vehicleId}/state`);
  const timeOf = (each: Position | undefined) => new Date(each?.fixTimeMs ?? 0).toISOString();
  await vi.waitFor(async () => expect((await state()).position?.fixTime).toBe(timeOf(before.at(-1))), PATIENCE);
  const tripsPath = `/api/v1/reports/trips?from=${timeOf(before[0])}&to=${new Date().toISOString()}`;
  const trips = () => service.call<{ items: unknown[] }>('GET', tripsPath);
  await vi.waitFor(async () => expect((await trips()).items.length).toBeGreaterThan(0), PATIENCE);

  const script = join(folder, 'client.py');
  writeFileSync(script, CLIENT);
  const client = spawn(python, [script, String(service.ports.http), OPERATOR_PASSWORD], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(client, 'exit');
  let errors = '';
  client.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what the client was answered.
  const said: [string, any][] = [];
  createInterface(client.stdout).on('line', (line) => said.push(JSON.parse(line)));
  const answered = (what: string) => said.filter(([name]) => name === what).map(([, value]) => value);
  const news = (what: string) => answered('news').flatMap((each) => each[what] ?? []);
  try {
    await vi.waitFor(() => expect(answered('news').length, errors).toBeGreaterThan(0), PATIENCE);
    expect(answered('refused')).toEqual([true]);
    expect(answered('server')).toMatchObject([{ readonly: true, registration: false }]);
    expect(answered('geofences')).toMatchObject([[{ name: 'Depot', area: expect.stringMatching(/^CIRCLE \(/) }]]);
    const [[device]] = answered('devices');
    expect(device).toMatchObject({ name: 'Van', uniqueId: TERMINAL, status: 'online', disabled: false });
    const last = before.at(-1) as Position;
    const [[position]] = answered('positions');
    expect(position).toMatchObject({ deviceId: device.id, fixTime: timeOf(last), protocol: 'teltonika' });
    expect(position.latitude).toBeCloseTo(last.latitude, 5);
    expect(position.speed * 1.852).toBeCloseTo(last.speedKmh ?? 0, 0);
    expect(device.positionId).toBe(position.id);
    const [events] = answered('events');
    expect(events.length).toBeGreaterThan(0);
    for (const { deviceId, type } of events) {
      expect(deviceId).toBe(device.id);
      expect(['deviceMoving', 'geofenceEnter']).toContain(type);
    }
    expect(answered('news')[0]).toMatchObject({ devices: [{ id: device.id }], positions: [{ id: position.id }] });

    await send(after);
    const newest = timeOf(after.at(-1));
    await vi.waitFor(
      () =>
        expect(
          news('positions').map(({ fixTime }) => fixTime),
          errors,
        ).toContain(newest),
      PATIENCE,
    );
    // Late data is left out.
    const count = news('positions').length;
    await send([{ ...(before[0] as Position), fixTimeMs: startMs - 60_000 }]);
    const again = { ...(after.at(-1) as Position), fixTimeMs: Date.now() };
    await send([again]);
    await vi.waitFor(() => expect(news('positions').length).toBeGreaterThan(count), PATIENCE);
    expect(news('positions').map(({ fixTime }) => Date.parse(fixTime))).not.toContain(startMs - 60_000);
    expect(Date.parse(news('positions').at(-1).fixTime)).toBeGreaterThan(Date.parse(newest));
  } finally {
    client.kill('SIGTERM');
    await ended;
  }
}, 240_000);

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type Position, type TerminalId, type VehicleId } from '@outrider/domain';
import { connectTerminal, createRandom, type TerminalClient } from '@outrider/simulator';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { archivedCount, type RunningService, startService } from '../../services/outrider/src/service.fixture.ts';
import { startClickhouse } from '../servers/clickhouse.ts';
import type { Server } from '../servers/server.ts';
import { openProxy, type TcpProxy } from './proxy.ts';

const PATIENCE = { timeout: 240_000, interval: 200 };
/** The least that the setting allows. */
const BOUND_MB = 64;
const TERMINALS = 8;
/** With so many attributes each, these are more than the log may keep, compressed or not. */
const POSITIONS = 30_000;
const random = createRandom(1);
/** Random, and so many that none comes twice in what the log compresses together. */
const ATTRIBUTES = Array.from({ length: 5000 }, () =>
  Object.fromEntries(
    Array.from({ length: 60 }, (_, nth) => [`io${150 + nth}`, Math.floor(random.between(0, 2 ** 32))]),
  ),
);

let folder: string;
let clickhouse: Server;
let proxy: TcpProxy;
let service: RunningService;
let terminals: TerminalClient[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-bounded-'));
  clickhouse = await startClickhouse(join(folder, 'clickhouse'));
  const url = new URL(clickhouse.environment.CLICKHOUSE_URL as string);
  proxy = await openProxy(Number(url.port));
  url.port = String(proxy.port);
  service = await startService(join(folder, 'data'), undefined, {
    CLICKHOUSE_URL: url.href,
    TELEMETRY_RETENTION_MB: String(BOUND_MB),
    CHECKPOINT_MS: '300',
  });
}, 120_000);

afterEach(async () => {
  await Promise.all(terminals.map((terminal) => terminal.close()));
  terminals = [];
  await service?.kill().catch(() => {});
  await proxy?.close();
  await clickhouse?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

const terminalIdOf = (nth: number) => `35630704244${3100 + nth}` as TerminalId;

function drive(beganMs: number, terminal: number): Position[] {
  return Array.from({ length: POSITIONS }, (_, second) => ({
    ...blankPosition(beganMs + second * 1000, 50 + second * 1e-5, 10),
    speedKmh: 40,
    attributes: ATTRIBUTES[(second + (terminal * ATTRIBUTES.length) / TERMINALS) % ATTRIBUTES.length] ?? null,
  }));
}

const sum = (of: (terminal: TerminalClient) => number) => terminals.reduce((total, each) => total + of(each), 0);
const acknowledged = () => sum((terminal) => terminal.stats().acknowledged);

async function warnings(): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${service.ports.http}/health/ready`);
  const { parts } = (await answer.json()) as { parts: Record<string, { warnings?: string[] }> };
  return Object.values(parts)
    .flatMap((part) => part.warnings ?? [])
    .join('\n');
}

test('a log at its size bound with a stuck archive acknowledges nothing more, says why, and loses nothing', async () => {
  const ids: VehicleId[] = [];
  for (let nth = 0; nth < TERMINALS; nth++) {
    const fields = { name: `Van ${nth}`, terminalId: terminalIdOf(nth) };
    ids.push((await service.call<{ id: VehicleId }>('POST', '/api/v1/vehicles', fields)).id);
  }
  // The archive is stuck: what is sent to ClickHouse never arrives.
  proxy.halve('to-server', 'never');
  const beganMs = Math.floor(Date.now() / 1000) * 1000 - 86_400_000;
  terminals = ids.map((_, nth) =>
    connectTerminal({
      protocol: 'teltonika',
      terminalId: terminalIdOf(nth),
      host: '127.0.0.1',
      port: service.ports.teltonika as number,
      positionsPerPacket: 1,
      windowPackets: 32,
      maxStoredPositions: POSITIONS,
      backoffMs: [100, 1000],
      replyTimeoutMs: 10_000,
    }),
  );
  for (const [nth, terminal] of terminals.entries()) terminal.record(drive(beganMs, nth));

  await vi.waitFor(async () => expect(await warnings()).toContain('the log is at its size bound: archiver'), PATIENCE);
  const metrics = await (await fetch(`http://127.0.0.1:${service.ports.http}/metrics`)).text();
  expect(metrics).toMatch(/^outrider_log_held_up 1$/m);
  // Nothing that is sent from here on is acknowledged.
  await vi.waitFor(async () => {
    const before = acknowledged();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(acknowledged()).toBe(before);
  }, PATIENCE);
  expect(acknowledged()).toBeLessThan(TERMINALS * POSITIONS);

  proxy.heal();
  proxy.cut();
  await vi.waitFor(() => expect(acknowledged()).toBe(TERMINALS * POSITIONS), PATIENCE);
  for (const id of ids)
    await vi.waitFor(async () => expect(await archivedCount(service, id)).toBe(POSITIONS), PATIENCE);
  await vi.waitFor(async () => expect(await warnings()).not.toContain('size bound'), PATIENCE);
}, 900_000);

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  type LateInterval,
  type Position,
  SYSTEM_CLOCK,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import {
  type Checkpoints,
  type Log,
  lateTopic,
  openSqliteCheckpoints,
  openSqliteLog,
  telemetryTopic,
} from '@outrider/log';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRules } from './rules.ts';

const T0 = Date.UTC(2026, 2, 1, 8);
const VAN = '00000000-0000-7000-8000-000000000001' as VehicleId;
const PATIENCE = { timeout: 60_000, interval: 10 };

let folder: string;
let log: Log;
let checkpoints: Checkpoints;
let running: ReturnType<typeof createRules>[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'late-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  checkpoints = openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') });
  running = [];
});
afterEach(async () => {
  await Promise.allSettled(running.map((rules) => rules.stop()));
  await checkpoints.close();
  await log.close();
  await rm(folder, { recursive: true });
});

async function start(saved: Checkpoints = checkpoints, metrics = new Metrics()) {
  const rules = createRules({
    config: { checkpointMs: 3_600_000, checkpointPackets: 1 },
    log,
    checkpoints: saved,
    hub: new MemoryHub(),
    logger: { debug() {}, info() {}, warn() {}, error() {}, fatal() {} },
    metrics,
    clock: SYSTEM_CLOCK,
  });
  rules.failed.catch(() => {});
  running.push(rules);
  await rules.start();
  return rules;
}

const at = (second: number) => T0 + second * 1000;
const fix = (second: number): Position => blankPosition(at(second), 50, 10);
const send = (receivedSecond: number, ...positions: Position[]) =>
  log.append(telemetryTopic, [
    { vehicleId: VAN, terminalId: '1' as TerminalId, protocol: 'osmand', receivedAtMs: at(receivedSecond), positions },
  ] satisfies TelemetryPacket[]);

async function reported(): Promise<LateInterval[]> {
  const intervals: LateInterval[] = [];
  for (const [partition, end] of await log.endOffsets(lateTopic))
    for await (const { records } of log.read(lateTopic, partition, 'earliest', end))
      intervals.push(...records.map(({ value }) => value));
  return intervals;
}

test('the rules report which interval of the past late positions came for', async () => {
  await start();
  await send(1000, fix(900), fix(990));
  await send(1100, fix(300), fix(200), fix(250));
  const late = { vehicleId: VAN, fromMs: at(200), toMs: at(300), receivedAtMs: at(1100), hasAlarm: false };
  await vi.waitFor(async () => expect(await reported()).toEqual([late]), PATIENCE);
});

test('what was not saved as known is reported again: nothing of it is lost, wherever the service dies', async () => {
  await send(1000, fix(900), fix(990));
  await send(1100, fix(200));
  // It dies when it means to save that it has taken the packets in.
  let saves = 0;
  const dying: Checkpoints = {
    load: (consumer, partition) => checkpoints.load(consumer, partition),
    claim: (consumer, partition) => checkpoints.claim(consumer, partition),
    async save(consumer, partition, change) {
      if (saves++ > 0) throw new Error('killed');
      await checkpoints.save(consumer, partition, change);
    },
    close: async () => {},
  };
  const killed = await start(dying);
  await expect(killed.failed).rejects.toThrow('killed');
  const late = { vehicleId: VAN, fromMs: at(200), toMs: at(200), receivedAtMs: at(1100), hasAlarm: false };
  expect(await reported()).toEqual([late]);
  await start();
  await vi.waitFor(async () => expect(await reported()).toEqual([late, late]), PATIENCE);
});

test('an interval says whether one of its records raised an alarm', async () => {
  await start();
  await send(1000, fix(900), { ...fix(990), alarms: ['sos'] });
  await send(1100, fix(300));
  await send(1200, fix(400), { ...fix(410), alarms: ['sos'] });
  await vi.waitFor(
    async () => expect((await reported()).map(({ hasAlarm }) => hasAlarm)).toEqual([false, true]),
    PATIENCE,
  );
});

test('rejected positions are counted by reason', async () => {
  const metrics = new Metrics();
  await start(checkpoints, metrics);
  const away = { ...fix(0), latitude: -50 };
  await send(1000, fix(900), { ...fix(910), latitude: 91 }, { ...fix(920), latitude: 0, longitude: 0 });
  await send(1100, fix(100_000), { ...away, fixTimeMs: at(1010) }, { ...away, fixTimeMs: at(1020) }, fix(1030));
  const counted = async () => (await metrics.getSingleMetric('outrider_rejected_positions_total')?.get())?.values ?? [];
  await vi.waitFor(async () => {
    const values = (await counted()).map(({ labels, value }) => [labels.reason, value]);
    expect(values.toSorted()).toEqual([
      ['jump', 2],
      ['null-island', 1],
      ['out-of-range', 1],
      ['time-in-future', 1],
    ]);
  }, PATIENCE);
});

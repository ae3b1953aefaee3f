import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blankPosition, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { openSqliteLog, setAside, telemetryTopic } from '@outrider/log';
import { createLogger, readConfig } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { variables } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { runDeadLetters } from './dead-letters.ts';

const logger = createLogger('silent', 'json');
const packet: TelemetryPacket = {
  vehicleId: '0190a000-0000-7000-8000-000000000001' as VehicleId,
  terminalId: 'phone-7' as TerminalId,
  protocol: 'osmand',
  receivedAtMs: Date.UTC(2026, 0, 1),
  positions: [blankPosition(Date.UTC(2026, 0, 1), 50, 10)],
};

let folder: string;
const opened = () => openSqliteLog({ path: join(folder, 'log.sqlite') });
const run = async (...words: string[]) => {
  const lines: string[] = [];
  const config = readConfig(variables, { DATA_DIR: folder });
  const failures = await runDeadLetters(words, config, logger, (line) => lines.push(line));
  return { lines, failures };
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-dead-'));
  openDataDir(folder).release();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('dead letters are listed, and appended to their topics again where possible', async () => {
  let log = opened();
  const place = { topic: 'telemetry', partition: 0, reader: 'rules', reason: 'two\nlines' };
  await setAside(log, { ...place, offset: 4, record: telemetryTopic.encode(packet) }, Date.UTC(2026, 0, 2));
  await setAside(log, { ...place, offset: 5, record: Buffer.from('nonsense') }, Date.UTC(2026, 0, 3));
  await log.close();

  const { lines } = await run('list');
  expect(lines[0]).toMatch(/^telemetry\/0@4\/rules {2}2026-01-02T00:00:00.000Z {2}\d+ bytes {2}two lines$/);
  expect(lines.slice(1)).toEqual([expect.stringContaining('telemetry/0@5/rules'), '2 records set aside']);

  const replayed = await run('replay', 'all');
  expect(replayed.failures).toBe(1);
  expect(replayed.lines).toEqual([
    'telemetry/0@4/rules  is in telemetry again',
    expect.stringContaining('telemetry/0@5/rules  stays: '),
  ]);
  expect((await run('list')).lines.at(-1)).toBe('1 record set aside');
  log = opened();
  const packets: TelemetryPacket[] = [];
  for await (const { records } of log.read(telemetryTopic, 0, 'earliest', 10))
    packets.push(...records.map(({ value }) => value));
  expect(packets).toMatchObject([{ vehicleId: packet.vehicleId, terminalId: 'phone-7' }]);
  await log.close();
});

test('an unknown command and an unknown record are refused', async () => {
  for (const words of [[], ['list', 'x'], ['replay'], ['burn']])
    await expect(run(...words)).rejects.toThrow('dead-letters list');
  await expect(run('replay', 'telemetry/0@9/rules')).rejects.toThrow('telemetry/0@9/rules');
});

import { blankPosition, PacketTrace, type TelemetryPacket, type TerminalId, type VehicleId } from '@outrider/domain';
import { type Log, telemetryTopic } from '@outrider/log';
import { createLogger, Metrics } from '@outrider/runtime';
import { expect, test, vi } from 'vitest';
import { createDeadLetterOffice } from './dead-letter-office.ts';

test('the log names the trace of what is put aside, where it has one, and it is kept with the record', async () => {
  const logger = createLogger('silent', 'json');
  const logged = vi.spyOn(logger, 'error');
  const kept: Buffer[] = [];
  const log = {
    async append(_: unknown, letters: readonly { record: Buffer }[]) {
      kept.push(...letters.map(({ record }) => Buffer.from(record)));
    },
  } as unknown as Pick<Log, 'append'>;
  const office = createDeadLetterOffice({ log, reader: 'rules', logger, metrics: new Metrics(), now: () => 0 });
  const packet: TelemetryPacket = {
    vehicleId: '018f4c1e-7a00-7000-8000-000000000001' as VehicleId,
    terminalId: '356307042441013' as TerminalId,
    protocol: 'teltonika',
    receivedAtMs: 1000,
    positions: [blankPosition(1000, 1, 2)],
    trace: new PacketTrace(1, 2, 3, 4),
  };
  await office.take(telemetryTopic, 0, 7, packet, new Error('a bug'));
  await office.take(telemetryTopic, 0, 8, { ...packet, trace: null }, new Error('a bug'));
  expect(logged.mock.calls.map(([facts]) => (facts as { traceId?: string }).traceId)).toEqual([
    '00000001000000020000000300000004',
    undefined,
  ]);
  expect(telemetryTopic.decode(kept[0] as Buffer)).toEqual(packet);
});

import { expect, test } from 'vitest';
import { decodePackets, loadTerminalId, recordDrive, recordPackets } from './drives.ts';

const END_MS = Date.UTC(2026, 4, 4, 6);

test('a drive has a fix a second up to its end', () => {
  const drive = recordDrive(3, 600, END_MS);
  expect(drive.map(({ fixTimeMs }) => fixTimeMs)).toEqual(
    Array.from({ length: 600 }, (_, i) => END_MS - (600 - i) * 1000),
  );
});

test('a recording holds the same drive in packets', () => {
  const recording = recordPackets(3, 95, 10, END_MS);
  const packets = decodePackets(recording);
  expect(packets.map((positions) => positions.length)).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);
  expect(recording.ends).toHaveLength(10);
  expect(recording.ends.at(-1)).toBe(recording.bytes.length);
  expect(packets.flat().map(({ fixTimeMs }) => fixTimeMs)).toEqual(
    recordDrive(3, 95, END_MS).map(({ fixTimeMs }) => fixTimeMs),
  );
  expect(recording.hello.subarray(2).toString()).toBe(loadTerminalId(3));
});

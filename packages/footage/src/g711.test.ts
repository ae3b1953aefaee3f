import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { expandG711 } from './g711.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const ALL = Uint8Array.from({ length: 256 }, (_, code) => code);

function samples(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readInt16LE(2 * i));
}

test('the codes of the ends and the middle stand for what the tables say', () => {
  expect(samples(expandG711('g711a', Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a)))).toEqual([8, -8, 32_256, -32_256]);
  expect(samples(expandG711('g711u', Uint8Array.of(0xff, 0x80, 0x00)))).toEqual([0, 32_124, -32_124]);
});

test('every code but the two zeros has a value of its own, so that nothing is lost', () => {
  expect(new Set(samples(expandG711('g711a', ALL))).size).toBe(256);
  expect(new Set(samples(expandG711('g711u', ALL)).map((value) => (Object.is(value, -0) ? 0 : value))).size).toBe(255);
});

test.skipIf(!hasFfmpeg).each([
  ['g711a', 'alaw'],
  ['g711u', 'mulaw'],
] as const)('ffmpeg gives the same values for all codes of %s', (law, format) => {
  const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-f', format, '-ar', '8000', '-i', '-', '-f', 's16le', '-'], {
    input: ALL,
  });
  expect(samples(expandG711(law, ALL)).map((value) => value + 0)).toEqual(samples(stdout));
});

test('four bytes that a chip puts in front are no sound', () => {
  const sound = Uint8Array.from({ length: 320 }, (_, i) => i % 256);
  const framed = Uint8Array.of(0, 1, 160, 0, ...sound);
  expect(expandG711('g711a', framed).equals(expandG711('g711a', sound))).toBe(true);
  expect(expandG711('g711a', Uint8Array.of(0, 1, 2, 0, 9))).toHaveLength(10);
});

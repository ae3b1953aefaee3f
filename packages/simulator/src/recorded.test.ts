import { expect, test } from 'vitest';
import { generateDrive, loadDrive, readRecording } from './recorded.ts';

test('a recording is read line by line, up to the limit', () => {
  const csv =
    'lat,lng,datetime,uid\n39.984094,116.319236,2008-10-23 05:53:05,001\n39.984198,116.319322,2008-10-23 05:53:06,001\n';
  const positions = readRecording(csv, 10);
  expect(positions.map(({ fixTimeMs, latitude, longitude }) => [fixTimeMs, latitude, longitude])).toEqual([
    [Date.UTC(2008, 9, 23, 5, 53, 5), 39.984094, 116.319236],
    [Date.UTC(2008, 9, 23, 5, 53, 6), 39.984198, 116.319322],
  ]);
  expect(readRecording(csv, 1)).toHaveLength(1);
});

test('what is no recording is refused', () => {
  expect(() => readRecording('lat,lng,datetime,uid\n1,2\n', 10)).toThrow('not a recorded fix: 1,2');
});

test('a generated drive has the traits of a recorded one', () => {
  const positions = generateDrive(20_000, 1);
  expect(positions).toEqual(generateDrive(20_000, 1));
  expect(positions).not.toEqual(generateDrive(20_000, 2));
  const gaps = positions
    .slice(1)
    .map((position, index) => (position.fixTimeMs - (positions[index]?.fixTimeMs ?? 0)) / 1000);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1);
  expect(gaps.filter((gap) => gap <= 5).length).toBeGreaterThan(gaps.length * 0.99);
  expect(gaps.some((gap) => gap > 300)).toBe(true);
});

test('a drive is there with or without the recording, and has a time for each fix', () => {
  for (const source of ['generated', 'recorded-or-generated'] as const) {
    const positions = loadDrive({ limit: 500, source });
    expect(positions).toHaveLength(500);
    expect(new Set(positions.map(({ fixTimeMs }) => fixTimeMs)).size).toBe(500);
  }
});

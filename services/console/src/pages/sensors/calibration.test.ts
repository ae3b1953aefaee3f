import { expect, test } from 'vitest';
import { curveOf, isMonotonic, readPoints, writePoints } from './calibration.ts';

const pairs = (text: string) => readPoints(text).points.map(({ raw, value }) => [raw, value]);

test('a table is read as spreadsheets copy it, whatever parts its cells', () => {
  expect(pairs('0\t0\n2048\t182,5\n')).toEqual([
    [0, 0],
    [2048, 182.5],
  ]);
  expect(pairs('1;2,5\r\n3;4')).toEqual([
    [1, 2.5],
    [3, 4],
  ]);
  expect(pairs('1, 2.5\n3,4')).toEqual([
    [1, 2.5],
    [3, 4],
  ]);
  expect(pairs('0,5 12,3\n-1 7')).toEqual([
    [-1, 7],
    [0.5, 12.3],
  ]);
});

test('a heading is passed over, and lines that are no pair are named', () => {
  expect(readPoints('Raw\tLitres\n1\t2\n\nfoo\t3\n4\n5\t6\t7')).toEqual({
    points: [{ raw: 1, value: 2 }],
    wrongLines: [4, 5, 6],
  });
  expect(readPoints('N1;Level 2\n1;2').wrongLines).toEqual([]);
  expect(readPoints('1;2;3').wrongLines).toEqual([1]);
});

test('what was written is read again', () => {
  const points = [
    { raw: -2.5, value: 0 },
    { raw: 4095, value: 400.25 },
  ];
  expect(readPoints(writePoints(points)).points).toEqual(points);
});

test('values that go up and down are noticed', () => {
  const values = (...all: number[]) => all.map((value, raw) => ({ raw, value }));
  expect(isMonotonic(values(1, 2, 2, 3))).toBe(true);
  expect(isMonotonic(values(3, 2, 1))).toBe(true);
  expect(isMonotonic(values(1, 3, 2))).toBe(false);
});

test('the curve fills its box, and a single point stands in the middle', () => {
  const box = { width: 100, height: 50, margin: 10 };
  const points = [
    { raw: 0, value: 0 },
    { raw: 10, value: 400 },
  ];
  const { x, y } = curveOf(points, box);
  expect([x(0), y(0), x(10), y(400), x(99)]).toEqual([10, 40, 90, 10, 90]);
  expect(curveOf(points.slice(1), box).x(10)).toBe(50);
});

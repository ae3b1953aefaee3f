import { expect, test } from 'vitest';
import { textOfUtc, utcMs, utcMsOfText } from './calendar.ts';

test('a date and time are what they say, and nothing else', () => {
  expect(utcMs(2026, 2, 28, 23, 59, 59.5)).toBe(Date.UTC(2026, 1, 28, 23, 59, 59, 500));
  for (const none of [
    [2026, 2, 29],
    [2026, 6, 31],
    [2026, 13, 1],
    [2026, 0, 1],
    [2026, 1, 1, 24],
    [2026, 1, Number.NaN],
  ])
    expect(utcMs(...(none as [number, number, number])), `${none}`).toBeNaN();
  expect(utcMs(2028, 2, 29)).toBe(Date.UTC(2028, 1, 29));
});

test.each(['YYMMDD', 'DDMMYY', 'YYYYMMDD'] as const)('texts in the order %s', (order) => {
  const at = Date.UTC(2026, 10, 2, 3, 4, 5);
  const [date, time] = textOfUtc(at, order);
  expect(utcMsOfText(date, time, order)).toBe(at);
  expect(utcMsOfText(date, `${time}.250`, order)).toBe(at + 250);
  for (const [wrongDate, wrongTime] of [
    ['', time],
    [date, '03040'],
    [`${date}0`, time],
    [date, '250000'],
    ['x'.repeat(date.length), time],
  ])
    expect(utcMsOfText(wrongDate as string, wrongTime as string, order)).toBeNaN();
});

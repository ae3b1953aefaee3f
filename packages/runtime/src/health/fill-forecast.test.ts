import { expect, test } from 'vitest';
import { FillForecast } from './fill-forecast.ts';

const MINUTE_MS = 60_000;

/** Notes the space of each minute. */
function watched(minutes: number, space: (minute: number) => number): FillForecast {
  const forecast = new FillForecast();
  for (let minute = 0; minute <= minutes; minute++) forecast.note(minute * MINUTE_MS, space(minute));
  return forecast;
}

test('what goes down evenly is used up when the line says so', () => {
  const forecast = watched(120, (minute) => 1200 - minute);
  expect(forecast.secondsLeft).toBeCloseTo(1080 * 60);
  expect(forecast.isShort).toBe(true);
});

test('less than an hour, what stays, and what grows say nothing', () => {
  expect(watched(59, (minute) => 1000 - minute).secondsLeft).toBeNull();
  expect(watched(120, () => 1000).secondsLeft).toBeNull();
  expect(watched(120, (minute) => 1000 + minute).isShort).toBe(false);
});

test('space that is taken for minutes only is no trend', () => {
  const merges = (minute: number) => 100_000 - minute - (minute % 30 > 25 ? 5000 : 0);
  expect(watched(240, merges).isShort).toBe(false);
});

test('it goes by the last hours, and is over when two days are left', () => {
  const forecast = new FillForecast();
  let space = 2600;
  let minutes = 0;
  const hours = (count: number, ofEach: number) => {
    for (let minute = 0; minute < count * 60; minute++) {
      space -= ofEach / 60;
      minutes++;
      forecast.note(minutes * MINUTE_MS, space);
    }
  };
  hours(3, 100);
  expect(forecast.isShort).toBe(true);
  hours(7, 60);
  expect((forecast.secondsLeft ?? 0) / 3600).toBeCloseTo(space / 60);
  expect(space / 60).toBeGreaterThan(30);
  expect(forecast.isShort).toBe(true);
  hours(7, 20);
  expect(forecast.isShort).toBe(false);
});

import { expect, test } from 'vitest';
import { localText, PRESETS, presetRange, queryOfRange, timeOfLocalText, timeRangeOf } from './time-range.ts';

const BERLIN = 'Europe/Berlin';
const NOW_MS = Date.parse('2026-03-29T20:30:00Z');
const iso = (ms: number) => new Date(ms).toISOString();

test('presets are whole days, weeks and months of the zone', () => {
  const ranges = Object.fromEntries(
    PRESETS.map((preset) => {
      const { fromMs, toMs } = presetRange(preset, BERLIN, NOW_MS);
      return [preset, [iso(fromMs), iso(toMs)]];
    }),
  );
  // The clocks of Berlin changed that night: today has 23 hours.
  expect(ranges.today).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  expect(ranges.yesterday).toEqual(['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z']);
  expect(ranges.thisWeek).toEqual(['2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  expect(ranges.lastWeek).toEqual(['2026-03-15T23:00:00.000Z', '2026-03-22T23:00:00.000Z']);
  expect(ranges.thisMonth).toEqual(['2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z']);
  expect(ranges.lastMonth).toEqual(['2026-01-31T23:00:00.000Z', '2026-02-28T23:00:00.000Z']);
  expect(ranges.last7days).toEqual(['2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
  expect(ranges.last30days).toEqual(['2026-02-27T23:00:00.000Z', '2026-03-29T22:00:00.000Z']);
});

test('the address holds a preset, or an interval; nonsense is the fallback', () => {
  const of = (search: string) => timeRangeOf(new URLSearchParams(search), 'today', BERLIN, NOW_MS);
  expect(of('range=lastWeek').preset).toBe('lastWeek');
  const chosen = of('from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z');
  expect(queryOfRange(chosen)).toEqual({
    range: null,
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-02T00:00:00.000Z',
  });
  for (const search of ['', 'range=toString', 'from=2026-01-02&to=2026-01-01', 'from=x&to=y'])
    expect(of(search).preset, search).toBe('today');
});

test('times are typed by the clock of the zone', () => {
  expect(localText(Date.parse('2026-03-29T01:30:00Z'), BERLIN)).toBe('2026-03-29T03:30');
  expect(localText(Date.parse('2026-03-29T01:30:05Z'), BERLIN)).toBe('2026-03-29T03:30:05');
  for (const at of ['2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z', '2026-10-25T12:00:07Z', '2026-07-01T21:59:00Z'])
    expect(timeOfLocalText(localText(Date.parse(at), BERLIN), BERLIN), at).toBe(Date.parse(at));
  expect(timeOfLocalText('2026-03', BERLIN)).toBeNull();
});

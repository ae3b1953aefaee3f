import { expect, test } from 'vitest';
import { nextRange, replayRange } from './range.ts';

const NOW = Date.parse('2026-03-15T21:30:00Z');
const BERLIN = 'Europe/Berlin';
const ms = (text: string) => Date.parse(`${text}:00Z`);
const texts = ({ fromMs, toMs }: { fromMs: number; toMs: number }) =>
  [fromMs, toMs].map((at) => new Date(at).toISOString().slice(0, 16));
const range = (query: string, zone = BERLIN) => texts(replayRange(new URLSearchParams(query), zone, NOW));

test('the interval of the address, else the day of its second, else today', () => {
  const named = 'from=2026-01-31T11:30:00Z&to=2026-02-02T12:00:00Z';
  expect(range(`${named}&t=2026-02-01T00:00:00Z`)).toEqual(['2026-01-31T11:30', '2026-02-02T12:00']);
  expect(range('t=2026-01-31T23:30:00Z')).toEqual(['2026-01-31T23:00', '2026-02-01T23:00']);
  expect(range('t=2026-03-29T10:00:00Z')).toEqual(['2026-03-28T23:00', '2026-03-29T22:00']);
  expect(range('range=yesterday&t=2026-01-31T23:30:00Z')).toEqual(['2026-03-13T23:00', '2026-03-14T23:00']);
  for (const query of ['', 't=soon', 'from=soon', 't=2026-03-15T04:00:00Z'])
    expect(range(query), query).toEqual(['2026-03-14T23:00', '2026-03-15T23:00']);
  expect(range('', 'Pacific/Honolulu')).toEqual(['2026-03-15T10:00', '2026-03-16T10:00']);
});

test('the interval before and after: whole days as days, others by their length', () => {
  const day = { preset: null, fromMs: ms('2026-03-28T23:00'), toMs: ms('2026-03-29T22:00') };
  expect(texts(nextRange(day, 1, BERLIN))).toEqual(['2026-03-29T22:00', '2026-03-30T22:00']);
  expect(texts(nextRange(day, -1, BERLIN))).toEqual(['2026-03-27T23:00', '2026-03-28T23:00']);
  const week = { preset: null, fromMs: ms('2026-03-22T23:00'), toMs: ms('2026-03-29T22:00') };
  expect(texts(nextRange(week, 1, BERLIN))).toEqual(['2026-03-29T22:00', '2026-04-05T22:00']);
  const hours = { preset: null, fromMs: ms('2026-03-28T20:00'), toMs: ms('2026-03-29T02:00') };
  expect(texts(nextRange(hours, -1, BERLIN))).toEqual(['2026-03-28T14:00', '2026-03-28T20:00']);
});

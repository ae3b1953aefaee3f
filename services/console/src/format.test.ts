import { expect, test } from 'vitest';
import { Formats } from './format.ts';

const metric = new Formats({ language: 'en', units: 'metric', timeZone: 'Asia/Tokyo' });
const imperial = new Formats({ language: 'en', units: 'imperial', timeZone: 'America/New_York' });
const plain = (text: string) => text.replaceAll(/[  ]/g, ' ');

test('units are the reader’s', () => {
  expect([metric.speed(90), imperial.speed(90)]).toEqual(['90 km/h', '56mph']);
  expect([metric.distance(640), metric.distance(12_345), imperial.distance(12_345)]).toEqual([
    '640 m',
    '12.3 km',
    '7.7 mi',
  ]);
  expect([metric.volume(40), imperial.volume(40)]).toEqual(['40 L', '10.6gal']);
  expect([0, 640, 53_400_000, 21e9].map((count) => metric.bytes(count))).toEqual(['0 kB', '0.6 kB', '53 MB', '21 GB']);
  expect([metric.area(2_500_000), imperial.area(2_500_000)]).toEqual(['2.5 km²', '0.965 mi²']);
});

test('what is not known is a dash', () => {
  for (const text of [metric.speed(null), metric.distance(undefined), metric.volume(null), metric.duration(null)])
    expect(text).toBe('–');
});

test('times are in the reader’s zone', () => {
  const at = '2026-01-15T22:30:05.000Z';
  expect(plain(metric.time(at))).toBe('07:30 AM');
  expect(plain(imperial.time(at))).toBe('05:30 PM');
  // In Tokyo it is the 16th by then.
  expect(plain(metric.moment(at, new Date('2026-01-15T23:00:00Z')))).toBe('07:30 AM');
  expect(plain(metric.moment(at, new Date('2026-01-15T14:00:00Z')))).toBe('Jan 16, 2026, 7:30 AM');
});

test('durations in hours and minutes, and how long ago in the largest unit', () => {
  expect([0, 59, 60, 3599, 3600, 5400].map((seconds) => metric.duration(seconds))).toEqual([
    '0 sec',
    '59 sec',
    '1 min',
    '1 hr',
    '1 hr',
    '1 hr 30 min',
  ]);
  expect([5, 90, 7200, 200_000].map((seconds) => metric.ago(seconds))).toEqual([
    '5 sec. ago',
    '1 min. ago',
    '2 hr. ago',
    '2 days ago',
  ]);
  expect(metric.ago(-30)).toBe('0 sec. ago');
});

test('numbers are written as the language writes them', () => {
  expect(new Formats({ language: 'de', units: 'metric', timeZone: undefined }).number(1234.5, 1)).toBe('1.234,5');
});

import { expect, test } from 'vitest';
import { checkStreamAddress, fillStreamAddress } from './stream-address.ts';

const FRAGMENT = {
  channel: 3,
  quality: 'sub',
  startMs: Date.UTC(2026, 0, 15, 22, 30, 0, 250),
  endMs: Date.UTC(2026, 0, 15, 22, 31),
  timeZone: 'Asia/Shanghai',
} as const;

test('a template becomes the URL of a fragment', () => {
  const fill = (template: string) => fillStreamAddress(template, FRAGMENT);
  expect(fill('rtsp://nvr/tracks/{channel}0{stream}?starttime={start}&endtime={end}')).toBe(
    'rtsp://nvr/tracks/302?starttime=20260115T223000Z&endtime=20260115T223100Z',
  );
  expect(fill('http://nvr/{quality}/{start:unix}/{seconds}.mp4')).toBe('http://nvr/sub/1768516200/60.mp4');
  expect(fill('http://nvr/{start:iso}/{end:local}')).toBe('http://nvr/2026-01-15T22:30:00Z/20260116T063100');
});

test('what is wrong with a template is said', () => {
  for (const good of ['rtsp://me:secret@10.0.0.5:554/{channel}?from={start}', 'https://nvr.example.net/{start:unix}'])
    expect(checkStreamAddress(good)).toBeNull();
  for (const [wrong, said] of [
    ['rtsp://nvr/{channel}', 'must contain {start}'],
    ['rtsp://nvr/{start:moon}', '{start:moon} means nothing'],
    ['rtsp://nvr/{start}/{camera}', '{camera} means nothing'],
    ['rtsp://nvr/{start}/{channel:unix}', 'means nothing'],
    ['rtsp://nvr/{start}/{', 'brace'],
    ['rtsp://{channel}.nvr/{start}', 'host'],
    ['file:///etc/passwd?{start}', 'absolute'],
    ['ftp://nvr/{start}', 'must begin'],
    ['concat:http://nvr/{start}', 'absolute'],
    ['-i rtsp://nvr/{start}', 'white space'],
    ['rtsp://nvr/{start}\n', 'white space'],
    ['nvr/{start}', 'absolute'],
    [`rtsp://nvr/{start}/${'a'.repeat(3000)}`, 'longer'],
  ] as const)
    expect(checkStreamAddress(wrong), wrong).toContain(said);
});

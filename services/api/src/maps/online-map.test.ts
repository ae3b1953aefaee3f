import { expect, test } from 'vitest';
import { onlineMapOf } from './online-map.ts';

const map = (settings: Partial<Parameters<typeof onlineMapOf>[0]>) =>
  onlineMapOf({ MAP_TILES_URL: null, MAP_STYLE_URL: null, MAP_ATTRIBUTION: null, ...settings });

test('tiles are raster or vector by their name; a style is one', () => {
  expect(map({})).toBeNull();
  expect(
    map({ MAP_TILES_URL: 'https://tiles.example:8443/{z}/{x}/{y}.png?key=1', MAP_ATTRIBUTION: 'Surveyors' }),
  ).toEqual({
    kind: 'raster',
    url: 'https://tiles.example:8443/{z}/{x}/{y}.png?key=1',
    attribution: 'Surveyors',
    origin: 'https://tiles.example:8443',
  });
  expect(map({ MAP_TILES_URL: 'https://tiles.example/{z}/{x}/{y}.mvt' })?.kind).toBe('vector');
  expect(map({ MAP_STYLE_URL: 'http://maps.example/style.json' })).toMatchObject({
    kind: 'style',
    origin: 'http://maps.example',
  });
});

test('a wrong setting is named', () => {
  for (const url of ['tiles', 'ftp://tiles.example/{z}/{x}/{y}', 'https://{s}.example/{z}/{x}/{y}'])
    expect(() => map({ MAP_TILES_URL: url }), url).toThrow('MAP_TILES_URL');
  expect(() => map({ MAP_TILES_URL: 'https://tiles.example/{z}/{x}' })).toThrow('{y}');
  expect(() => map({ MAP_STYLE_URL: '//maps.example' })).toThrow('MAP_STYLE_URL');
  const both = { MAP_TILES_URL: 'https://t.example/{z}/{x}/{y}', MAP_STYLE_URL: 'https://t.example/s' };
  expect(() => map(both)).toThrow('not both');
});

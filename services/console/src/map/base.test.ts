import { validateStyleMin } from '@maplibre/maplibre-gl-style-spec';
import { expect, test } from 'vitest';
import { chosenMap, type MapOffer, overWorld, SCHEMAS, schemaOf, vectorBase } from './base.ts';
import { palette } from './style.ts';

const file = (name: string): MapOffer => ({ name, tileJson: `/maps/${name}`, online: null });
const online: MapOffer = { name: 'online', tileJson: null, online: { kind: 'raster', url: 'x', attribution: null } };

test('the chosen map, else the online one, else the file of a region, else the world', () => {
  const name = (offers: MapOffer[], wanted: string | null) => chosenMap(offers, wanted)?.name ?? null;
  expect(name([file('world')], null)).toBeNull();
  expect(name([file('region'), file('world')], null)).toBe('region');
  expect(name([online, file('world'), file('region')], null)).toBe('online');
  expect(name([online, file('world'), file('region')], 'region')).toBe('region');
  expect(name([online, file('world')], 'world')).toBeNull();
  expect(name([file('world'), file('region')], 'world')).toBeNull();
  expect(name([file('world')], 'gone')).toBeNull();
  expect(name([online, file('world'), file('region')], 'gone')).toBe('online');
});

test('tiles are drawn by the layers that they declare', () => {
  expect(schemaOf(['earth', 'roads', 'water'])).toBe(SCHEMAS.protomaps);
  expect(schemaOf(['ocean', 'streets'])).toBe(SCHEMAS.shortbread);
  expect(schemaOf(['water', 'transportation'])).toBe(SCHEMAS.openMapTiles);
  expect(schemaOf(['fields'])).toBeNull();
  const source = { type: 'vector' as const, tiles: ['x'] };
  const drawn = (ids: string[]) =>
    vectorBase(source, schemaOf(ids), ids, palette.peek()).layers.map(({ id, type }) => `${type} ${id}`);
  expect(drawn(['earth', 'roads', 'water'])).toContain('line base-roads-roads');
  expect(drawn(['fields', 'rails'])).toEqual([
    'background base-background',
    'line base-lines-fields',
    'line base-lines-rails',
  ]);
});

test('every style is valid', () => {
  for (const schema of Object.values(SCHEMAS)) {
    const base = vectorBase({ type: 'vector', tiles: ['x'] }, schema, [], palette.peek());
    const region = overWorld(base, [20, 46, 21, 47], 8);
    for (const { sources, layers } of [base, region])
      expect(validateStyleMin({ version: 8, sources, layers })).toEqual([]);
    // The ground of a region is no larger than the region.
    expect(region.layers.map(({ type }) => type)).not.toContain('background');
    expect(region.layers[0]).toMatchObject({ type: 'fill', minzoom: 8 });
  }
});

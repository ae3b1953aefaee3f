import { expect, test } from 'vitest';
import { chosenMap, type MapOffer, SCHEMAS, schemaOf, vectorBase } from './base.ts';
import { palette } from './style.ts';

const file = (name: string): MapOffer => ({ name, tileJson: `/maps/${name}`, online: null });
const online: MapOffer = { name: 'online', tileJson: null, online: { kind: 'raster', url: 'x', attribution: null } };

test('the chosen map, else the online one, else the world', () => {
  const name = (offers: MapOffer[], wanted: string | null) => chosenMap(offers, wanted)?.name ?? null;
  expect(name([file('world'), file('region')], null)).toBeNull();
  expect(name([online, file('world'), file('region')], null)).toBe('online');
  expect(name([online, file('world'), file('region')], 'region')).toBe('region');
  expect(name([online, file('world')], 'world')).toBeNull();
  expect(name([file('world')], 'gone')).toBeNull();
});

test('tiles are drawn by the layers that they declare', () => {
  expect(schemaOf(['earth', 'roads', 'water'])).toBe(SCHEMAS.protomaps);
  expect(schemaOf(['ocean', 'streets'])).toBe(SCHEMAS.shortbread);
  expect(schemaOf(['water', 'transportation'])).toBe(SCHEMAS.openMapTiles);
  expect(schemaOf(['fields'])).toBeNull();
  const source = { type: 'vector' as const, tiles: ['x'] };
  const drawn = (ids: string[]) =>
    vectorBase(source, schemaOf(ids), ids, palette.peek()).layers.map(({ id, type }) => `${type} ${id}`);
  expect(drawn(['earth', 'roads', 'water'])).toContain('line base-roads');
  expect(drawn(['fields', 'rails'])).toEqual(['background base-background', 'line base-fields', 'line base-rails']);
});

import type { SymbolLayerSpecification } from 'maplibre-gl';
import { expect, test } from 'vitest';
import { ARROW_SPACE_PX, layersOf, palette } from './style.ts';

const layers = layersOf(palette.peek());
/** Of a line of text, below its middle, as MapLibre places it. */
const BASELINE = 7 / 24;

test('the places of all arrows are taken before the first name: MapLibre begins with the upper layer', () => {
  const ids = layers.map(({ id }) => id);
  expect(ids.indexOf('vehicle-spaces')).toBeGreaterThan(ids.indexOf('vehicle-names'));
});

test('a name stands beyond the space of its own arrow, on all sides', () => {
  const { layout } = layers.find(({ id }) => id === 'vehicle-names') as SymbolLayerSpecification;
  const [size, offset, padding] = ['text-size', 'text-radial-offset', 'text-padding'].map(
    (name) => layout?.[name as 'text-size'] as number,
  ) as [number, number, number];
  expect(size * (offset - BASELINE) - padding).toBeGreaterThan(ARROW_SPACE_PX / 2);
});

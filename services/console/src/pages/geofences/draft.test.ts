import type { Geozone } from '@outrider/client';
import { expect, test } from 'vitest';
import { bodyOf, coordinatesText, draftOf, editableArea, geometryOfText, newDraft, withArea } from './draft.ts';

const ID = '01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b';
const geozone = (geometry: Geozone['geometry'], properties: Partial<Geozone['properties']>): Geozone => ({
  type: 'Feature',
  id: ID,
  geometry,
  properties: {
    shape: 'circle',
    name: 'Depot',
    groupIds: null,
    category: null,
    sharedWithOrganisation: false,
    sharedGroupIds: [],
    speedLimitKmh: 20,
    minDwellSeconds: 60,
    color: null,
    description: null,
    externalId: null,
    customAttributes: {},
    ownerId: ID,
    areaM2: 1,
    perimeterM: 1,
    ...properties,
  },
});
const RING: [number, number][] = [
  [30.1, 59.9],
  [30.2, 59.9],
  [30.2, 60],
  [30.1, 59.9],
];

const PLAIN = {
  ...{ color: null, description: null, groupIds: null, category: null },
  ...{ sharedWithOrganisation: false, sharedGroupIds: [], externalId: null, customAttributes: {} },
};

test('an unchanged geofence is sent as it was', () => {
  const circle = geozone({ type: 'Point', coordinates: [30.3141, 59.9386] }, { radiusM: 250 });
  expect(bodyOf(draftOf(circle, '"7"'))).toEqual({
    type: 'Feature',
    geometry: circle.geometry,
    properties: { shape: 'circle', name: 'Depot', radiusM: 250, speedLimitKmh: 20, minDwellSeconds: 60, ...PLAIN },
  });
  const line = geozone({ type: 'LineString', coordinates: RING }, { shape: 'line', widthM: 40, speedLimitKmh: null });
  expect(bodyOf(draftOf(line, null))?.properties).toEqual({
    shape: 'line',
    name: 'Depot',
    widthM: 40,
    speedLimitKmh: null,
    minDwellSeconds: 60,
    ...PLAIN,
  });
});

test('a new one has nothing to send before it is drawn; a drawn ring is its geometry', () => {
  const draft = newDraft('polygon');
  expect(bodyOf(draft)).toBeNull();
  const drawn = withArea(draft, { type: 'Polygon', coordinates: [RING] });
  expect(bodyOf({ ...drawn, name: ' Yard ' })).toEqual({
    type: 'Feature',
    geometry: { type: 'Polygon', coordinates: [RING] },
    properties: {
      shape: 'polygon',
      name: 'Yard',
      speedLimitKmh: null,
      minDwellSeconds: 0,
      ...PLAIN,
    },
  });
});

test('a circle survives the way to the drawing tool and back', () => {
  const draft = draftOf(geozone({ type: 'Point', coordinates: [30.3141, 59.9386] }, { radiusM: 250 }), null);
  const area = editableArea(draft) as GeoJSON.Polygon;
  for (const number of area?.coordinates.flat(2) ?? []) expect(Number(number.toFixed(7))).toBe(number);
  const back = withArea(draft, area);
  expect(Number(back.radiusM)).toBeCloseTo(250, 0);
  const [longitude, latitude] = (back.geometry as { coordinates: [number, number] }).coordinates;
  expect(longitude).toBeCloseTo(30.3141, 5);
  expect(latitude).toBeCloseTo(59.9386, 5);
});

test('the drawing tool is given lines, but no holes and no circle without a radius', () => {
  const line = geozone({ type: 'LineString', coordinates: RING }, { shape: 'line', widthM: 40 });
  const holed = geozone({ type: 'Polygon', coordinates: [RING, RING] }, { shape: 'polygon' });
  const point = geozone({ type: 'Point', coordinates: [30, 60] }, { radiusM: 250 });
  expect(editableArea(draftOf(line, null))).toEqual({ type: 'LineString', coordinates: RING });
  expect(editableArea(draftOf(holed, null))).toBeNull();
  expect(editableArea({ ...draftOf(point, null), radiusM: 'x' })).toBeNull();
  expect(editableArea(draftOf(point, null))).not.toBeNull();
});

test('coordinates are written and read as text, with holes; a line that is no place is named', () => {
  const hole: [number, number][] = [
    [30.15, 59.91],
    [30.16, 59.91],
    [30.16, 59.92],
    [30.15, 59.91],
  ];
  const polygon = { type: 'Polygon' as const, coordinates: [RING, hole] };
  expect(coordinatesText(polygon)).toBe('59.9, 30.1\n59.9, 30.2\n60, 30.2\n\n59.91, 30.15\n59.91, 30.16\n59.92, 30.16');
  expect(geometryOfText(coordinatesText(polygon), 'polygon')).toEqual(polygon);
  const multi = { type: 'MultiPolygon' as const, coordinates: [polygon.coordinates, [hole]] };
  expect(coordinatesText(multi)).toContain('59.92, 30.16\n---\n59.91, 30.15');
  expect(geometryOfText(coordinatesText(multi), 'polygon')).toEqual(multi);
  const line = { type: 'LineString' as const, coordinates: RING.slice(0, 2) };
  expect(geometryOfText(coordinatesText(line), 'line')).toEqual(line);
  expect(geometryOfText(' 59.9;30.1 \n', 'circle')).toEqual({ type: 'Point', coordinates: [30.1, 59.9] });
  expect(geometryOfText('59.9, 30.1\n\nhere', 'polygon')).toEqual({ line: 3 });
  expect(geometryOfText('91, 30.1', 'circle')).toEqual({ line: 1 });
  expect([geometryOfText('', 'circle'), geometryOfText('1, 2\n3, 4', 'polygon')]).toEqual([{ line: 0 }, { line: 0 }]);
});

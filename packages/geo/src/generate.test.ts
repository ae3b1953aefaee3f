import { expect, test } from 'vitest';
import { featureFromShape } from './feature-from-shape.ts';
import { cityGeofences, cityTrack, siteGeofences } from './generate.ts';
import { areaM2 } from './measures.ts';
import { shapeFromFeature } from './shape-from-feature.ts';

test('geofences are valid, of all kinds, and the same for the same seed', () => {
  const shapes = cityGeofences(1000, 42);
  for (const shape of shapes) expect(shapeFromFeature(featureFromShape(shape))).toEqual({ ok: true, shape });
  const polygons = shapes.filter(({ type }) => type === 'polygon').length;
  expect(polygons).toBeGreaterThan(750);
  expect(polygons).toBeLessThan(850);
  expect(new Set(shapes.map(({ type }) => type))).toEqual(new Set(['polygon', 'circle', 'line']));
  expect(cityGeofences(1000, 42)).toEqual(shapes);
  expect(cityGeofences(1000, 43)).not.toEqual(shapes);
});

test('sites are valid, round or with corners, small, and the same for the same seed', () => {
  const shapes = siteGeofences(1000, 42);
  for (const shape of shapes) {
    expect(shapeFromFeature(featureFromShape(shape))).toEqual({ ok: true, shape });
    expect(areaM2(shape)).toBeGreaterThan(1500);
    expect(areaM2(shape)).toBeLessThan(75_000);
  }
  const circles = shapes.filter(({ type }) => type === 'circle').length;
  expect(circles).toBeGreaterThan(400);
  expect(circles).toBeLessThan(600);
  expect(siteGeofences(1000, 42)).toEqual(shapes);
});

test('vehicles drive: no fix is farther from the last than its speed allows', () => {
  const track = cityTrack(20, 200, 7);
  expect(track.longitudes.length).toBe(4000);
  for (let i = track.vehicles; i < track.longitudes.length; i++) {
    const dx = (track.longitudes[i] as number) - (track.longitudes[i - track.vehicles] as number);
    const dy = (track.latitudes[i] as number) - (track.latitudes[i - track.vehicles] as number);
    const metres = Math.hypot(dx * Math.cos((55.75 * Math.PI) / 180), dy) * 111_195;
    expect(metres).toBeLessThan(((track.speedsKmh[i] as number) / 3.6) * track.intervalS + 15);
  }
  expect(cityTrack(20, 200, 7)).toEqual(track);
});

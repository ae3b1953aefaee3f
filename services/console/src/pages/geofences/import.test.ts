import { expect, test } from 'vitest';
import { featureOf, type ImportFeature, ignoredIn, questionOf } from './import.ts';

const SIZES = { radiusM: 100, widthM: 50 };

test('the name of a file says its format, and what a shape without a name is called', () => {
  expect(questionOf('My sites.KML', SIZES)).toEqual({ format: 'kml', name: 'My sites', ...SIZES });
  expect(questionOf('way.gpx', SIZES)).toMatchObject({ format: 'gpx' });
  expect(questionOf('map.json', SIZES)).toMatchObject({ format: 'geojson', name: 'map' });
  expect(questionOf('.geojson', SIZES)).toEqual({ format: 'geojson', ...SIZES });
});

test('a feature is imported under the name that the list has', () => {
  const feature = { type: 'Feature', properties: { name: 'Port', color: null } } as unknown as ImportFeature;
  expect(featureOf({ name: ' Harbour ', feature }).properties).toEqual({ name: 'Harbour', color: null });
});

test('what is left out is named once', () => {
  const item = { name: '', feature: null, unsupported: null, lacks: null };
  expect(
    ignoredIn([
      { ...item, ignored: ['a', 'b'] },
      { ...item, ignored: ['b'] },
    ]),
  ).toEqual(['a', 'b']);
});

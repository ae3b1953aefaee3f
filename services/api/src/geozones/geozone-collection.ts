import type { Geofence } from '@outrider/domain';
import { KML_FOOT, KML_HEAD, writePlacemark } from '@outrider/geo/files';
import { geozoneCsvHeader, geozoneCsvRow } from '../csv/geozone-csv.ts';
import { geozoneBody } from '../fields/geozone-fields.ts';

/** Characters sent to the client at once. */
const PART_CHARACTERS = 64 * 1024;

/**
 * Geofences as the text of a FeatureCollection (RFC 7946), in parts; each feature starts a new line.
 *
 * @param pages geofences in pages
 */
export function writeCollection(pages: AsyncIterable<readonly Geofence[]>): AsyncGenerator<string> {
  let between = '\n';
  const featureText = (geofence: Geofence) => {
    const text = between + JSON.stringify(geozoneBody(geofence));
    between = ',\n';
    return text;
  };
  return written(pages, '{"type":"FeatureCollection","features":[', featureText, '\n]}\n');
}

/** Geofences as KML. */
export function writeKml(pages: AsyncIterable<readonly Geofence[]>): AsyncGenerator<string> {
  return written(pages, KML_HEAD, writePlacemark, KML_FOOT);
}

/** Properties of geofences as CSV (RFC 4180). */
export function writeGeozoneCsv(pages: AsyncIterable<readonly Geofence[]>): AsyncGenerator<string> {
  return written(pages, geozoneCsvHeader(), geozoneCsvRow, '');
}

async function* written(
  pages: AsyncIterable<readonly Geofence[]>,
  head: string,
  textOf: (geofence: Geofence) => string,
  foot: string,
): AsyncGenerator<string> {
  let text = head;
  for await (const page of pages)
    for (const geofence of page) {
      text += textOf(geofence);
      if (text.length < PART_CHARACTERS) continue;
      yield text;
      text = '';
    }
  yield text + foot;
}

import type { Geofence } from '@outrider/domain';
import { KML_FOOT, KML_HEAD, writePlacemark } from '@outrider/geo/files';
import { geozoneCsvHeader, geozoneCsvRow } from '../csv/geozone-csv.ts';
import { geozoneBody } from '../fields/geozone-fields.ts';

/** How much is sent to the client at once. */
const PART_CHARACTERS = 64 * 1024;

/**
 * Geofences as the text of a FeatureCollection (RFC 7946), a part at a time; each feature begins a line of its own.
 *
 * @param pages some at a time
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

/** The same as KML. */
export function writeKml(pages: AsyncIterable<readonly Geofence[]>): AsyncGenerator<string> {
  return written(pages, KML_HEAD, writePlacemark, KML_FOOT);
}

/** Their properties as CSV (RFC 4180). */
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

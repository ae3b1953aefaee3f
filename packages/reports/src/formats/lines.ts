import { isoTime } from '@outrider/domain';
import type { Row } from '../report.ts';
import { TRACK_PLACES as AT } from '../tracks.ts';
import type { Format } from './format.ts';
import { xmlText } from './xml.ts';

/** Fixes with a longer gap between them are not joined by a line (the default end of a trip). */
const GAP_MS = 60 * 60_000;
/** Maximum positions per feature: a feature is held in memory until it is complete. */
const MOST_IN_A_FEATURE = 10_000;

/** A segment of one vehicle's track without a gap, as far as a page of rows contains it. */
interface Piece {
  vehicleId: string;
  vehicleName: string;
  rows: Row[];
  /** Whether the piece continues the one before it. */
  isContinued: boolean;
  /** Whether the piece is of another vehicle than the one before it. */
  isNewVehicle: boolean;
}

const text = (row: Row, at: number) => String(row[at] ?? '');
const number = (row: Row, at: number) => Number(row[at]);

/**
 * Whether the position is on the track. Those that the terminal does not trust, or are impossible, would draw spikes.
 */
const isOnWay = (row: Row) => row[AT.valid] === true && (row[AT.rejection] ?? null) === null;

/** Rows of the track as they come, split where the vehicle changes, at gaps, and at the ends of pages. */
async function* piecesOf(pages: AsyncIterable<Row[]>): AsyncGenerator<Piece> {
  let last: Row | null = null;
  for await (const page of pages) {
    let piece: Piece | null = null;
    for (const row of page) {
      if (!isOnWay(row)) continue;
      const isSame = last !== null && last[AT.vehicleId] === row[AT.vehicleId];
      const isNear: boolean = last !== null && isSame && number(row, AT.fixTime) - number(last, AT.fixTime) <= GAP_MS;
      if (piece === null || !isNear) {
        if (piece !== null) yield piece;
        piece = {
          vehicleId: text(row, AT.vehicleId),
          vehicleName: text(row, AT.vehicleName),
          rows: [],
          isContinued: isNear,
          isNewVehicle: !isSame,
        };
      }
      piece.rows.push(row);
      last = row;
    }
    if (piece !== null) yield piece;
  }
}

const coordinate = (row: Row) => {
  const altitude = row[AT.altitudeM] ?? null;
  return [row[AT.longitude], row[AT.latitude], ...(altitude === null ? [] : [altitude])];
};

/**
 * Lines of at most ten thousand positions, each with the times of its positions. A line that continues another begins
 * with its last position.
 */
export const geojson: Format = {
  name: 'geojson',
  mediaType: 'application/geo+json',
  extension: 'geojson',
  ofTracks: true,
  async *write({ pages }) {
    yield '{"type":"FeatureCollection","features":[';
    let separator = '';
    let held: Row[] = [];
    const flush = () => {
      const [first] = held;
      if (first === undefined) return '';
      const points = held.length === 1 ? [first, first] : held;
      const feature = {
        type: 'Feature',
        geometry: { type: 'LineString', coordinates: points.map(coordinate) },
        properties: {
          vehicleId: first[AT.vehicleId],
          vehicleName: first[AT.vehicleName],
          times: points.map((row) => isoTime(number(row, AT.fixTime))),
          speedsKmh: points.map((row) => row[AT.speedKmh] ?? null),
        },
      };
      const written = `${separator}\n${JSON.stringify(feature)}`;
      separator = ',';
      return written;
    };
    for await (const piece of piecesOf(pages)) {
      if (!piece.isContinued) {
        yield flush();
        held = [];
      }
      for (const row of piece.rows) {
        held.push(row);
        if (held.length < MOST_IN_A_FEATURE) continue;
        yield flush();
        held = [row];
      }
    }
    // A single position left over from a full feature was written with that feature.
    yield `${flush()}\n]}\n`;
  },
};

/** GPX 1.1: a track for each vehicle, a segment for each part without a gap. */
export const gpx: Format = {
  name: 'gpx',
  mediaType: 'application/gpx+xml',
  extension: 'gpx',
  ofTracks: true,
  async *write({ pages }) {
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Outrider" xmlns="http://www.topografix.com/GPX/1/1">\n';
    let isOpen = false;
    for await (const piece of piecesOf(pages)) {
      let xml = '';
      if (!piece.isContinued) {
        if (isOpen) xml += '</trkseg>';
        if (piece.isNewVehicle) {
          if (isOpen) xml += '</trk>\n';
          xml += `<trk><name>${xmlText(piece.vehicleName)}</name>`;
        }
        xml += '<trkseg>\n';
        isOpen = true;
      }
      for (const row of piece.rows) {
        const altitude = row[AT.altitudeM] ?? null;
        xml += `<trkpt lat="${row[AT.latitude]}" lon="${row[AT.longitude]}">${altitude === null ? '' : `<ele>${altitude}</ele>`}<time>${isoTime(number(row, AT.fixTime))}</time></trkpt>\n`;
      }
      yield xml;
    }
    yield `${isOpen ? '</trkseg></trk>\n' : ''}</gpx>\n`;
  },
};

/** KML 2.2: a placemark for each part without a gap. */
export const kml: Format = {
  name: 'kml',
  mediaType: 'application/vnd.google-earth.kml+xml',
  extension: 'kml',
  ofTracks: true,
  async *write({ pages }) {
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document>\n';
    let isOpen = false;
    for await (const piece of piecesOf(pages)) {
      let xml = '';
      if (!piece.isContinued) {
        if (isOpen) xml += '</coordinates></LineString></Placemark>\n';
        const [first] = piece.rows;
        const since = first ? isoTime(number(first, AT.fixTime)) : '';
        xml += `<Placemark><name>${xmlText(piece.vehicleName)}</name><TimeStamp><when>${since}</when></TimeStamp><LineString><coordinates>\n`;
        isOpen = true;
      }
      for (const row of piece.rows) xml += `${coordinate(row).join(',')}\n`;
      yield xml;
    }
    yield `${isOpen ? '</coordinates></LineString></Placemark>\n' : ''}</Document></kml>\n`;
  },
};

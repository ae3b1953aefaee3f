import { projected } from '../kinds/groups.ts';
import type { ReportKind } from '../report.ts';
import { arrow, parquet } from './columnar.ts';
import type { Format } from './format.ts';
import { geojson, gpx, kml } from './lines.ts';
import { pdf } from './pdf/pdf.ts';
import { csv, ndjson } from './text.ts';
import { xlsx } from './xlsx.ts';

/** All formats of reports, except paged JSON. */
export const FORMATS: readonly Format[] = [ndjson, csv, xlsx, pdf, parquet, arrow, geojson, gpx, kml];

export const JSON_TYPE = 'application/json';

/** Formats in which a kind of report can be written. */
export function formatsOf({ isTrack }: Pick<ReportKind, 'isTrack'>): readonly Format[] {
  return FORMATS.filter(({ ofTracks }) => isTrack || !ofTracks);
}

/** The kind as a format writes it: with the chosen columns only, unless the format selects columns itself. */
export function shownAs(kind: ReportKind, format: Format, columns: readonly string[] | null): ReportKind {
  return format.ofGroups ? kind : projected(kind, columns);
}

/**
 * The available format that an `Accept` header requests (RFC 9110, 12.5.1): the one with the highest weight, and of
 * several with it the one that is named first.
 *
 * @returns null: paged JSON, which also serves requests for anything; undefined: no requested format is available
 */
export function acceptedFormat<F extends Pick<Format, 'mediaType'>>(
  accept: string | undefined,
  formats: readonly F[],
): F | null | undefined {
  if (accept === undefined || accept.trim() === '') return null;
  const ranges = accept
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, weight: weight === undefined ? 1 : Number(weight.slice(2)) };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  for (const { type } of ranges) {
    if (type === '*/*' || type === 'application/*' || type === JSON_TYPE) return null;
    if (type === 'text/*') return formats.find(({ mediaType }) => mediaType.startsWith('text/'));
    const found = formats.find(({ mediaType }) => mediaType === type);
    if (found) return found;
  }
  return undefined;
}

import type { Geofence } from '@outrider/domain';
import { defused, writeCsvLine } from '@outrider/reports';
import { attributesCell } from '../fields/custom-fields.ts';
import { measuresOf } from '../geozones/geojson.ts';

/** Columns of the CSV of geofences, one row for each geofence. */
export const GEOZONE_COLUMNS = [
  ...(['id', 'name', 'shape', 'radiusM', 'widthM', 'category', 'description', 'color'] as const),
  ...(['speedLimitKmh', 'minDwellSeconds', 'groupIds', 'sharedWithOrganisation', 'sharedGroupIds'] as const),
  ...(['externalId', 'customAttributes'] as const),
  ...(['ownerId', 'areaM2', 'perimeterM'] as const),
];

export function geozoneCsvHeader(): string {
  return writeCsvLine(GEOZONE_COLUMNS, ',');
}

/** A geofence as a row. Text that a spreadsheet would run as a formula is escaped. */
export function geozoneCsvRow(geofence: Geofence): string {
  const { properties, areaM2, perimeterM } = measuresOf(geofence.shape);
  const values: Record<(typeof GEOZONE_COLUMNS)[number], string | number | boolean | null | undefined> = {
    ...geofence,
    ...{ radiusM: undefined, widthM: undefined, ...properties, areaM2, perimeterM },
    groupIds: geofence.groupIds?.join('|'),
    sharedGroupIds: geofence.sharedGroupIds.join('|'),
    customAttributes: attributesCell(geofence.customAttributes),
  };
  return writeCsvLine(
    GEOZONE_COLUMNS.map((column) => {
      const value = values[column] ?? '';
      return typeof value === 'string' ? defused(value) : String(value);
    }),
    ',',
  );
}

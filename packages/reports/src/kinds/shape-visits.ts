import {
  asChange,
  type Definition,
  deriveEventId,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GeofenceVisit,
  type GroupId,
  NO_CUSTOM_FIELDS,
  OPEN_ACCESS,
  type Position,
  pagesOf,
  type Shape,
  type TerminalId,
  type UserId,
  VEHICLE_DEFAULTS,
  type VehicleId,
} from '@outrider/domain';
import { Engine } from '@outrider/engine';
import { boundingBox, prepareShape } from '@outrider/geo';
import { type Box, MAX_FLEET, type PositionsCursor } from '@outrider/warehouse';
import { type ShapeCursor, shapeCursor } from '../cursors.ts';
import { lastingUntil } from '../known.ts';
import { withPlaces } from '../places.ts';
import {
  type Column,
  fleetFrom,
  type Page,
  type Question,
  type ReportKind,
  type ReportSources,
  ROWS_AT_ONCE,
  type Row,
} from '../report.ts';
import { VISIT_COLUMNS, visitRows } from './visits.ts';

/** How long before the time range positions are read, to find whether the vehicle was inside already. */
const LEAD_MS = 86_400_000;
/** The greatest distance over which a passage is inferred: 5 minutes at 500 km/h. */
const MARGIN_DEG = 0.4;
/** Id of the shape within the engine; it is never published. */
const SHAPE_ID = '00000000-0000-7000-8000-000000000000' as GeofenceId;
const ASKER = '00000000-0000-7000-8000-000000000001' as UserId;

const COLUMNS: readonly Column[] = VISIT_COLUMNS.filter(({ name }) => !/geozone/i.test(name));
const SHOWN = COLUMNS.map(({ name }) => VISIT_COLUMNS.findIndex((column) => column.name === name));

/**
 * Visits of an unsaved shape: what the engine would have found if the shape had existed since a day before the time
 * range. The same engine runs over the positions, so a geofence of this shape gives the same results from now on.
 *
 * @param minDwellSeconds the same as of a geofence
 */
export function shapeVisitsReport(shape: Shape, minDwellSeconds: number): ReportKind {
  return withPlaces({
    name: 'geozone-visits',
    summary: 'Visits of a shape that is not saved as a geozone, and the time between them.',
    description:
      'Contains the visits that a geozone of this shape would have had: the rules are applied to the stored positions. If a vehicle was already inside at `from`, its visit begins at most one day before `from`.',
    columns: COLUMNS,
    cursor: shapeCursor,
    async page(sources, question, after, limit): Promise<Page> {
      let { vehicle = null, returned = 0 } = (after as ShapeCursor | null) ?? {};
      const { part, following } = fleetFrom(question.vehicles, vehicle, MAX_FLEET);
      const near = await nearOnes(
        sources,
        question,
        part.map(({ id }) => id),
        shape,
      );
      const rows: Row[] = [];
      for (const { id, name } of part) {
        if (!near.has(id)) continue;
        const visits = await visitsOf(sources, question, id, shape, minDwellSeconds);
        const untilOf = await lastingUntil(sources, visits, question);
        const all = visitRows(visits, null, new Map([[id, name]]), () => null, untilOf).rows;
        const from = id === vehicle ? returned : 0;
        for (const [nth, row] of all.slice(from).entries()) {
          if (rows.length === limit) return { rows, next: { vehicle: id, returned: from + nth } satisfies ShapeCursor };
          rows.push(SHOWN.map((column) => row[column] ?? null));
        }
      }
      vehicle = following;
      returned = 0;
      return { rows, next: vehicle && ({ vehicle, returned } satisfies ShapeCursor) };
    },
  });
}

/** Selects the vehicles that came near enough to have been inside. */
async function nearOnes(
  { archive }: ReportSources,
  { fromMs, toMs, signal }: Question,
  vehicleIds: readonly VehicleId[],
  shape: Shape,
): Promise<Set<VehicleId>> {
  const question = { vehicleIds, fromMs: fromMs - LEAD_MS, toMs, box: around(shape), signal };
  return new Set(await archive.vehiclesWithin(question));
}

/**
 * The shape's box with a margin; all longitudes where a degree of longitude is very short, or if the box spans all of
 * them.
 */
function around(shape: Shape): Box {
  const [west, south, east, north] = boundingBox(shape);
  const margin = MARGIN_DEG / Math.cos((Math.min(89, Math.max(Math.abs(south), Math.abs(north))) * Math.PI) / 180);
  const width = (east >= west ? east - west : east - west + 360) + 2 * margin;
  const turned = (longitude: number) => ((((longitude + 180) % 360) + 360) % 360) - 180;
  return {
    ...(width >= 360 ? { west: -180, east: 180 } : { west: turned(west - margin), east: turned(east + margin) }),
    south: south - MARGIN_DEG,
    north: north + MARGIN_DEG,
  };
}

async function visitsOf(
  { archive }: ReportSources,
  { fromMs, toMs, signal }: Question,
  vehicleId: VehicleId,
  shape: Shape,
  minDwellSeconds: number,
): Promise<GeofenceVisit[]> {
  const engine = new Engine();
  engine.load(definitionsFor(vehicleId, shape, minDwellSeconds).map((definition) => asChange(definition, 0)));
  const byId = new Map<string, GeofenceVisit>();
  let offset = 0;
  const prepared = prepareShape(shape);
  let foundInside: Position | null | undefined;
  const asked = { vehicleIds: [vehicleId], fromMs: fromMs - LEAD_MS, toMs, limit: ROWS_AT_ONCE };
  const pages = pagesOf((after: PositionsCursor | null) => archive.positions({ ...asked, after, signal }));
  for await (const { positions } of pages) {
    const events: FleetEvent[] = [];
    const receivedAtMs = positions.at(-1)?.fixTimeMs;
    if (foundInside === undefined) {
      const first = positions.find(({ valid }) => valid);
      if (first) foundInside = prepared.contains(first.longitude, first.latitude) ? first : null;
    }
    if (receivedAtMs !== undefined)
      engine.process(
        { vehicleId, terminalId: '' as TerminalId, protocol: 'osmand', receivedAtMs, positions },
        offset++,
        events,
      );
    for (const event of events)
      if (event.kind === 'geofence-visit' && event.geofenceId === SHAPE_ID) byId.set(event.id, event);
  }
  const visits = [...byId.values()];
  // The engine reports a vehicle that was inside from the first fix when it leaves; this one never left.
  if (foundInside && !visits.some(({ startedAtMs }) => startedAtMs === foundInside.fixTimeMs))
    visits.push(staying(vehicleId, foundInside));
  return visits
    .filter(({ startedAtMs, endedAtMs }) => startedAtMs < toMs && (endedAtMs === null || endedAtMs > fromMs))
    .toSorted((a, b) => a.startedAtMs - b.startedAtMs);
}

function staying(vehicleId: VehicleId, fix: Position): GeofenceVisit {
  return {
    kind: 'geofence-visit',
    id: deriveEventId('geofence-visit', vehicleId, SHAPE_ID, fix.fixTimeMs),
    phase: 'begin',
    vehicleId,
    startedAtMs: fix.fixTimeMs,
    endedAtMs: null,
    latitude: fix.latitude,
    longitude: fix.longitude,
    speedKmh: fix.speedKmh,
    fromFixTimeMs: fix.fixTimeMs,
    fixTimeMs: fix.fixTimeMs,
    definitionVersion: 1,
    origin: 'recalculated',
    inferred: false,
    startLatitude: fix.latitude,
    startLongitude: fix.longitude,
    geofenceId: SHAPE_ID,
    endReason: null,
  };
}

function definitionsFor(vehicleId: VehicleId, shape: Shape, minDwellSeconds: number): Definition[] {
  const geofence: Geofence = {
    kind: 'geofence',
    id: SHAPE_ID,
    version: 1,
    name: '',
    ownerId: ASKER,
    shape,
    groupIds: null,
    speedLimitKmh: null,
    minDwellSeconds,
    color: null,
    description: null,
    category: null,
    sharedWithOrganisation: false,
    sharedGroupIds: [],
    ...NO_CUSTOM_FIELDS,
  };
  return [
    {
      kind: 'user',
      id: ASKER,
      version: 1,
      login: '',
      name: '',
      role: 'operator',
      dealerId: null,
      blocked: false,
      apiAccess: false,
      services: [],
      rights: [],
      groupIds: [] as GroupId[],
      ...NO_CUSTOM_FIELDS,
    },
    {
      kind: 'vehicle',
      id: vehicleId,
      version: 1,
      name: '',
      terminalAccess: OPEN_ACCESS,
      dealerId: null,
      groupIds: [],
      sensors: [],
      suspension: null,
      predecessor: null,
      customAttributes: {},
      ...VEHICLE_DEFAULTS,
    },
    geofence,
  ];
}

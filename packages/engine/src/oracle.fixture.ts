import {
  type DefinitionChange,
  deriveEventId,
  type FleetEvent,
  type Geofence,
  type LngLat,
  type Position,
  rejectionOf,
  type Shape,
  type TelemetryPacket,
  type User,
  type Vehicle,
  watches,
} from '@outrider/domain';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';
import { expect } from 'vitest';

/**
 * The rules again, slow and plain: no index, nothing settled ahead, every geofence asked by turf at every fix. What the
 * engine says must be what this says.
 */
export class Oracle {
  readonly users = new Map<string, User>();
  readonly vehicles = new Map<string, Vehicle>();
  readonly geofences = new Map<string, Geofence>();
  readonly #versions = new Map<string, number>();
  readonly #trails = new Map<string, Trail>();

  apply({ kind, id, version, changedAtMs, definition }: DefinitionChange): FleetEvent[] {
    if (kind === 'notification-rule' || kind === 'video-profile' || version <= (this.#versions.get(id) ?? 0)) return [];
    this.#versions.set(id, version);
    const geofencesBefore = new Map(this.geofences);
    const map = { user: this.users, vehicle: this.vehicles, geofence: this.geofences, group: new Map() }[kind];
    if (definition) (map as Map<string, unknown>).set(id, definition);
    else map.delete(id);

    const events: FleetEvent[] = [];
    for (const [vehicleId, trail] of this.#trails) {
      this.#redefine(vehicleId, trail, geofencesBefore, changedAtMs, events);
      if (kind === 'vehicle' && id === vehicleId && !definition) this.#trails.delete(vehicleId);
    }
    return events;
  }

  process({ vehicleId, receivedAtMs, positions }: TelemetryPacket, offset: number): FleetEvent[] {
    const fresh: Trail = { offset: -1, good: [], away: [], visits: new Map(), runs: new Map() };
    const trail = this.#trails.get(vehicleId) ?? fresh;
    this.#trails.set(vehicleId, trail);
    const events: FleetEvent[] = [];
    if (offset <= trail.offset) return events;
    trail.offset = offset;
    for (const position of positions) {
      if (!position.valid || rejectionOf(position, receivedAtMs)) continue;
      const last = trail.good.at(-1);
      if (last && position.fixTimeMs <= last.position.fixTimeMs) continue;
      let way = last;
      if (last && isJump(last.position, position)) {
        const suspect = trail.away.at(-1);
        if (suspect && position.fixTimeMs <= suspect.fixTimeMs) continue;
        if (suspect && isJump(suspect, position)) trail.away = [];
        trail.away.push(position);
        const [first] = trail.away;
        if (trail.away.length < 3 || position.fixTimeMs - (first?.fixTimeMs ?? 0) < 120_000) continue;
        way = undefined;
      }
      trail.away = [];
      const metres = way ? metresBetween(way.position, position) : 0;
      const speedKmh =
        position.speedKmh ??
        (way ? metres / 1000 / ((position.fixTimeMs - way.position.fixTimeMs) / 3_600_000) : (last?.speedKmh ?? null));
      const fix: Fix = { position, speedKmh, metres };
      this.#visits(vehicleId, trail, way, fix, events);
      this.#speeds(vehicleId, trail, way, fix, events);
      trail.good.push(fix);
    }
    return events;
  }

  #watching(vehicleId: string): Geofence[] {
    const vehicle = this.vehicles.get(vehicleId);
    if (!vehicle) return [];
    return [...this.geofences.values()]
      .filter((geofence) => {
        const owner = this.users.get(geofence.ownerId);
        return owner !== undefined && watches(geofence, owner, vehicle);
      })
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Raw insideness with when it last changed, and what of it was told: `minDwellSeconds` lies between the two. */
  #visits(vehicleId: string, trail: Trail, way: Fix | undefined, fix: Fix, events: FleetEvent[]): void {
    for (const geofence of this.#watching(vehicleId)) {
      const inside = isInside(geofence.shape, fix.position);
      const visit = trail.visits.get(geofence.id);
      const dwellMs = geofence.minDwellSeconds * 1000;
      const now = fix.position.fixTimeMs;
      if (trail.good.length === 0) {
        if (inside) trail.visits.set(geofence.id, silentVisit(fix, now));
        continue;
      }
      if (!visit && !inside) continue;
      const pair = visit ?? { raw: false, since: null, told: false, silent: false, entry: null };
      trail.visits.set(geofence.id, pair);
      const confirm = (untilMs: number) => {
        if (pair.raw === pair.told || !pair.since || untilMs - pair.since.atMs < dwellMs) return;
        if (pair.raw) {
          pair.entry = pair.since;
          pair.silent = false;
          events.push(visitEvent(vehicleId, geofence, pair.since, pair, null, null, now));
        } else if (pair.entry) {
          events.push(visitEvent(vehicleId, geofence, pair.entry, pair, pair.since, 'left', now));
        }
        pair.told = pair.raw;
      };
      if (inside !== pair.raw) {
        const crossing = crossingBetween(geofence.shape, way, fix);
        confirm(crossing.atMs);
        pair.raw = inside;
        pair.since = { ...crossing, fixTimeMs: now };
      }
      confirm(now);
      if (!pair.raw && !pair.told) trail.visits.delete(geofence.id);
    }
  }

  #speeds(vehicleId: string, trail: Trail, way: Fix | undefined, fix: Fix, events: FleetEvent[]): void {
    const vehicle = this.vehicles.get(vehicleId);
    const { speedKmh } = fix;
    if (!vehicle || speedKmh === null) return;
    const limits: Limit[] = this.#watching(vehicleId)
      .filter(({ speedLimitKmh, id }) => speedLimitKmh !== null || trail.runs.has(id))
      .map((geofence) => ({
        key: geofence.id,
        geofence,
        limitKmh: geofence.speedLimitKmh ?? Number.NaN,
        version: geofence.version,
        inside: isInside(geofence.shape, fix.position),
      }));
    if (vehicle.speedLimitKmh !== null)
      limits.unshift({
        key: '',
        geofence: null,
        limitKmh: vehicle.speedLimitKmh,
        version: vehicle.version,
        inside: true,
      });
    const began: Run[] = [];
    for (const limit of limits) {
      const run = trail.runs.get(limit.key);
      if (run && !limit.inside && limit.geofence) {
        const crossing = crossingBetween(limit.geofence.shape, way, fix);
        const before = run.fixes.at(-1)?.speedKmh ?? speedKmh;
        const { position } = fix;
        run.fixes.push({
          position: { ...position, fixTimeMs: crossing.exactMs },
          speedKmh: way ? before + (speedKmh - before) * crossing.fraction : speedKmh,
          metres: fix.metres * crossing.fraction,
        });
        if (run.told)
          events.push(runEvent(vehicleId, run, { ...crossing, speedKmh: fix.speedKmh }, 'left', position.fixTimeMs));
        trail.runs.delete(limit.key);
      } else if (run) {
        run.fixes.push(fix);
        if (speedKmh <= run.limitKmh) {
          if (run.told) events.push(runEvent(vehicleId, run, momentOf(fix), 'slowed', fix.position.fixTimeMs));
          trail.runs.delete(limit.key);
        } else if (!run.told && speedKmh <= run.limitKmh + vehicle.speedToleranceKmh) {
          trail.runs.delete(limit.key);
        } else {
          run.peakKmh = Math.max(run.peakKmh, speedKmh);
          tellRun(vehicleId, run, vehicle, fix, events);
        }
      }
      // A run that just ended below the limit cannot begin again with the same fix.
      if (trail.runs.has(limit.key) || !limit.inside || !(speedKmh > limit.limitKmh + vehicle.speedToleranceKmh))
        continue;
      const { key, geofence, limitKmh, version } = limit;
      const fresh: Run = { key, geofence, limitKmh, version, told: false, fixes: [fix], peakKmh: speedKmh };
      trail.runs.set(key, fresh);
      began.push(fresh);
    }
    for (const run of began) tellRun(vehicleId, run, vehicle, fix, events);
  }

  #redefine(
    vehicleId: string,
    trail: Trail,
    geofencesBefore: ReadonlyMap<string, Geofence>,
    atMs: number,
    events: FleetEvent[],
  ): void {
    const last = trail.good.at(-1);
    if (!last) return;
    const watching = this.#watching(vehicleId);
    const reasonFor = (before: Geofence) => {
      const geofence = this.geofences.get(before.id);
      if (!geofence) return 'geofence-deleted' as const;
      if (!watching.includes(geofence) || geofence.ownerId !== before.ownerId) return 'no-longer-watched' as const;
      const reshaped = JSON.stringify(before.shape) !== JSON.stringify(geofence.shape);
      return reshaped && !isInside(geofence.shape, last.position) ? ('geofence-changed' as const) : null;
    };
    for (const [id, visit] of [...trail.visits].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = geofencesBefore.get(id);
      if (!before) throw new Error('a visit to a geofence that never was');
      const reason = reasonFor(before);
      if (reason) {
        trail.visits.delete(id);
        if (visit.told && !visit.silent && visit.entry) {
          const end = { ...momentOf(last), atMs: Math.max(atMs, visit.entry.atMs) };
          events.push(visitEvent(vehicleId, before, visit.entry, visit, end, reason, last.position.fixTimeMs));
        }
      } else if (JSON.stringify(before.shape) !== JSON.stringify(this.geofences.get(id)?.shape) && !visit.raw) {
        visit.raw = true;
      }
    }
    for (const [key, run] of [...trail.runs].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const before = run.geofence ? geofencesBefore.get(run.geofence.id) : null;
      const vehicle = this.vehicles.get(vehicleId);
      const limitKmh = before ? this.geofences.get(before.id)?.speedLimitKmh : vehicle?.speedLimitKmh;
      const gone = before ? reasonFor(before) : vehicle ? null : ('no-longer-watched' as const);
      const reason = gone ?? (limitKmh === run.limitKmh ? null : ('limit-removed' as const));
      if (!reason) continue;
      trail.runs.delete(key);
      if (run.told) events.push(runEvent(vehicleId, run, momentOf(last), reason, last.position.fixTimeMs));
    }
    for (const geofence of watching)
      if (!trail.visits.has(geofence.id) && isInside(geofence.shape, last.position))
        trail.visits.set(geofence.id, silentVisit(last, Math.max(atMs, last.position.fixTimeMs)));
  }
}

interface Fix {
  position: Position;
  speedKmh: number | null;
  /** From the fix before. */
  metres: number;
}

interface Point {
  atMs: number;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
  fixTimeMs: number;
}

interface Visit {
  raw: boolean;
  since: Point | null;
  told: boolean;
  silent: boolean;
  entry: Point | null;
}

interface Limit {
  key: string;
  geofence: Geofence | null;
  limitKmh: number;
  version: number;
  inside: boolean;
}

interface Run {
  key: string;
  geofence: Geofence | null;
  limitKmh: number;
  version: number;
  told: boolean;
  fixes: Fix[];
  peakKmh: number;
}

interface Trail {
  offset: number;
  good: Fix[];
  away: Position[];
  visits: Map<string, Visit>;
  runs: Map<string, Run>;
}

function silentVisit(fix: Fix, atMs: number): Visit {
  const entry = { ...momentOf(fix), atMs, fixTimeMs: atMs };
  return { raw: true, since: entry, told: true, silent: true, entry };
}

function momentOf({ position, speedKmh }: Fix): Point {
  const { fixTimeMs, latitude, longitude } = position;
  return { atMs: fixTimeMs, latitude, longitude, speedKmh, fixTimeMs };
}

function metresBetween(a: Position, b: Position): number {
  return distance([a.longitude, a.latitude], [b.longitude, b.latitude], { units: 'meters' });
}

function isJump(a: Position, b: Position): boolean {
  return metresBetween(a, b) / 1000 / ((b.fixTimeMs - a.fixTimeMs) / 3_600_000) > 500;
}

export function isInside(shape: Shape, { longitude, latitude }: { longitude: number; latitude: number }): boolean {
  const point = [longitude, latitude];
  switch (shape.type) {
    case 'polygon':
      return booleanPointInPolygon(point, {
        type: 'Polygon',
        coordinates: shape.rings.map((ring) => ring.map(([x, y]) => [x, y])),
      });
    case 'circle':
      return distance(point, [...shape.center], { units: 'meters' }) <= shape.radiusM;
    case 'line':
      return shape.path.some((end, i) => {
        const start = shape.path[i - 1];
        return start !== undefined && metresToSegment(longitude, latitude, start, end) <= shape.widthM / 2;
      });
  }
}

/** On a map around the place, true to scale there. */
function metresToSegment(longitude: number, latitude: number, start: LngLat, end: LngLat): number {
  const degree = (6_371_008.8 * Math.PI) / 180;
  const scale = Math.cos((latitude * Math.PI) / 180);
  const [ax, ay] = [(start[0] - longitude) * scale * degree, (start[1] - latitude) * degree];
  const [bx, by] = [(end[0] - longitude) * scale * degree, (end[1] - latitude) * degree];
  const [dx, dy] = [bx - ax, by - ay];
  const t = Math.max(0, Math.min(1, -(ax * dx + ay * dy) / (dx * dx + dy * dy)));
  return Math.hypot(ax + t * dx, ay + t * dy);
}

/** Where the way first meets the boundary: of all a polygon's edges; of a convex shape by halving the way. */
function crossingBetween(shape: Shape, from: Fix | undefined, to: Fix) {
  const elapsedMs = from ? to.position.fixTimeMs - from.position.fixTimeMs : 0;
  const at = (t: number) => ({
    longitude: (from?.position.longitude ?? 0) * (1 - t) + to.position.longitude * t,
    latitude: (from?.position.latitude ?? 0) * (1 - t) + to.position.latitude * t,
  });
  if (!from || elapsedMs > 300_000 || isInside(shape, at(0)) === isInside(shape, at(1)))
    return { ...momentOf(to), fraction: 1, exactMs: to.position.fixTimeMs };
  const fraction = shape.type === 'polygon' ? firstEdge(shape.rings, at(0), at(1)) : halve(shape, at);
  const exactMs = from.position.fixTimeMs + elapsedMs * fraction;
  return { ...momentOf(to), ...at(fraction), atMs: Math.round(exactMs), fraction, exactMs };
}

function halve(shape: Shape, at: (t: number) => { longitude: number; latitude: number }): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (isInside(shape, at(middle)) === isInside(shape, at(0))) low = middle;
    else high = middle;
  }
  return high;
}

function firstEdge(
  rings: readonly (readonly LngLat[])[],
  from: { longitude: number; latitude: number },
  to: { longitude: number; latitude: number },
): number {
  const [dx, dy] = [to.longitude - from.longitude, to.latitude - from.latitude];
  let first = Number.POSITIVE_INFINITY;
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [a, b] = [ring[i - 1] as LngLat, ring[i] as LngLat];
      const [ex, ey] = [b[0] - a[0], b[1] - a[1]];
      const [fx, fy] = [a[0] - from.longitude, a[1] - from.latitude];
      const cross = dx * ey - dy * ex;
      if (cross === 0) continue;
      const t = (fx * ey - fy * ex) / cross;
      const s = (fx * dy - fy * dx) / cross;
      if (t >= 0 && t <= 1 && s >= 0 && s <= 1) first = Math.min(first, t);
    }
  }
  if (first > 1) throw new Error('a way that changes sides meets no edge');
  return first;
}

function visitEvent(
  vehicleId: string,
  geofence: Geofence,
  entry: Point,
  { silent }: Visit,
  exit: Omit<Point, 'fixTimeMs'> | null,
  endReason: Extract<FleetEvent, { kind: 'geofence-visit' }>['endReason'],
  fixTimeMs: number,
): FleetEvent {
  const place = exit ?? entry;
  return {
    kind: 'geofence-visit',
    id: deriveEventId(
      'geofence-visit',
      vehicleId as FleetEvent['vehicleId'],
      silent ? `${geofence.id} found` : geofence.id,
      entry.fixTimeMs,
    ),
    phase: exit ? 'end' : 'begin',
    vehicleId: vehicleId as FleetEvent['vehicleId'],
    startedAtMs: exit ? Math.min(entry.atMs, exit.atMs) : entry.atMs,
    endedAtMs: exit ? exit.atMs : null,
    latitude: place.latitude,
    longitude: place.longitude,
    speedKmh: place.speedKmh,
    fixTimeMs,
    geofenceId: geofence.id,
    geofenceVersion: geofence.version,
    endReason,
  };
}

function tellRun(vehicleId: string, run: Run, vehicle: Vehicle, fix: Fix, events: FleetEvent[]): void {
  const startedAtMs = run.fixes[0]?.position.fixTimeMs ?? 0;
  if (run.told || fix.position.fixTimeMs - startedAtMs < vehicle.speedingMinSeconds * 1000) return;
  run.told = true;
  events.push(runEvent(vehicleId, run, null, null, fix.position.fixTimeMs));
}

function runEvent(
  vehicleId: string,
  run: Run,
  end: Omit<Point, 'fixTimeMs'> | null,
  endReason: Extract<FleetEvent, { kind: 'speeding' }>['endReason'],
  fixTimeMs: number,
): FleetEvent {
  const [first] = run.fixes;
  if (!first) throw new Error('a run without a fix');
  let area = 0;
  let metres = 0;
  for (let i = 1; i < run.fixes.length; i++) {
    const [a, b] = [run.fixes[i - 1] as Fix, run.fixes[i] as Fix];
    area += (((a.speedKmh ?? b.speedKmh ?? 0) + (b.speedKmh ?? 0)) / 2) * (b.position.fixTimeMs - a.position.fixTimeMs);
    metres += b.metres;
  }
  const untilMs = end?.atMs ?? fixTimeMs;
  const startedAtMs = first.position.fixTimeMs;
  const place = end ?? momentOf(first);
  return {
    kind: 'speeding',
    id: deriveEventId('speeding', vehicleId as FleetEvent['vehicleId'], run.key, startedAtMs),
    phase: end ? 'end' : 'begin',
    vehicleId: vehicleId as FleetEvent['vehicleId'],
    startedAtMs,
    endedAtMs: end ? end.atMs : null,
    latitude: place.latitude,
    longitude: place.longitude,
    speedKmh: place.speedKmh,
    fixTimeMs,
    limitSource: run.geofence ? 'geofence' : 'vehicle',
    geofenceId: run.geofence?.id ?? null,
    definitionVersion: run.version,
    limitKmh: run.limitKmh,
    peakKmh: run.peakKmh,
    meanKmh: untilMs > startedAtMs ? area / (untilMs - startedAtMs) : run.peakKmh,
    distanceM: metres,
    endReason,
  };
}

/** Places and sums may differ in their last bits, times by the rounding to milliseconds: all else is to be the same. */
export function comparable(events: readonly FleetEvent[]): unknown[] {
  const near = (value: number | null, digits: number) => value && expect.closeTo(value, digits);
  return events.map((event) => ({
    ...event,
    startedAtMs: near(event.startedAtMs, -0.7),
    endedAtMs: near(event.endedAtMs, -0.7),
    latitude: near(event.latitude, 6),
    longitude: near(event.longitude, 6),
    speedKmh: near(event.speedKmh, 6),
    ...(event.kind === 'speeding'
      ? { peakKmh: near(event.peakKmh, 6), meanKmh: near(event.meanKmh, 2), distanceM: near(event.distanceM, 1) }
      : {}),
  }));
}

/** What one fix or change makes happen at several geofences, or to several vehicles, in an order of their own. */
export function inOrder(events: readonly FleetEvent[]): FleetEvent[] {
  const place = ({ vehicleId, fixTimeMs, kind, geofenceId }: FleetEvent) =>
    `${vehicleId} ${fixTimeMs} ${kind} ${geofenceId}`;
  return events.toSorted((a, b) => place(a).localeCompare(place(b)));
}

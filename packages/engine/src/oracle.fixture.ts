import {
  type DefinitionChange,
  type DriverShift,
  deriveEventId,
  driverCodeOf,
  eventSubjectOf,
  type FleetEvent,
  type Geofence,
  geofenceOf,
  type LngLat,
  type Offline,
  type Position,
  rejectionOf,
  ringsOf,
  type Shape,
  type Stop,
  type TelemetryPacket,
  type User,
  type Vehicle,
  watches,
} from '@outrider/domain';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';
import { expect } from 'vitest';
import { SensorOracle } from './sensors/sensor-oracle.fixture.ts';

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
    if (kind === 'notification-rule' || kind === 'video-profile' || kind === 'driver') return [];
    if (version <= (this.#versions.get(id) ?? 0)) return [];
    this.#versions.set(id, version);
    const geofencesBefore = new Map(this.geofences);
    const vehicleBefore = this.vehicles.get(id);
    const map = { user: this.users, vehicle: this.vehicles, geofence: this.geofences, group: new Map() }[kind];
    if (definition) (map as Map<string, unknown>).set(id, definition);
    else map.delete(id);

    const events: FleetEvent[] = [];
    for (const [vehicleId, trail] of this.#trails) {
      const before = events.length;
      this.#redefine(vehicleId, trail, geofencesBefore, changedAtMs, events);
      name(trail, events, before);
      if (kind !== 'vehicle' || id !== vehicleId) continue;
      if (definition) trail.sensors.redefine(this.vehicles.get(id) ?? null, events, vehicleBefore ?? null);
      name(trail, events, before);
      if (!definition) {
        if (vehicleBefore) {
          const ended: FleetEvent[] = [];
          this.#stopWatching(vehicleBefore, trail, changedAtMs, ended);
          trail.sensors.redefine(null, ended, vehicleBefore);
          name(trail, ended, 0);
          events.push(...ended);
        }
        this.#trails.delete(vehicleId);
      } else if (!vehicleBefore) {
        trail.receivedLastAtMs = Math.max(trail.receivedLastAtMs, changedAtMs);
      }
    }
    return events;
  }

  /** Nothing more is to be expected from before. */
  advance(nowMs: number): FleetEvent[] {
    const events: FleetEvent[] = [];
    for (const [vehicleId, trail] of this.#trails) {
      const before = events.length;
      this.#fallSilent(vehicleId, trail, nowMs, events);
      name(trail, events, before);
    }
    return events;
  }

  process({ vehicleId, receivedAtMs, positions }: TelemetryPacket, offset: number): FleetEvent[] {
    const fresh: Trail = {
      offset: -1,
      good: [],
      away: [],
      visits: new Map(),
      runs: new Map(),
      motion: null,
      receivedLastAtMs: 0,
      offline: null,
      quiet: false,
      ignition: null,
      supplied: null,
      newestRecordMs: 0,
      lasting: [],
      said: { atMs: 0, contents: new Set() },
      sayings: [],
      shifts: [],
      sensors: new SensorOracle(),
      ahead: { inARow: 0, newestMs: 0 },
    };
    const trail = this.#trails.get(vehicleId) ?? fresh;
    this.#trails.set(vehicleId, trail);
    const events: FleetEvent[] = [];
    if (offset <= trail.offset) return events;
    trail.offset = offset;

    this.#fallSilent(vehicleId, trail, receivedAtMs, events);
    name(trail, events, 0);
    if (trail.offline) {
      const endedAtMs = Math.max(trail.receivedLastAtMs, receivedAtMs);
      const why = { ...this.#why(vehicleId), endReason: 'online' as const };
      events.push({ ...trail.offline, phase: 'end', endedAtMs, fixTimeMs: endedAtMs, ...why });
      trail.offline = null;
    }
    trail.quiet = false;
    trail.receivedLastAtMs = Math.max(trail.receivedLastAtMs, receivedAtMs);

    let named = events.length;
    for (const position of positions.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs)) {
      // Each by the shifts that its own fix, and no later one, has made known.
      name(trail, events, named);
      named = events.length;
      const last = trail.good.at(-1);
      if (position.fixTimeMs > receivedAtMs + 60_000) {
        const isGood = position.valid && !rejectionOf(position, receivedAtMs);
        const { ahead } = trail;
        if (isGood && position.fixTimeMs > ahead.newestMs) ahead.inARow++;
        const isCounted = position.fixTimeMs <= receivedAtMs + 86_400_000;
        if (isCounted) ahead.newestMs = Math.max(ahead.newestMs, position.fixTimeMs);
        // The third in a row is of a clock that is fast.
        if (ahead.inARow < 3 || !isGood) continue;
      } else if (position.valid) trail.ahead.inARow = 0;
      if (!position.valid || rejectionOf(position, receivedAtMs)) {
        this.#hearsay(vehicleId, trail, last, position, receivedAtMs, events);
        continue;
      }
      if (last && position.fixTimeMs <= last.position.fixTimeMs) {
        if (position.fixTimeMs === last.position.fixTimeMs && position.fixTimeMs >= trail.newestRecordMs) {
          // The fix that moved the vehicle is known, even where no profile was known then.
          if (trail.said.atMs !== position.fixTimeMs)
            trail.said = { atMs: position.fixTimeMs, contents: new Set([contentOf(last.position)]) };
          this.#records(vehicleId, trail, position, momentOf(last), events);
          this.#sensors(vehicleId, trail, position, momentOf(last), events);
        }
        continue;
      }
      const isSaid = trail.said.atMs === position.fixTimeMs && trail.said.contents.has(contentOf(position));
      if (isSaid && position.fixTimeMs === trail.newestRecordMs) continue;
      let way = last;
      if (last && isJump(last.position, position)) {
        const suspect = trail.away.at(-1);
        const isNews = !suspect || position.fixTimeMs > suspect.fixTimeMs;
        if (isNews) {
          if (suspect && isJump(suspect, position)) trail.away = [];
          trail.away.push(position);
        }
        const [first] = trail.away;
        if (!isNews || trail.away.length < 3 || position.fixTimeMs - (first?.fixTimeMs ?? 0) < 120_000) {
          this.#hearsay(vehicleId, trail, last, position, receivedAtMs, events);
          continue;
        }
        way = undefined;
      }
      trail.away = [];
      const metres = way ? metresBetween(way.position, position) : 0;
      const isReported = position.speedKmh !== null && position.speedKmh <= 500;
      const speedKmh =
        (isReported ? position.speedKmh : null) ??
        (way ? metres / 1000 / ((position.fixTimeMs - way.position.fixTimeMs) / 3_600_000) : (last?.speedKmh ?? null));
      const fix: Fix = { position, speedKmh, metres };
      this.#visits(vehicleId, trail, way, fix, events);
      this.#speeds(vehicleId, trail, way, fix, events);
      const ignitionBefore = trail.ignition;
      if (position.fixTimeMs >= trail.newestRecordMs) {
        const shiftAt = { ...momentOf(fix), speedKmh: position.speedKmh };
        const harsh = way ? harshBetween(this.vehicles.get(vehicleId), way.position, position) : {};
        this.#records(vehicleId, trail, position, momentOf(fix), events, shiftAt, harsh);
      }
      if (position.fixTimeMs >= trail.newestRecordMs) this.#sensors(vehicleId, trail, position, momentOf(fix), events);
      this.#motion(vehicleId, trail, last, way, fix, ignitionBefore, events);
      trail.good.push(fix);
    }
    name(trail, events, named);
    return events;
  }

  /** Would {@link advance} find a vehicle silent that it did not know to be? Of one without a fix there is no event. */
  hasSilent(nowMs: number): boolean {
    return [...this.#trails].some(
      ([vehicleId, trail]) => this.#dueMs(vehicleId, trail) <= nowMs || this.#tripUntilMs(vehicleId, trail) < nowMs,
    );
  }

  /** Longest silence within a trip. */
  #tripUntilMs(vehicleId: string, { good, motion, receivedLastAtMs }: Trail): number {
    const vehicle = this.vehicles.get(vehicleId);
    const last = good.at(-1)?.position;
    if (!vehicle || !last || !motion?.trip) return Number.POSITIVE_INFINITY;
    return Math.max(receivedLastAtMs, last.fixTimeMs) + vehicle.tripGapMinutes * 60_000;
  }

  #fallSilent(vehicleId: string, trail: Trail, nowMs: number, events: FleetEvent[]): void {
    this.#silence(vehicleId, trail, nowMs, events);
    const vehicle = this.vehicles.get(vehicleId);
    const { motion } = trail;
    if (!vehicle || !motion?.trip || nowMs <= this.#tripUntilMs(vehicleId, trail)) return;
    const [lastPoint] = motion.points.slice(-1) as [WayPoint];
    events.push(
      tripBeforeGap(vehicle, motion, motion.trip, lastPoint.position.fixTimeMs + vehicle.tripGapMinutes * 60_000),
    );
    motion.trip = null;
    if (!motion.stoodFrom) trail.motion = null;
  }

  /** From when on the vehicle is offline, if nothing comes. */
  #dueMs(vehicleId: string, { quiet, offline, receivedLastAtMs }: Trail): number {
    const vehicle = this.vehicles.get(vehicleId);
    if (!vehicle || quiet || offline) return Number.POSITIVE_INFINITY;
    return receivedLastAtMs + vehicle.offlineAfterMinutes * 60_000;
  }

  /** A record that moves nothing still says what it says besides its place, if its time can be believed and is new. */
  #hearsay(
    vehicleId: string,
    trail: Trail,
    last: Fix | undefined,
    record: Position,
    receivedAtMs: number,
    events: FleetEvent[],
  ): void {
    const atMs = record.fixTimeMs;
    if (!last || atMs > receivedAtMs + 600_000 || atMs < Date.UTC(2005, 0, 1)) return;
    if (atMs < Math.max(last.position.fixTimeMs, trail.newestRecordMs) || !this.vehicles.has(vehicleId)) return;
    if (atMs > last.position.fixTimeMs) trail.newestRecordMs = atMs;
    const at = { ...momentOf(last), atMs, fixTimeMs: atMs, speedKmh: null };
    this.#records(vehicleId, trail, record, at, events);
    this.#sensors(vehicleId, trail, record, at, events);
  }

  #sensors(vehicleId: string, { sensors }: Trail, record: Position, at: Point, events: FleetEvent[]): void {
    const vehicle = this.vehicles.get(vehicleId);
    if (vehicle) sensors.take(vehicle, record, at, events);
  }

  #why(vehicleId: string) {
    return { definitionVersion: this.vehicles.get(vehicleId)?.version ?? 0, origin: 'live' as const, inferred: false };
  }

  /**
   * Offline from ten minutes (or what the vehicle says) after the last packet, if there was a place to be offline at.
   */
  #silence(vehicleId: string, trail: Trail, nowMs: number, events: FleetEvent[]): void {
    const vehicle = this.vehicles.get(vehicleId);
    const last = trail.good.at(-1)?.position;
    const dueMs = this.#dueMs(vehicleId, trail);
    if (!vehicle || nowMs < dueMs) return;
    trail.quiet = !last;
    if (!last) return;
    trail.offline = {
      kind: 'offline',
      id: deriveEventId('offline', vehicle.id, '', trail.receivedLastAtMs),
      phase: 'begin',
      vehicleId: vehicle.id,
      startedAtMs: trail.receivedLastAtMs,
      endedAtMs: null,
      latitude: last.latitude,
      longitude: last.longitude,
      speedKmh: null,
      fromFixTimeMs: last.fixTimeMs,
      fixTimeMs: dueMs,
      startLatitude: last.latitude,
      startLongitude: last.longitude,
      ...this.#why(vehicleId),
      endReason: null,
    };
    events.push(trail.offline);
  }

  /** Ignition, alarms and power: what is on from the first record that says so to the first that says otherwise. */
  #records(
    vehicleId: string,
    trail: Trail,
    record: Position,
    at: Point,
    events: FleetEvent[],
    shiftAt: Point = at,
    harsh: Readonly<Record<string, number>> = {},
  ): void {
    const vehicle = this.vehicles.get(vehicleId);
    if (!vehicle) return;
    const isBeside = trail.said.atMs === record.fixTimeMs;
    if (!isBeside) trail.said = { atMs: record.fixTimeMs, contents: new Set() };
    if (trail.said.contents.has(contentOf(record))) return;
    trail.said.contents.add(contentOf(record));
    this.#drivers(vehicle, trail, record, isBeside, shiftAt, events);
    const wasKnown = trail.ignition !== null;
    // In a second in which it went on and off it does not go on again.
    if (!(isBeside && trail.said.wasBriefly && record.ignition)) trail.ignition = record.ignition ?? trail.ignition;
    if (
      trail.ignition === false &&
      trail.lasting.some(({ what, start }) => what === 'ignition' && start.atMs === at.atMs)
    )
      trail.said.wasBriefly = true;
    if (record.supplyV !== null && record.supplyV >= 5) trail.supplied = true;
    if (record.supplyV !== null && record.supplyV < 1 && trail.supplied !== null) trail.supplied = false;
    const on = new Set<string>([...record.alarms, ...Object.keys(harsh)]);
    if (trail.ignition) on.add('ignition');
    if (trail.supplied === false) on.add('power-cut');
    // What another record of this second raised, this one does not clear.
    if (isBeside) for (const { what } of trail.lasting) if (what !== 'ignition') on.add(what);

    for (const lasting of trail.lasting)
      if (!on.has(lasting.what))
        events.push(
          lastingEvent(
            vehicle,
            lasting,
            at,
            { ignition: 'switched-off', 'power-cut': 'restored' }[lasting.what] ?? 'cleared',
            at.fixTimeMs,
          ),
        );
    trail.lasting = trail.lasting.filter(({ what }) => on.has(what));
    for (const what of on) {
      const known = trail.lasting.find((lasting) => lasting.what === what);
      if (known && what in harsh) known.mps2.push(harsh[what] as number);
      if (known) continue;
      const mps2 = what in harsh ? [harsh[what] as number] : [];
      const lasting: Lasting = { what, silent: what === 'ignition' && !wasKnown, start: at, mps2 };
      trail.lasting.push(lasting);
      if (!lasting.silent) events.push(lastingEvent(vehicle, lasting, null, null, at.fixTimeMs));
    }
  }

  /**
   * All that was ever said of drivers is kept; each time, all shifts are made of it anew, and what is new of them is
   * reported.
   */
  #drivers(
    vehicle: Vehicle,
    trail: Trail,
    { attributes, ignition, speedKmh }: Position,
    isBeside: boolean,
    at: Point,
    events: FleetEvent[],
  ): void {
    const raw = attributes?.driverCardInserted === false ? '' : attributes?.driverCode;
    const isUsed = ignition ?? trail.ignition ?? (speedKmh ?? 0) > vehicle.movingSpeedKmh;
    const code = raw === undefined ? null : driverCodeOf(raw);
    trail.sayings.push({ at, code: code === '' && isBeside ? null : code, isUsed, isBeside });
    const before = trail.shifts;
    trail.shifts = shiftsOf(trail.sayings);
    for (const [nth, shift] of trail.shifts.entries()) {
      const known = before[nth];
      if (known === undefined) events.push(shiftEvent(vehicle, shift, false, shift.start.fixTimeMs));
      if (shift.end && !known?.end) events.push(shiftEvent(vehicle, shift, true, at.fixTimeMs));
    }
  }

  /**
   * All fixes since the vehicle set out, or came to stand, are kept; what a trip or a stop adds up to is counted at its
   * end.
   */
  #motion(
    vehicleId: string,
    trail: Trail,
    last: Fix | undefined,
    way: Fix | undefined,
    fix: Fix,
    ignitionBefore: boolean | null,
    events: FleetEvent[],
  ): void {
    const vehicle = this.vehicles.get(vehicleId);
    if (!vehicle) return;
    const now = fix.position.fixTimeMs;
    const stopMs = vehicle.tripStopMinutes * 60_000;
    const elapsedMs = last ? now - last.position.fixTimeMs : 0;
    const awayM = (place: WayPoint) => metresBetween(place.position, fix.position);
    const awayFrom = (place: WayPoint) => awayM(place) > vehicle.movingDistanceM;
    const endStop = (motion: PlainMotion, at: WayPoint, reason: 'moved' | 'ignition' | 'gap') => {
      if (motion.stop) events.push(stopEvent(vehicle, motion, motion.stop, at, reason, now));
      motion.stop = null;
    };
    const beginStop = (motion: PlainMotion, from: WayPoint, kind: 'parking' | 'idling') => {
      motion.stop = { kind, from };
      events.push(stopEvent(vehicle, motion, motion.stop, null, null, now));
    };

    let motion = trail.motion;
    if (motion && last && (!way || elapsedMs > vehicle.tripGapMinutes * 60_000)) {
      const [lastPoint, stoodFrom] = [motion.points.at(-1) as WayPoint, motion.stoodFrom];
      const isThere = way !== undefined && stoodFrom !== null && !awayFrom(stoodFrom);
      const gapMs = vehicle.tripGapMinutes * 60_000;
      const knownAtMs = elapsedMs > gapMs ? last.position.fixTimeMs + gapMs : now;
      if (motion.trip) events.push(tripBeforeGap(vehicle, motion, motion.trip, knownAtMs));
      motion.trip = null;
      if (!isThere) {
        endStop(motion, lastPoint, 'gap');
        motion = null;
      }
    }

    if (motion?.stoodFrom && !motion.stop && now - motion.stoodFrom.position.fixTimeMs >= stopMs) {
      if (motion.trip) events.push(tripEvent(vehicle, motion, motion.trip, motion.stoodFrom, 'stopped', now));
      motion.trip = null;
      beginStop(motion, motion.stoodFrom, ignitionBefore ? 'idling' : 'parking');
    }
    const turnedAt = motion?.turnedAt;
    if (motion?.stop && turnedAt && now - turnedAt.position.fixTimeMs >= stopMs) {
      const { kind } = motion.stop;
      endStop(motion, turnedAt, 'ignition');
      beginStop(motion, turnedAt, kind === 'parking' ? 'idling' : 'parking');
      motion.turnedAt = null;
    }

    const isOff = trail.ignition === false;
    const stood = motion?.stoodFrom ?? null;
    const byPlace = motion?.trip?.byPlace ?? false;
    // With the ignition off a receiver wanders, and some terminals always say 0: then it moves once it is far away.
    const least = isOff && !byPlace ? Math.max(20, vehicle.movingSpeedKmh) : vehicle.movingSpeedKmh;
    const repeats =
      way &&
      fix.position.speedKmh !== null &&
      fix.position.speedKmh === way.position.speedKmh &&
      Math.abs(fix.position.latitude - way.position.latitude) < 3e-5 &&
      Math.abs(fix.position.longitude - way.position.longitude) < 3e-5 &&
      fix.position.speedKmh * elapsedMs > 20 * 3600;
    const speeds = fix.speedKmh !== null && fix.speedKmh > least && !repeats;
    const bySpeed = stood ? (speeds && !isOff) || ((speeds || trail.ignition === true) && awayFrom(stood)) : speeds;
    const leastM = Math.max(vehicle.movingDistanceM, byPlace ? 0 : isOff ? 300 : 500);
    const saysZero = fix.position.speedKmh === 0;
    const displaced =
      !bySpeed &&
      (stood
        ? (isOff || saysZero) && awayM(stood) > leastM
        : byPlace && saysZero && fix.metres > vehicle.movingDistanceM);
    const moving = bySpeed || displaced;
    const crow = stood && displaced ? { metres: awayM(stood), sinceMs: now - stood.position.fixTimeMs } : null;
    const [metres, ms] = crow ? [crow.metres, crow.sinceMs] : [fix.metres, elapsedMs];
    const movedKmh = Math.max(displaced ? metres / 1000 / (ms / 3_600_000) : 0, fix.speedKmh ?? 0);
    const point: WayPoint = { ...fix, moving, ignitionBefore, elapsedMs, crow, movedKmh };
    motion ??= { points: [], trip: null, stop: null, stoodFrom: null, turnedAt: null };
    trail.motion = motion;
    motion.points.push(point);
    if (moving) {
      endStop(motion, point, 'moved');
      motion.stoodFrom = null;
      motion.turnedAt = null;
      if (motion.trip) {
        motion.trip.byPlace ||= crow !== null;
      } else {
        motion.trip = { from: point, lead: leadInto(vehicle, motion.points.slice(0, -1), point), byPlace: displaced };
        events.push(tripEvent(vehicle, motion, motion.trip, null, null, now));
      }
    } else {
      motion.stoodFrom ??= point;
      if (motion.stop) {
        const says = trail.ignition ? 'idling' : 'parking';
        motion.turnedAt = says === motion.stop.kind ? null : (motion.turnedAt ?? point);
      }
    }
  }

  /** The vehicle is no longer defined: all that it was in the middle of ends. */
  #stopWatching(vehicle: Vehicle, trail: Trail, atMs: number, events: FleetEvent[]): void {
    const last = trail.good.at(-1);
    if (!last) return;
    const { motion } = trail;
    const lastPoint = motion?.points.at(-1);
    const lastMs = last.position.fixTimeMs;
    if (motion?.trip && lastPoint)
      events.push(tripEvent(vehicle, motion, motion.trip, lastPoint, 'no-longer-watched', lastMs));
    if (motion?.stop && lastPoint)
      events.push(stopEvent(vehicle, motion, motion.stop, lastPoint, 'no-longer-watched', lastMs));
    const shift = trail.shifts.at(-1);
    if (shift && !shift.end) {
      const ended = { ...shift, end: shift.seen, reason: 'no-longer-watched' as const };
      events.push(shiftEvent(vehicle, ended, true, shift.seen.fixTimeMs));
    }
    for (const lasting of trail.lasting) {
      const end = { ...momentOf(last), atMs: Math.max(lastMs, lasting.start.atMs) };
      if (!lasting.silent) events.push(lastingEvent(vehicle, lasting, end, 'no-longer-watched', lastMs));
    }
    if (trail.offline) {
      const endedAtMs = Math.max(atMs, trail.receivedLastAtMs);
      const why = { definitionVersion: vehicle.version, endReason: 'no-longer-watched' as const };
      events.push({ ...trail.offline, phase: 'end', endedAtMs, fixTimeMs: endedAtMs, ...why });
    }
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

  /** Raw insideness with when it last changed, and what of it was reported: `minDwellSeconds` lies between the two. */
  #visits(vehicleId: string, trail: Trail, way: Fix | undefined, fix: Fix, events: FleetEvent[]): void {
    const now = fix.position.fixTimeMs;
    for (const geofence of this.#watching(vehicleId)) {
      const { shape } = geofence;
      const inside = isInside(shape, fix.position);
      const visit = trail.visits.get(geofence.id);
      const dwellMs = geofence.minDwellSeconds * 1000;
      if (trail.good.length === 0) {
        if (inside) trail.visits.set(geofence.id, silentVisit(fix, now));
        continue;
      }
      const pair = visit ?? { raw: false, since: null, reported: false, silent: false, inferred: false, entry: null };
      const passage = !pair.raw && !inside ? passageBetween(shape, way, fix) : null;
      if (!visit && !inside && !passage) continue;
      trail.visits.set(geofence.id, pair);
      const confirm = (untilMs: number) => {
        if (pair.raw === pair.reported || !pair.since || untilMs - pair.since.atMs < dwellMs) return;
        if (pair.raw) {
          pair.entry = pair.since;
          pair.silent = false;
          events.push(visitEvent(vehicleId, geofence, pair.since, pair, null, null, now));
        } else if (pair.entry) {
          events.push(visitEvent(vehicleId, geofence, pair.entry, pair, pair.since, 'left', now));
        }
        pair.reported = pair.raw;
      };
      const change = (raw: boolean, point: Omit<Point, 'fixTimeMs' | 'fromFixTimeMs'>, fromFixTimeMs: number) => {
        confirm(point.atMs);
        pair.raw = raw;
        pair.since = { ...point, fixTimeMs: now, fromFixTimeMs };
      };
      if (passage) {
        const fromMs = passage.from.position.fixTimeMs;
        change(true, passage.entry, fromMs);
        if (!pair.reported) pair.inferred = true;
        change(false, passage.exit, fromMs);
      } else if (inside !== pair.raw) {
        const crossing = crossingBetween(shape, way, fix);
        const isBetween = way !== undefined && crossing.fraction < 1;
        change(inside, crossing, isBetween ? way.position.fixTimeMs : now);
        if (inside) pair.inferred = false;
      }
      confirm(now);
      if (!pair.raw && !pair.reported) trail.visits.delete(geofence.id);
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
        // At the end as it is published, in whole milliseconds.
        const wayMs = way ? position.fixTimeMs - way.position.fixTimeMs : 0;
        const share = way ? (crossing.atMs - way.position.fixTimeMs) / wayMs : 1;
        const endKmh = before + (speedKmh - before) * share;
        run.peakKmh = Math.max(run.peakKmh, endKmh);
        run.fixes.push({
          position: { ...position, fixTimeMs: crossing.atMs },
          speedKmh: endKmh,
          metres: fix.metres * crossing.fraction,
        });
        if (run.reported)
          events.push(runEvent(vehicleId, run, { ...crossing, speedKmh: fix.speedKmh }, 'left', position.fixTimeMs));
        trail.runs.delete(limit.key);
      } else if (run) {
        run.fixes.push(fix);
        if (speedKmh <= run.limitKmh) {
          if (run.reported) events.push(runEvent(vehicleId, run, momentOf(fix), 'slowed', fix.position.fixTimeMs));
          trail.runs.delete(limit.key);
        } else if (!run.reported && speedKmh <= run.limitKmh + vehicle.speedToleranceKmh) {
          trail.runs.delete(limit.key);
        } else {
          run.peakKmh = Math.max(run.peakKmh, speedKmh);
          reportRun(vehicleId, run, vehicle, fix, events);
        }
      }
      // A run that just ended below the limit cannot begin again with the same fix.
      if (trail.runs.has(limit.key) || !limit.inside || !(speedKmh > limit.limitKmh + vehicle.speedToleranceKmh))
        continue;
      const { key, geofence, limitKmh, version } = limit;
      const fresh: Run = { key, geofence, limitKmh, version, reported: false, fixes: [fix], peakKmh: speedKmh };
      trail.runs.set(key, fresh);
      began.push(fresh);
    }
    for (const run of began) reportRun(vehicleId, run, vehicle, fix, events);
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
        if (visit.reported && !visit.silent && visit.entry) {
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
      if (run.reported) events.push(runEvent(vehicleId, run, momentOf(last), reason, last.position.fixTimeMs));
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
  fromFixTimeMs: number;
}

/** Harsh driving between two fixes, by vectors of speed in m/s. */
function harshBetween(vehicle: Vehicle | undefined, a: Position, b: Position): Record<string, number> {
  const s = (b.fixTimeMs - a.fixTimeMs) / 1000;
  if (!vehicle || s < 0.5 || s > 5 || a.speedKmh === null || b.speedKmh === null) return {};
  const [before, after] = [a.speedKmh / 3.6, b.speedKmh / 3.6];
  const measured = { 'harsh-acceleration': (after - before) / s, 'harsh-braking': (before - after) / s };
  let across = 0;
  if (a.courseDeg !== null && b.courseDeg !== null && a.speedKmh >= 15 && b.speedKmh >= 15) {
    const [x, y] = [a.courseDeg, b.courseDeg].map((deg) => (deg * Math.PI) / 180) as [number, number];
    const angle = Math.acos(Math.max(-1, Math.min(1, Math.cos(x) * Math.cos(y) + Math.sin(x) * Math.sin(y))));
    across = (((before + after) / 2) * angle) / s;
  }
  const limits = {
    'harsh-acceleration': vehicle.harshAccelerationMps2,
    'harsh-braking': vehicle.harshBrakingMps2,
    'harsh-cornering': vehicle.harshCorneringMps2,
  };
  return Object.fromEntries(
    Object.entries({ ...measured, 'harsh-cornering': across }).filter(
      ([what, mps2]) => mps2 > (limits[what as keyof typeof limits] ?? 99) && mps2 <= 12,
    ),
  );
}

/** Ignition, an alarm or a power cut. */
interface Lasting {
  what: string;
  silent: boolean;
  start: Point;
  /** What positions showed of it, where it is harsh driving. */
  mps2: number[];
}

interface WayPoint extends Fix {
  moving: boolean;
  ignitionBefore: boolean | null;
  /** Since the point before. */
  elapsedMs: number;
  /** From where it stood, where only the place shows that it moved. */
  crow: { metres: number; sinceMs: number } | null;
  /** At which speed it moved, by its terminal or by its places. */
  movedKmh: number;
}

/** A part of a trip. */
interface Leg {
  /** Null without a reading. */
  odometerM: number | null;
  fixesM: number;
  movingMs: number;
  idlingMs: number;
}

interface PlainTrip {
  from: WayPoint;
  lead: Leg[];
  byPlace: boolean;
}

interface PlainMotion {
  points: WayPoint[];
  trip: PlainTrip | null;
  stop: { kind: 'parking' | 'idling'; from: WayPoint } | null;
  stoodFrom: WayPoint | null;
  /** Since when the ignition has said that the stop is one of the other kind. */
  turnedAt: WayPoint | null;
}

interface Visit {
  raw: boolean;
  since: Point | null;
  reported: boolean;
  silent: boolean;
  inferred: boolean;
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
  reported: boolean;
  fixes: Fix[];
  peakKmh: number;
}

interface Trail {
  offset: number;
  good: Fix[];
  away: Position[];
  visits: Map<string, Visit>;
  runs: Map<string, Run>;
  motion: PlainMotion | null;
  receivedLastAtMs: number;
  offline: Offline | null;
  /** Silent for as long, but without a place to be offline at. */
  quiet: boolean;
  ignition: boolean | null;
  supplied: boolean | null;
  /** Of those that moved nothing. */
  newestRecordMs: number;
  lasting: Lasting[];
  /** What was said at the time of the newest record that said anything. */
  said: { atMs: number; contents: Set<string>; wasBriefly?: boolean };
  /** What records said of drivers. */
  sayings: { at: Point; code: string | null; isUsed: boolean; isBeside: boolean }[];
  shifts: PlainShift[];
  sensors: SensorOracle;
  /** Fixes ahead of their reception. */
  ahead: { inARow: number; newestMs: number };
}

interface PlainShift {
  code: string;
  start: Point;
  seen: Point;
  end: Point | null;
  reason: DriverShift['endReason'];
  /** Ended by another record of the time of a fix. */
  endsBeside?: boolean;
}

const HOUR_MS = 3_600_000;

/** One shift after the other, from the first thing that was said of drivers to the last. */
function shiftsOf(sayings: Trail['sayings']): PlainShift[] {
  const shifts: PlainShift[] = [];
  for (const { at, code: said, isUsed, isBeside } of sayings) {
    // A shift that began and ended in this second does not begin again in it.
    const isOver = shifts.some((each) => each.code === said && each.start.atMs === at.atMs && each.end !== null);
    const code = isOver ? null : said;
    const last = shifts.at(-1);
    const open = last?.end === null ? last : null;
    const ends =
      open === null
        ? null
        : at.atMs > open.seen.atMs + HOUR_MS
          ? ({ end: open.seen, reason: 'parked' } as const)
          : code !== null && code !== open.code
            ? ({ end: at, reason: code === '' ? 'card-removed' : 'other-driver', endsBeside: isBeside } as const)
            : null;
    if (open && ends) Object.assign(open, ends);
    if (open && !ends && (isUsed || code === open.code) && at.atMs > open.seen.atMs) open.seen = at;
    if ((!open || ends) && code) shifts.push({ code, start: at, seen: at, end: null, reason: null });
  }
  return shifts;
}

/** Names the driver in events from an index on: of all shifts that they have a part in the last. */
function name({ shifts }: Trail, events: FleetEvent[], from: number): void {
  for (const event of events.slice(from)) {
    if (event.kind === 'driver-shift' || event.kind === 'offline' || event.driverCode !== undefined) continue;
    const { startedAtMs, endedAtMs, fixTimeMs } = event;
    const shift = shifts.findLast(({ start, end, reason, endsBeside }) => {
      // Of a moment, those who began before.
      if (startedAtMs === endedAtMs && start.atMs >= startedAtMs) return false;
      if (start.atMs > startedAtMs && start.atMs >= (endedAtMs ?? fixTimeMs)) return false;
      if (end === null) return true;
      if (reason === 'parked') return startedAtMs <= end.atMs + HOUR_MS;
      return endsBeside ? startedAtMs <= end.atMs : startedAtMs < end.atMs;
    });
    if (shift) event.driverCode = shift.code;
  }
}

/** What makes a record of the same second another one. */
function contentOf({ latitude, longitude, valid, ignition, supplyV, alarms, attributes }: Position): string {
  const hasPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && (latitude !== 0 || longitude !== 0);
  const supply = supplyV === null ? 'unknown' : supplyV < 1 ? 'none' : supplyV < 5 ? 'little' : 'enough';
  return JSON.stringify([
    hasPlace,
    valid,
    ignition,
    supply,
    [...new Set(alarms)].sort(),
    Object.keys(attributes ?? {}),
  ]);
}

function silentVisit(fix: Fix, atMs: number): Visit {
  const entry = { ...momentOf(fix), atMs, fixTimeMs: atMs };
  return { raw: true, since: entry, reported: true, silent: true, inferred: false, entry };
}

function momentOf({ position, speedKmh }: Fix): Point {
  const { fixTimeMs, latitude, longitude } = position;
  return { atMs: fixTimeMs, latitude, longitude, speedKmh, fixTimeMs, fromFixTimeMs: fixTimeMs };
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
    case 'multipolygon':
      return shape.polygons.some((rings) => isInside({ type: 'polygon', rings }, { longitude, latitude }));
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

type Where = (t: number) => { longitude: number; latitude: number };

/** Where the way first meets the boundary. */
function crossingBetween(shape: Shape, from: Fix | undefined, to: Fix) {
  const elapsedMs = from ? to.position.fixTimeMs - from.position.fixTimeMs : 0;
  const at = wayOf(from, to);
  if (!from || elapsedMs > 300_000 || isInside(shape, at(0)) === isInside(shape, at(1)))
    return { ...momentOf(to), fraction: 1 };
  const fraction = isRound(shape) ? firstChange(shape, at) : firstEdge(ringsOf(shape), at(0), at(1));
  const atMs = Math.round(from.position.fixTimeMs + elapsedMs * fraction);
  return { ...momentOf(to), ...at(fraction), atMs, fraction };
}

function wayOf(from: Fix | undefined, to: Fix): Where {
  return (t) => ({
    longitude: (from?.position.longitude ?? 0) * (1 - t) + to.position.longitude * t,
    latitude: (from?.position.latitude ?? 0) * (1 - t) + to.position.latitude * t,
  });
}

/** The end of the stay that the way begins in; where it begins outside, the beginning of the first stay. */
function firstChange(shape: Round, at: Where): number {
  const presences = presencesIn(shape, at);
  if (!isInside(shape, at(0))) return Math.min(...presences.map(([entry]) => entry));
  let out = 0;
  for (;;) {
    const exit = Math.max(...presences.filter(([entry]) => entry <= out).map(([, exit]) => exit));
    if (exit <= out) return out;
    out = exit;
  }
}

/** A way between two fixes outside: where it first meets the boundary and where it last does. */
function passageBetween(shape: Shape, from: Fix | undefined, to: Fix) {
  const elapsedMs = from ? to.position.fixTimeMs - from.position.fixTimeMs : 0;
  const at = wayOf(from, to);
  if (!from || elapsedMs > 300_000 || isInside(shape, at(0)) || isInside(shape, at(1))) return null;
  const meetings = isRound(shape) ? presencesIn(shape, at).flat() : edgeMeetings(ringsOf(shape), at(0), at(1));
  if (meetings.length === 0) return null;
  const point = (t: number) => ({
    ...momentOf(to),
    ...at(t),
    atMs: Math.round(from.position.fixTimeMs + elapsedMs * t),
  });
  return { from, entry: point(Math.min(...meetings)), exit: point(Math.max(...meetings)) };
}

type Round = Exclude<Shape, { type: 'polygon' | 'multipolygon' }>;

function isRound(shape: Shape): shape is Round {
  return shape.type === 'circle' || shape.type === 'line';
}

/** The parts of the way inside: of a circle, or of a line piece by piece, each being convex. They may overlap. */
function presencesIn(shape: Round, at: Where): [entry: number, exit: number][] {
  if (shape.type === 'circle') return presenceIn(shape, at);
  return shape.path.slice(1).flatMap((end, i) => presenceIn({ ...shape, path: [shape.path[i] as LngLat, end] }, at));
}

/** Of a convex shape: on either side of where the way comes nearest to its middle, as far as it is inside. */
function presenceIn(shape: Round, at: Where): [entry: number, exit: number][] {
  const metresAt = (t: number) => {
    const { longitude, latitude } = at(t);
    if (shape.type === 'circle') return distance([longitude, latitude], [...shape.center], { units: 'meters' });
    const [start, end] = shape.path as [LngLat, LngLat];
    return metresToSegment(longitude, latitude, start, end);
  };
  const rangeM = shape.type === 'circle' ? shape.radiusM : shape.widthM / 2;
  // It cannot come nearer than by its own length.
  const [a, b] = [at(0), at(1)];
  const lengthM = distance([a.longitude, a.latitude], [b.longitude, b.latitude], { units: 'meters' });
  if (metresAt(0) > 1.01 * (rangeM + lengthM)) return [];
  let [low, high] = [0, 1];
  for (let i = 0; i < 100; i++) {
    const [left, right] = [low + (high - low) / 3, high - (high - low) / 3];
    if (metresAt(left) < metresAt(right)) high = right;
    else low = left;
  }
  const nearest = (low + high) / 2;
  if (!isInside(shape, at(nearest))) return [];
  return [
    [
      isInside(shape, at(0)) ? 0 : nearest * halve(shape, (t) => at(t * nearest)),
      isInside(shape, at(1)) ? 1 : nearest + (1 - nearest) * halve(shape, (t) => at(nearest + t * (1 - nearest))),
    ],
  ];
}

/** Where a way goes over the boundary that it goes over once. */
function halve(shape: Shape, at: Where): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (isInside(shape, at(middle)) === isInside(shape, at(0))) low = middle;
    else high = middle;
  }
  return high;
}

function firstEdge(...way: Parameters<typeof edgeMeetings>): number {
  const first = Math.min(...edgeMeetings(...way));
  if (first > 1) throw new Error('a way that changes sides meets no edge');
  return first;
}

/** All fractions of the way at which it meets an edge. */
function edgeMeetings(
  rings: readonly (readonly LngLat[])[],
  from: { longitude: number; latitude: number },
  to: { longitude: number; latitude: number },
): number[] {
  const [dx, dy] = [to.longitude - from.longitude, to.latitude - from.latitude];
  const meetings: number[] = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [a, b] = [ring[i - 1] as LngLat, ring[i] as LngLat];
      const [ex, ey] = [b[0] - a[0], b[1] - a[1]];
      const [fx, fy] = [a[0] - from.longitude, a[1] - from.latitude];
      const cross = dx * ey - dy * ex;
      if (cross === 0) continue;
      const t = (fx * ey - fy * ex) / cross;
      const s = (fx * dy - fy * dx) / cross;
      if (t >= 0 && t <= 1 && s >= 0 && s <= 1) meetings.push(t);
    }
  }
  return meetings;
}

function visitEvent(
  vehicleId: string,
  geofence: Geofence,
  entry: Point,
  { silent, inferred }: Visit,
  exit: Omit<Point, 'fixTimeMs' | 'fromFixTimeMs'> | null,
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
    fromFixTimeMs: entry.fromFixTimeMs,
    definitionVersion: geofence.version,
    origin: 'live',
    inferred,
    startLatitude: entry.latitude,
    startLongitude: entry.longitude,
    endReason,
  };
}

function reportRun(vehicleId: string, run: Run, vehicle: Vehicle, fix: Fix, events: FleetEvent[]): void {
  const startedAtMs = run.fixes[0]?.position.fixTimeMs ?? 0;
  if (run.reported || fix.position.fixTimeMs - startedAtMs < vehicle.speedingMinSeconds * 1000) return;
  run.reported = true;
  events.push(runEvent(vehicleId, run, null, null, fix.position.fixTimeMs));
}

function runEvent(
  vehicleId: string,
  run: Run,
  end: Omit<Point, 'fixTimeMs' | 'fromFixTimeMs'> | null,
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
    fromFixTimeMs: startedAtMs,
    fixTimeMs,
    origin: 'live',
    inferred: false,
    startLatitude: first.position.latitude,
    startLongitude: first.position.longitude,
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

function tripEvent(
  vehicle: Vehicle,
  { points }: PlainMotion,
  { from, lead }: PlainTrip,
  end: WayPoint | null,
  endReason: Extract<FleetEvent, { kind: 'trip' }>['endReason'],
  fixTimeMs: number,
): FleetEvent {
  const of = points.slice(points.indexOf(from), points.indexOf(end ?? from) + 1);
  const legs = legsOf(of);
  const leadM = believed(lead);
  const distanceM = believed([...lead, ...legs]);
  const totals = {
    distanceM,
    movingMs: legs.reduce((sum, leg) => sum + leg.movingMs, 0),
    idlingMs: legs.reduce((sum, leg) => sum + leg.idlingMs, 0),
  };
  const maxKmh = Math.max(...of.filter(({ moving }) => moving).map(({ movedKmh }) => movedKmh));
  const lastedMs = end ? end.position.fixTimeMs - from.position.fixTimeMs : 0;
  return {
    kind: 'trip',
    ...betweenPoints('trip', vehicle, from, end, fixTimeMs),
    ...totals,
    maxKmh,
    meanKmh: lastedMs > 0 ? (distanceM - leadM) / 1000 / (lastedMs / 3_600_000) : maxKmh,
    endReason,
  };
}

/** A trip that a gap follows: it goes as far as was seen, and no further than to where it came to stand. */
function tripBeforeGap(vehicle: Vehicle, motion: PlainMotion, trip: PlainTrip, knownAtMs: number) {
  const { stoodFrom, points } = motion;
  const reason = stoodFrom ? ('stopped' as const) : ('gap' as const);
  return tripEvent(vehicle, motion, trip, stoodFrom ?? (points.at(-1) as WayPoint), reason, knownAtMs);
}

/** The way from where it stood last to where it is first seen to move, if that is a movement and no jitter. */
function leadInto(vehicle: Vehicle, before: WayPoint[], first: WayPoint): Leg[] {
  const stood = before.at(-1);
  if (!stood) return [];
  if (first.crow) {
    const since = before.findIndex(
      ({ position }) => position.fixTimeMs === first.position.fixTimeMs - (first.crow?.sinceMs ?? 0),
    );
    return legsOf([...before.slice(since), first]);
  }
  const kmh = first.metres / 1000 / (first.elapsedMs / 3_600_000);
  const moved = first.metres > vehicle.movingDistanceM || kmh > vehicle.movingSpeedKmh;
  const fixesM = moved ? first.metres : 0;
  return [{ odometerM: odometerMetres(stood, first), fixesM, movingMs: 0, idlingMs: 0 }];
}

/** What lies between points: a leg to each that moves or comes to stand, and one for all that it stands between. */
function legsOf(points: readonly WayPoint[]): Leg[] {
  const legs: Leg[] = [];
  let rest = { odometerM: 0, fixesM: 0, movingMs: 0, idlingMs: 0 };
  for (const [i, b] of points.entries()) {
    const a = points[i - 1];
    if (!a) continue;
    const odometerM = odometerMetres(a, b);
    if (!a.moving && !b.moving) {
      rest.odometerM += odometerM ?? 0;
      if (b.ignitionBefore) rest.idlingMs += b.elapsedMs;
      continue;
    }
    if (b.crow) {
      const { metres, sinceMs } = b.crow;
      const counted = odometerM === null ? null : rest.odometerM + odometerM;
      legs.push({ odometerM: counted, fixesM: metres, movingMs: sinceMs, idlingMs: 0 });
    } else {
      if (!a.moving) legs.push(rest);
      legs.push({ odometerM, fixesM: b.metres, movingMs: b.elapsedMs, idlingMs: 0 });
    }
    rest = { odometerM: 0, fixesM: 0, movingMs: 0, idlingMs: 0 };
  }
  legs.push(rest);
  return legs;
}

/**
 * The distance of legs: by the fixes where the odometer has no reading, else by the odometer, but for where it counted
 * less than half of the way between the fixes and lacked 500 m. Each part of the trip ends where the two agree.
 */
function believed(legs: readonly Leg[]): number {
  let metres = 0;
  let claims: number[] = [];
  let [odometerM, fixesM] = [0, 0];
  for (const leg of legs) {
    if (leg.odometerM === null) {
      metres += leg.fixesM;
      continue;
    }
    odometerM += leg.odometerM;
    fixesM += leg.fixesM;
    const agrees = odometerM >= fixesM / 2;
    claims.push(!agrees && fixesM - odometerM > 500 ? fixesM : odometerM);
    if (!agrees) continue;
    metres += Math.max(...claims);
    claims = [];
    [odometerM, fixesM] = [0, 0];
  }
  return metres + Math.max(0, ...claims);
}

function odometerMetres(a: WayPoint, b: WayPoint): number | null {
  if (a.position.odometerM === null || b.position.odometerM === null || b.position.odometerM === 0) return null;
  const metres = b.position.odometerM - a.position.odometerM;
  return metres >= 0 && metres / 1000 / (b.elapsedMs / 3_600_000) <= 500 ? metres : null;
}

/** @param end null for the begin: then what counts is up to the newest point that there was before it was reported */
function stopEvent(
  vehicle: Vehicle,
  { points }: PlainMotion,
  { kind, from }: { kind: 'parking' | 'idling'; from: WayPoint },
  end: WayPoint | null,
  endReason: Stop['endReason'],
  fixTimeMs: number,
): FleetEvent {
  const of = points.slice(points.indexOf(from) + 1, end ? points.indexOf(end) + 1 : points.length);
  const idlingMs = of.reduce((sum, point) => sum + (point.ignitionBefore ? point.elapsedMs : 0), 0);
  return { kind, ...betweenPoints(kind, vehicle, from, end, fixTimeMs), idlingMs, endReason };
}

function betweenPoints(kind: string, vehicle: Vehicle, from: WayPoint, end: WayPoint | null, fixTimeMs: number) {
  const { fixTimeMs: startedAtMs } = from.position;
  const { latitude, longitude } = (end ?? from).position;
  return {
    id: deriveEventId(kind, vehicle.id, '', startedAtMs),
    phase: end ? ('end' as const) : ('begin' as const),
    vehicleId: vehicle.id,
    startedAtMs,
    endedAtMs: end ? end.position.fixTimeMs : null,
    latitude,
    longitude,
    speedKmh: (end ?? from).speedKmh,
    fromFixTimeMs: startedAtMs,
    fixTimeMs,
    definitionVersion: vehicle.version,
    origin: 'live' as const,
    inferred: false,
    startLatitude: from.position.latitude,
    startLongitude: from.position.longitude,
  };
}

function shiftEvent(
  vehicle: Vehicle,
  { code, start, end, reason }: PlainShift,
  isEnd: boolean,
  fixTimeMs: number,
): FleetEvent {
  const { latitude, longitude, speedKmh } = (isEnd ? end : null) ?? start;
  return {
    kind: 'driver-shift',
    id: deriveEventId('driver-shift', vehicle.id, code, start.atMs),
    phase: isEnd ? 'end' : 'begin',
    vehicleId: vehicle.id,
    startedAtMs: start.atMs,
    endedAtMs: isEnd && end ? end.atMs : null,
    latitude,
    longitude,
    speedKmh,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion: vehicle.version,
    origin: 'live',
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
    driverCode: code,
    endReason: isEnd ? reason : null,
  };
}

function lastingEvent(
  vehicle: Vehicle,
  { what, silent, start, mps2 }: Lasting,
  end: Point | null,
  endReason: string | null,
  fixTimeMs: number,
): FleetEvent {
  const manoeuvre = /^harsh-(.*)/.exec(what)?.[1];
  const kind = what === 'ignition' || what === 'power-cut' ? what : manoeuvre ? 'harsh-driving' : 'alarm';
  const { latitude, longitude, speedKmh } = end ?? start;
  return {
    kind,
    id: deriveEventId(kind, vehicle.id, kind === 'alarm' || manoeuvre ? what : silent ? 'found' : '', start.atMs),
    phase: end ? 'end' : 'begin',
    vehicleId: vehicle.id,
    startedAtMs: start.atMs,
    endedAtMs: end ? end.atMs : null,
    latitude,
    longitude,
    speedKmh,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion: vehicle.version,
    origin: 'live',
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
    ...(kind === 'alarm' ? { alarm: what } : {}),
    ...(manoeuvre ? { manoeuvre, peakMps2: mps2.length > 0 ? Math.max(...mps2) : null } : {}),
    endReason,
  } as FleetEvent;
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
    startLatitude: near(event.startLatitude ?? null, 6),
    startLongitude: near(event.startLongitude ?? null, 6),
    speedKmh: near(event.speedKmh, 6),
    ...(event.kind === 'speeding'
      ? { peakKmh: near(event.peakKmh, 6), meanKmh: near(event.meanKmh, 2), distanceM: near(event.distanceM, 1) }
      : {}),
    ...(event.kind === 'harsh-driving' ? { peakMps2: near(event.peakMps2, 3) } : {}),
    ...(event.kind === 'trip'
      ? { maxKmh: near(event.maxKmh, 6), meanKmh: near(event.meanKmh, 2), distanceM: near(event.distanceM, 1) }
      : {}),
  }));
}

/** What one fix or change makes happen at several geofences, or to several vehicles, in an order of their own. */
export function inOrder(events: readonly FleetEvent[]): FleetEvent[] {
  const place = (event: FleetEvent) => {
    const subject =
      event.kind === 'alarm' || event.kind === 'harsh-driving'
        ? eventSubjectOf(event)
        : event.kind === 'sensor-threshold'
          ? `${event.sensorId} ${event.thresholdId}`
          : geofenceOf(event);
    return `${event.vehicleId} ${event.fixTimeMs} ${event.kind} ${subject}`;
  };
  return events.toSorted((a, b) => place(a).localeCompare(place(b)));
}

import type { Vehicle } from '@outrider/client';
import { signal } from '@preact/signals';
import { Columns } from './columns.ts';
import { EARTH_RADIUS_M, latitudeOf, longitudeOf, mercatorX, mercatorY } from './mercator.ts';

/** The index of a state is its number in `Fleet.state`. */
export const STATES = ['unknown', 'moving', 'parking', 'idling', 'offline'] as const;
export type State = (typeof STATES)[number];

/** A glide to a new position takes as long as the time between the last two fixes, within these bounds. */
const SHORTEST_GLIDE_MS = 250;
const LONGEST_GLIDE_MS = 10_000;
/** Maximum time by which a moving vehicle is extrapolated from its fix. */
const LONGEST_AHEAD_MS = 15_000;
/** A vehicle that has stopped glides to its final position within this time. */
const STANDS_MS = 2000;
/** Weight of the newest interval in the moving average of the time between fixes. */
const NEWEST = 0.3;
/** A fix is overdue after this many times the usual interval, … */
const OVERDUE_STEPS = 3;
/** … plus this time, as networks have pauses. */
const OVERDUE_MS = 10_000;
/** Below this speed a vehicle counts as stopped, and the course of the receiver means nothing. */
const SLOWEST_KMH = 3;
/** A step farther than this is a jump, as a fraction of the world's width: about 3 km at 60° N. */
const JUMP = 1 / 8000;
/** Bits of `Fleet.trouble`. */
export const ALARMED = 1;
export const SPEEDING = 2;
/** Stands for no colour. */
export const NO_TINT = -1;
/** Minimum time between two updates of lists. */
const LIST_MS = 1000;
/** Lists are updated after the map: a message is drawn there before rows are rendered again. */
const AFTER_PICTURE_MS = 100;

/** A fix as it arrives, by REST or the live API. */
export interface Fix {
  latitude: number;
  longitude: number;
  fixMs: number;
  /** Null if unknown. */
  speedKmh: number | null;
  courseDeg: number | null;
}

export interface Status {
  state: State;
  /** Null if unknown; undefined if unchanged. */
  sinceMs?: number | null | undefined;
  contactMs: number;
}

/** The driver of a vehicle, as the live API sends it. */
export interface Driving {
  driver: { id: string; name: string } | null;
  /** Code that the terminal sent, even if it belongs to no driver. */
  code: string | null;
}

/** Offset by which a vehicle moves within a time after its fix, as a fraction of the world's width; null if unknown. */
function wayAhead({ latitude, speedKmh, courseDeg }: Fix, ms: number): { x: number; y: number; ms: number } | null {
  if (speedKmh === null || courseDeg === null || ms === 0) return null;
  if (speedKmh < SLOWEST_KMH) return { x: 0, y: 0, ms: Math.min(STANDS_MS, ms) };
  const metres = (speedKmh / 3600) * ms;
  const part = metres / (2 * Math.PI * EARTH_RADIUS_M * Math.cos((latitude * Math.PI) / 180));
  const course = (courseDeg * Math.PI) / 180;
  return { x: part * Math.sin(course), y: -part * Math.cos(course), ms };
}

/** All vehicles, by index. An index is valid until a vehicle is removed; an id never changes. */
export class Fleet extends Columns {
  count = 0;
  readonly vehicles: Vehicle[] = [];
  readonly #indexes = new Map<string, number>();
  readonly #driving = new Map<string, Driving>();
  /** Fill level in percent of the tanks that are monitored. */
  readonly #tanks = new Map<string, number>();

  /** Indexes changed since the map was last drawn. */
  dirtyFrom = 0;
  dirtyTo = 0;
  /** When the last glide ends, by `performance.now()`. */
  restsAtMs = 0;
  /** Grows with changes, at most once a second. */
  readonly version = signal(0);
  /** Id of the one vehicle that a panel follows. `watchedVersion` grows with each of its changes. */
  watched: string | null = null;
  readonly watchedVersion = signal(0);
  /** Grows with each change of a definition. Orders by name are valid until then. */
  definitions = 0;
  /** Live data of a vehicle is cleared when the vehicle is suspended: only operators see it then. */
  hidesSuspended = true;
  /** Called with the first change since the map was last drawn: not for each of 10,000. */
  onChange: () => void = () => {};
  #versionTimer: ReturnType<typeof setTimeout> | null = null;
  #lastVersionMs = -LIST_MS;

  indexOf(id: string): number {
    return this.#indexes.get(id) ?? -1;
  }

  /** Applies the list of definitions: adds and changes vehicles, and removes those that are not listed. */
  define(vehicles: readonly Vehicle[]): void {
    this.retain(new Set(vehicles.map(({ id }) => id)));
    for (const vehicle of vehicles) this.put(vehicle);
  }

  /** Removes all vehicles but these. */
  retain(ids: ReadonlySet<string>): void {
    for (let index = this.count - 1; index >= 0; index -= 1) {
      const id = this.vehicles[index]?.id;
      if (id !== undefined && !ids.has(id)) this.remove(id);
    }
  }

  put(vehicle: Vehicle): void {
    const known = this.#indexes.get(vehicle.id);
    const index = known ?? this.count;
    if (known === undefined) {
      this.reserve(index + 1);
      this.count += 1;
      this.#indexes.set(vehicle.id, index);
      this.shown[index] = 1;
    }
    const isHidden = vehicle.suspension !== null && this.hidesSuspended;
    if (known === undefined || isHidden) this.forget(index);
    if (isHidden) {
      this.#driving.delete(vehicle.id);
      this.#tanks.delete(vehicle.id);
    }
    this.vehicles[index] = vehicle;
    this.tint[index] = !vehicle.color ? NO_TINT : Number.parseInt(vehicle.color.slice(1), 16);
    this.definitions += 1;
    this.#changed(index);
  }

  remove(id: string): void {
    const index = this.#indexes.get(id);
    if (index === undefined) return;
    const last = this.count - 1;
    const moved = this.vehicles[last];
    if (moved !== undefined && index !== last) {
      this.vehicles[index] = moved;
      this.#indexes.set(moved.id, index);
      this.copy(last, index);
    }
    this.vehicles.length = last;
    this.#indexes.delete(id);
    this.#driving.delete(id);
    this.#tanks.delete(id);
    this.count = last;
    this.definitions += 1;
    this.#changed(Math.min(index, Math.max(0, last - 1)));
    if (this.watched === id) this.watchedVersion.value += 1;
  }

  clear(): void {
    this.define([]);
    this.#driving.clear();
    this.#tanks.clear();
  }

  /** Null: no known driver. */
  drivingOf(id: string): Driving | null {
    return this.#driving.get(id) ?? null;
  }

  /** The vehicle that each driver has now, by the driver's id. If a driver has several, the first. */
  vehiclesByDriver(): Map<string, Vehicle> {
    const found = new Map<string, Vehicle>();
    for (const [id, { driver }] of this.#driving) {
      const vehicle = driver === null ? undefined : this.vehicles[this.indexOf(id)];
      if (driver !== null && vehicle !== undefined && !found.has(driver.id)) found.set(driver.id, vehicle);
    }
    return found;
  }

  setDriving(id: string, driving: Driving | null): void {
    if (driving === null) {
      if (!this.#driving.delete(id)) return;
    } else this.#driving.set(id, driving);
    const index = this.#indexes.get(id);
    if (index !== undefined) this.#changed(index);
  }

  /** Fill level of the tank, in percent; null: no monitored tank. */
  tankOf(id: string): number | null {
    return this.#tanks.get(id) ?? null;
  }

  setTank(id: string, percent: number | null): void {
    if (percent === null) {
      if (!this.#tanks.delete(id)) return;
    } else this.#tanks.set(id, percent);
    const index = this.#indexes.get(id);
    if (index !== undefined) this.#changed(index);
  }

  /**
   * Applies a position. A moving vehicle is extrapolated: it continues from the fix with its speed and course for as
   * long as the interval before the fix. Any other vehicle glides to the fix from where it is drawn now.
   */
  move(id: string, fix: Fix, nowMs: number = performance.now()): void {
    const index = this.#indexes.get(id);
    if (index === undefined || fix.fixMs < (this.fixMs[index] ?? 0)) return;
    const before = this.fixMs[index] ?? 0;
    const fromX = this.drawnX(index, nowMs);
    const fromY = this.drawnY(index, nowMs);
    const x = mercatorX(fix.longitude);
    const y = mercatorY(fix.latitude);
    const isJump = before === 0 || !(Math.abs(x - fromX) < JUMP && Math.abs(y - fromY) < JUMP);
    const stepMs = before === 0 ? 0 : fix.fixMs - before;
    const ahead = this.stateOf(index) === 'moving' ? wayAhead(fix, Math.min(LONGEST_AHEAD_MS, stepMs)) : null;
    const glideMs = ahead?.ms ?? (isJump ? 0 : Math.min(LONGEST_GLIDE_MS, Math.max(SHORTEST_GLIDE_MS, stepMs)));
    this.fromX[index] = isJump ? x : fromX;
    this.fromY[index] = isJump ? y : fromY;
    this.x[index] = x + (ahead?.x ?? 0);
    this.y[index] = y + (ahead?.y ?? 0);
    this.startMs[index] = nowMs;
    this.glideMs[index] = glideMs;
    const rhythmMs = this.rhythmMs[index] || stepMs;
    this.rhythmMs[index] = rhythmMs + NEWEST * (stepMs - rhythmMs);
    this.overdue[index] = 0;
    this.restsAtMs = Math.max(this.restsAtMs, nowMs + glideMs);
    this.latitude[index] = fix.latitude;
    this.longitude[index] = fix.longitude;
    this.fixMs[index] = fix.fixMs;
    this.speedKmh[index] = fix.speedKmh ?? Number.NaN;
    if (fix.courseDeg !== null) this.courseDeg[index] = fix.courseDeg;
    if (fix.fixMs > (this.contactMs[index] ?? 0)) this.contactMs[index] = fix.fixMs;
    this.#changed(index);
  }

  /** Shows the vehicle as it was at an earlier time, in place of its current data; null: nothing is known. */
  recall(id: string, was: (Fix & { state: State }) | null): void {
    const index = this.#indexes.get(id);
    if (index === undefined) return;
    this.forget(index);
    this.#driving.delete(id);
    this.#tanks.delete(id);
    if (was !== null) {
      this.x[index] = this.fromX[index] = mercatorX(was.longitude);
      this.y[index] = this.fromY[index] = mercatorY(was.latitude);
      this.latitude[index] = was.latitude;
      this.longitude[index] = was.longitude;
      this.fixMs[index] = this.contactMs[index] = was.fixMs;
      this.speedKmh[index] = was.speedKmh ?? Number.NaN;
      this.courseDeg[index] = was.courseDeg ?? Number.NaN;
      this.state[index] = STATES.indexOf(was.state);
    }
    this.#changed(index);
  }

  setTrouble(id: string, trouble: number): void {
    const index = this.#indexes.get(id);
    if (index === undefined || this.trouble[index] === trouble) return;
    this.trouble[index] = trouble;
    this.#changed(index);
  }

  setStatus(id: string, { state, sinceMs, contactMs }: Status): void {
    const index = this.#indexes.get(id);
    if (index === undefined) return;
    this.state[index] = STATES.indexOf(state);
    if (sinceMs !== undefined) this.sinceMs[index] = sinceMs ?? 0;
    if (contactMs > (this.contactMs[index] ?? 0)) this.contactMs[index] = contactMs;
    this.#changed(index);
  }

  /** Marks the moving vehicles whose next fix is overdue. */
  noteOverdue(nowMs: number = performance.now()): void {
    for (let index = 0; index < this.count; index += 1) {
      const rhythmMs = this.rhythmMs[index] as number;
      const waitsMs = nowMs - (this.startMs[index] as number);
      const isMoving = this.stateOf(index) === 'moving';
      const overdue = isMoving && rhythmMs > 0 && waitsMs > OVERDUE_STEPS * rhythmMs + OVERDUE_MS ? 1 : 0;
      if (this.overdue[index] === overdue) continue;
      this.overdue[index] = overdue;
      this.#markDirty(index);
    }
  }

  /** Sets which vehicles the map draws. */
  setShown(isShown: (index: number) => boolean): void {
    for (let index = 0; index < this.count; index += 1) {
      const shown = isShown(index) ? 1 : 0;
      if (this.shown[index] === shown) continue;
      this.shown[index] = shown;
      this.#markDirty(index);
    }
  }

  stateOf(index: number): State {
    return STATES[this.state[index] ?? 0] ?? 'unknown';
  }

  /** Whether the vehicle has sent nothing for longer than it should. */
  isLate(index: number): boolean {
    return this.overdue[index] === 1 || this.stateOf(index) === 'offline';
  }

  /** Bounds of the positions of the chosen vehicles; null if none has a position. */
  boundsOf(isWithin: (index: number) => boolean): [west: number, south: number, east: number, north: number] | null {
    let [west, south, east, north] = [1, 0, 0, 1];
    for (let index = 0; index < this.count; index += 1) {
      if (!this.hasPosition(index) || !isWithin(index)) continue;
      const [x, y] = [this.x[index] as number, this.y[index] as number];
      [west, east] = [Math.min(west, x), Math.max(east, x)];
      [north, south] = [Math.min(north, y), Math.max(south, y)];
    }
    return east < west ? null : [longitudeOf(west), latitudeOf(south), longitudeOf(east), latitudeOf(north)];
  }

  #changed(index: number): void {
    this.#markDirty(index);
    if (this.watched !== null && this.vehicles[index]?.id === this.watched) this.watchedVersion.value += 1;
    if (this.#versionTimer !== null) return;
    const waitMs = Math.max(AFTER_PICTURE_MS, this.#lastVersionMs + LIST_MS - performance.now());
    this.#versionTimer = setTimeout(() => {
      this.#versionTimer = null;
      this.#lastVersionMs = performance.now();
      this.version.value += 1;
    }, waitMs);
  }

  #markDirty(index: number): void {
    const isFirst = this.dirtyTo === 0;
    this.dirtyFrom = isFirst ? index : Math.min(this.dirtyFrom, index);
    this.dirtyTo = Math.max(this.dirtyTo, index + 1);
    if (isFirst) this.onChange();
  }
}

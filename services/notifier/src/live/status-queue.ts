import type { VehicleId } from '@outrider/domain';
import { POSITION_BYTES, positionsFrame, statesFrame, type VehicleNumbers, vehiclesFrame } from './binary.ts';
import { listFrame } from './frames.ts';
import type { Subscription } from './messages.ts';
import type { Sight, StatusUpdate } from './status-update.ts';

/** Estimated wire size of a waiting update. */
const JSON_BYTES = 300;
const DRIVER_BYTES = 150;
const TANK_BYTES = 130;
const COUNTERS_BYTES = 150;
/** Records of one message. The others wait and may be replaced by newer ones. */
const MAX_IN_LIST = 200;
const MAX_IN_BINARY = 1000;

/** Updates that wait for a client, the newest of each vehicle. */
export interface WaitingUpdates {
  positions: Map<VehicleId, StatusUpdate>;
  states: Map<VehicleId, StatusUpdate>;
  /** Vehicles with another driver, for formats that send such details separately. */
  drivers: Map<VehicleId, StatusUpdate>;
  /** Vehicles with another fuel level, for the same formats. */
  tanks: Map<VehicleId, StatusUpdate>;
}

/** Format in which a client gets positions and states. */
export interface StatusFormat {
  readonly bytesPerUpdate: number;
  /** Whether driver and fuel level are separate messages instead of parts of the state. */
  readonly hasDetailsApart?: boolean;
  /** Messages for the waiting updates. Updates in a message are removed from the maps. */
  frames(waiting: WaitingUpdates): Iterable<Buffer>;
  /** Marks that the client has been sent the vehicle's UUID with its number. Only for formats that have numbers. */
  markIntroduced?(vehicleId: VehicleId): void;
}

/** Positions, states and counters that wait for a client: the newest of each vehicle. */
export class StatusQueue {
  readonly #waiting: WaitingUpdates = {
    positions: new Map(),
    states: new Map(),
    drivers: new Map(),
    tanks: new Map(),
  };
  /** Items of `counters`, which are the same in all formats. */
  readonly #counters = new Map<VehicleId, Buffer>();
  readonly #onBytes: (bytes: number) => void;
  #format: StatusFormat;
  #bytes = 0;

  /** @param onBytes called with the change of the waiting bytes; negative if some were taken or dropped */
  constructor(format: StatusFormat, onBytes: (bytes: number) => void) {
    this.#format = format;
    this.#onBytes = onBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Switches the format and drops all waiting updates. */
  begin(format: StatusFormat): void {
    this.clear();
    this.#format = format;
  }

  markIntroduced(vehicleId: VehicleId): void {
    this.#format.markIntroduced?.(vehicleId);
  }

  addPosition(update: StatusUpdate): void {
    this.#add(this.#waiting.positions, update);
  }

  addState(update: StatusUpdate): void {
    this.#add(this.#waiting.states, update);
  }

  /** Adds an update with another driver. */
  addDriver(update: StatusUpdate): void {
    const { states, drivers } = this.#waiting;
    this.#add(this.#format.hasDetailsApart === true ? drivers : states, update);
  }

  /** Adds an update with another fuel level. */
  addTank(update: StatusUpdate): void {
    const { states, tanks } = this.#waiting;
    this.#add(this.#format.hasDetailsApart === true ? tanks : states, update);
  }

  /** @param item the counters as JSON */
  addCounters(vehicleId: VehicleId, item: Buffer): void {
    this.#counters.delete(vehicleId);
    this.#counters.set(vehicleId, item);
    this.#count();
  }

  forget(vehicleId: VehicleId): void {
    for (const updates of [...Object.values(this.#waiting), this.#counters]) updates.delete(vehicleId);
    this.#count();
  }

  clear(): void {
    for (const updates of [...Object.values(this.#waiting), this.#counters]) updates.clear();
    this.#count();
  }

  *frames(): Generator<Buffer> {
    for (const frame of this.#format.frames(this.#waiting)) {
      this.#count();
      yield frame;
    }
    for (const items of chunksTaken(this.#counters, MAX_IN_LIST)) {
      this.#count();
      yield listFrame('{"type":"vehicle-counters","counters":[', items, ']}');
    }
  }

  #add(updates: Map<VehicleId, StatusUpdate>, update: StatusUpdate): void {
    // Deleted first, so that the vehicle is queued by its newest update.
    updates.delete(update.vehicleId);
    updates.set(update.vehicleId, update);
    this.#count();
  }

  #count(): void {
    const { positions, states, drivers, tanks } = this.#waiting;
    const bytes =
      (positions.size + states.size) * this.#format.bytesPerUpdate +
      drivers.size * DRIVER_BYTES +
      tanks.size * TANK_BYTES +
      this.#counters.size * COUNTERS_BYTES;
    if (bytes !== this.#bytes) this.#onBytes(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** A message for each position and each state. */
export class SingleMessages implements StatusFormat {
  readonly bytesPerUpdate = JSON_BYTES;
  readonly #sight: Sight;

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  *frames({ positions, states }: WaitingUpdates): Generator<Buffer> {
    for (const update of taken(positions)) yield update.positionFrame;
    for (const update of taken(states)) yield update.stateFrame(this.#sight);
  }
}

/** Lists of positions and lists of states, as JSON. */
export class ListMessages implements StatusFormat {
  readonly bytesPerUpdate = JSON_BYTES;
  readonly #sight: Sight;

  constructor(sight: Sight) {
    this.#sight = sight;
  }

  *frames({ positions, states }: WaitingUpdates): Generator<Buffer> {
    for (const some of chunksTaken(positions, MAX_IN_LIST)) {
      const items = some.map((update) => update.positionItem);
      yield listFrame('{"type":"positions","positions":[', items, ']}');
    }
    for (const some of chunksTaken(states, MAX_IN_LIST)) {
      const items = some.map((update) => update.stateItem(this.#sight));
      yield listFrame('{"type":"vehicle-states","states":[', items, ']}');
    }
  }
}

/** Records in binary messages. A vehicle that is new to the connection is introduced by its UUID and full state. */
export class BinaryMessages implements StatusFormat {
  readonly bytesPerUpdate = POSITION_BYTES;
  readonly hasDetailsApart = true;
  readonly #numbers: VehicleNumbers;
  readonly #sight: Sight;
  readonly #now: () => number;
  readonly #hasStates: boolean;
  readonly #hasDelays: boolean;
  /** A bit for each number: whether the client has its UUID. */
  #introduced = new Uint8Array(0);

  /** @param subscription drivers and fuel levels are sent with `states` only */
  constructor(
    numbers: VehicleNumbers,
    sight: Sight,
    now: () => number,
    { states, delays }: Pick<Subscription, 'states' | 'delays'>,
  ) {
    this.#numbers = numbers;
    this.#sight = sight;
    this.#now = now;
    this.#hasStates = states;
    this.#hasDelays = delays;
  }

  *frames(waiting: WaitingUpdates): Generator<Buffer> {
    const { positions, states, drivers, tanks } = waiting;
    const numbers = this.#numbers;
    for (const some of chunksTaken(positions, MAX_IN_BINARY)) {
      const [known, unknown] = this.#split(some);
      const records = known.map((update) => update.positionRecord(numbers));
      const nowMs = this.#now();
      const delaysMs = this.#hasDelays ? known.map(({ status }) => nowMs - status.lastContactAtMs) : null;
      yield joined(
        unknown.length > 0 ? this.#introduce(unknown, waiting) : null,
        records.length > 0 ? positionsFrame(records, nowMs, delaysMs) : null,
      );
    }
    for (const some of chunksTaken(states, MAX_IN_BINARY)) {
      const [known, unknown] = this.#split(some);
      const statuses = known.map(({ status }) => status);
      yield joined(
        unknown.length > 0 ? this.#introduce(unknown, waiting) : null,
        statuses.length > 0 ? statesFrame(statuses, numbers, this.#sight.geofence, this.#now()) : null,
      );
    }
    for (const some of chunksTaken(drivers, MAX_IN_LIST)) yield driversFrame(some, this.#sight);
    for (const some of chunksTaken(tanks, MAX_IN_LIST)) yield tanksFrame(some);
  }

  markIntroduced(vehicleId: VehicleId): void {
    const number = this.#numbers.of(vehicleId);
    const index = number >>> 3;
    if (index >= this.#introduced.length) {
      const grown = new Uint8Array(Math.max(64, 2 * index));
      grown.set(this.#introduced);
      this.#introduced = grown;
    }
    this.#introduced[index] = (this.#introduced[index] ?? 0) | (1 << (number & 7));
  }

  #isIntroduced(vehicleId: VehicleId): boolean {
    const number = this.#numbers.of(vehicleId);
    return ((this.#introduced[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  #split(updates: readonly StatusUpdate[]): [known: StatusUpdate[], unknown: StatusUpdate[]] {
    const known: StatusUpdate[] = [];
    const unknown: StatusUpdate[] = [];
    for (const update of updates) (this.#isIntroduced(update.vehicleId) ? known : unknown).push(update);
    return [known, unknown];
  }

  /** Introduces vehicles by records that include the state. Only driver and fuel level have to follow. */
  #introduce(updates: readonly StatusUpdate[], { states, drivers, tanks }: WaitingUpdates): Buffer {
    const vehicles = updates.map((update) => {
      const { vehicleId } = update;
      const state = states.get(vehicleId);
      states.delete(vehicleId);
      this.markIntroduced(vehicleId);
      if (this.#hasStates && update.hasDriver && !drivers.has(vehicleId)) drivers.set(vehicleId, update);
      if (this.#hasStates && update.hasTank && !tanks.has(vehicleId)) tanks.set(vehicleId, update);
      const isNewer = state !== undefined && state.status.asOfMs > update.status.asOfMs;
      return { vehicleId, status: (isNewer ? state : update).status };
    });
    return vehiclesFrame(vehicles, this.#numbers, this.#sight.geofence, this.#now());
  }
}

/** The drivers of these vehicles, as one message. */
export function driversFrame(updates: readonly StatusUpdate[], sight: Sight): Buffer {
  const items = updates.map((update) => update.driverItem(sight));
  return listFrame('{"type":"vehicle-drivers","drivers":[', items, ']}');
}

/** The fuel levels of these vehicles, as one message. */
export function tanksFrame(updates: readonly StatusUpdate[]): Buffer {
  const items = updates.map(({ tankItem }) => tankItem);
  return listFrame('{"type":"vehicle-tanks","tanks":[', items, ']}');
}

/** Combines two messages into one write: either both are sent or none. */
function joined(first: Buffer | null, second: Buffer | null): Buffer {
  return Buffer.concat([first, second].filter((frame) => frame !== null));
}

function* taken<Update>(updates: Map<VehicleId, Update>): Generator<Update> {
  for (const [vehicleId, update] of updates) {
    updates.delete(vehicleId);
    yield update;
  }
}

function* chunksTaken<Update>(updates: Map<VehicleId, Update>, length: number): Generator<Update[]> {
  let chunk: Update[] = [];
  for (const update of taken(updates)) {
    chunk.push(update);
    if (chunk.length < length) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

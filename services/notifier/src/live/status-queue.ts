import type { VehicleId } from '@outrider/domain';
import { POSITION_BYTES, positionsFrame, statesFrame, type VehicleNumbers, vehiclesFrame } from './binary.ts';
import { listFrame } from './frames.ts';
import type { SeesGeofence, StatusUpdate } from './status-update.ts';

/** What an update counts as while it waits: about what it is going to be on the wire. */
const JSON_BYTES = 300;
/** Records of one message. What does not go out waits, and may be replaced by something newer. */
const MAX_IN_LIST = 200;
const MAX_IN_BINARY = 1000;

/** How a client wants positions and states. */
export interface StatusFormat {
  readonly bytesPerUpdate: number;
  /** Messages for what waits; what is in a message is taken out of the maps. */
  frames(positions: Map<VehicleId, StatusUpdate>, states: Map<VehicleId, StatusUpdate>): Iterable<Buffer>;
  /** The client has been sent the vehicle's UUID with its number. Only for formats that have numbers. */
  markIntroduced?(vehicleId: VehicleId): void;
}

/** Positions and states that wait for a client: the newest of each vehicle. */
export class StatusQueue {
  readonly #positions = new Map<VehicleId, StatusUpdate>();
  readonly #states = new Map<VehicleId, StatusUpdate>();
  readonly #onBytes: (bytes: number) => void;
  #format: StatusFormat;
  #bytes = 0;

  /** @param onBytes called with what waits in addition; negative where it was taken or dropped */
  constructor(format: StatusFormat, onBytes: (bytes: number) => void) {
    this.#format = format;
    this.#onBytes = onBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Another format, for all that follows; what waits is dropped. */
  begin(format: StatusFormat): void {
    this.clear();
    this.#format = format;
  }

  markIntroduced(vehicleId: VehicleId): void {
    this.#format.markIntroduced?.(vehicleId);
  }

  addPosition(update: StatusUpdate): void {
    this.#add(this.#positions, update);
  }

  addState(update: StatusUpdate): void {
    this.#add(this.#states, update);
  }

  forget(vehicleId: VehicleId): void {
    this.#positions.delete(vehicleId);
    this.#states.delete(vehicleId);
    this.#count();
  }

  clear(): void {
    this.#positions.clear();
    this.#states.clear();
    this.#count();
  }

  *frames(): Generator<Buffer> {
    for (const frame of this.#format.frames(this.#positions, this.#states)) {
      this.#count();
      yield frame;
    }
  }

  #add(updates: Map<VehicleId, StatusUpdate>, update: StatusUpdate): void {
    // Deleted first, so that the vehicle takes the turn of its newest update.
    updates.delete(update.vehicleId);
    updates.set(update.vehicleId, update);
    this.#count();
  }

  #count(): void {
    const bytes = (this.#positions.size + this.#states.size) * this.#format.bytesPerUpdate;
    if (bytes !== this.#bytes) this.#onBytes(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}

/** A message for each position and each state. */
export class SingleMessages implements StatusFormat {
  readonly bytesPerUpdate = JSON_BYTES;
  readonly #sees: SeesGeofence;

  constructor(sees: SeesGeofence) {
    this.#sees = sees;
  }

  *frames(positions: Map<VehicleId, StatusUpdate>, states: Map<VehicleId, StatusUpdate>): Generator<Buffer> {
    for (const update of taken(positions)) yield update.positionFrame;
    for (const update of taken(states)) yield update.stateFrame(this.#sees);
  }
}

/** Lists of positions and lists of states, as JSON. */
export class ListMessages implements StatusFormat {
  readonly bytesPerUpdate = JSON_BYTES;
  readonly #sees: SeesGeofence;

  constructor(sees: SeesGeofence) {
    this.#sees = sees;
  }

  *frames(positions: Map<VehicleId, StatusUpdate>, states: Map<VehicleId, StatusUpdate>): Generator<Buffer> {
    for (const some of chunksTaken(positions, MAX_IN_LIST)) {
      const items = some.map((update) => update.positionItem);
      yield listFrame('{"type":"positions","positions":[', items, ']}');
    }
    for (const some of chunksTaken(states, MAX_IN_LIST)) {
      const items = some.map((update) => update.stateItem(this.#sees));
      yield listFrame('{"type":"vehicle-states","states":[', items, ']}');
    }
  }
}

/**
 * Records in binary messages. A vehicle that is new to the connection is introduced by its UUID and all that is known.
 */
export class BinaryMessages implements StatusFormat {
  readonly bytesPerUpdate = POSITION_BYTES;
  readonly #numbers: VehicleNumbers;
  readonly #sees: SeesGeofence;
  readonly #now: () => number;
  /** A bit for each number: the client has its UUID. */
  #introduced = new Uint8Array(0);

  constructor(numbers: VehicleNumbers, sees: SeesGeofence, now: () => number) {
    this.#numbers = numbers;
    this.#sees = sees;
    this.#now = now;
  }

  *frames(positions: Map<VehicleId, StatusUpdate>, states: Map<VehicleId, StatusUpdate>): Generator<Buffer> {
    const numbers = this.#numbers;
    for (const some of chunksTaken(positions, MAX_IN_BINARY)) {
      const [known, unknown] = this.#split(some);
      const records = known.map((update) => update.positionRecord(numbers));
      yield joined(
        unknown.length > 0 ? this.#introduce(unknown, states) : null,
        records.length > 0 ? positionsFrame(records, this.#now()) : null,
      );
    }
    for (const some of chunksTaken(states, MAX_IN_BINARY)) {
      const [known, unknown] = this.#split(some);
      const statuses = known.map(({ status }) => status);
      yield joined(
        unknown.length > 0 ? this.#introduce(unknown, states) : null,
        statuses.length > 0 ? statesFrame(statuses, numbers, this.#sees, this.#now()) : null,
      );
    }
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

  /** The records have the states, so no state has to follow. */
  #introduce(updates: readonly StatusUpdate[], states: Map<VehicleId, StatusUpdate>): Buffer {
    const vehicles = updates.map((update) => {
      const { vehicleId } = update;
      const state = states.get(vehicleId);
      states.delete(vehicleId);
      this.markIntroduced(vehicleId);
      const isNewer = state !== undefined && state.status.asOfMs > update.status.asOfMs;
      return { vehicleId, status: (isNewer ? state : update).status };
    });
    return vehiclesFrame(vehicles, this.#numbers, this.#sees, this.#now());
  }
}

/** Two messages in one write: both are sent or none. */
function joined(first: Buffer | null, second: Buffer | null): Buffer {
  return Buffer.concat([first, second].filter((frame) => frame !== null));
}

function* taken(updates: Map<VehicleId, StatusUpdate>): Generator<StatusUpdate> {
  for (const [vehicleId, update] of updates) {
    updates.delete(vehicleId);
    yield update;
  }
}

function* chunksTaken(updates: Map<VehicleId, StatusUpdate>, length: number): Generator<StatusUpdate[]> {
  let chunk: StatusUpdate[] = [];
  for (const update of taken(updates)) {
    chunk.push(update);
    if (chunk.length < length) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

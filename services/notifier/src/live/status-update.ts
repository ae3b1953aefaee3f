import {
  type DriverId,
  positionJson,
  tankJson,
  type VehicleActivity,
  type VehicleId,
  type VehicleStatus,
  vehicleStateJson,
} from '@outrider/domain';
import { positionRecord, type VehicleNumbers } from './binary.ts';
import { openEventsOf, type SeesGeofence } from './feeds/open-events.ts';
import { textFrame } from './frames.ts';

/** A driver as shown to a client. */
export interface ShownDriver {
  id: DriverId;
  name: string;
}

/** What a client may see besides its vehicles, by its rights at the time of each call. */
export interface Sight {
  geofence: SeesGeofence;
  /** Null if the client may not see the driver. */
  driver(id: DriverId): ShownDriver | null;
}

/** A vehicle's status on its way to clients. Each format is encoded once, when the first client needs it. */
export class StatusUpdate {
  readonly status: VehicleStatus;
  /** The driver; null if unknown. */
  readonly driverId: DriverId | null;
  #positionItem: Buffer | null = null;
  #positionFrame: Buffer | null = null;
  #positionRecord: Buffer | null = null;
  #stateItem: Buffer | null = null;
  #stateFrame: Buffer | null = null;
  #tankItem: Buffer | null = null;

  constructor(status: VehicleStatus, driverId: DriverId | null) {
    this.status = status;
    this.driverId = driverId;
  }

  /** Whether a driver or a driver code is known. */
  get hasDriver(): boolean {
    return this.driverId !== null || this.status.activity?.driverCode !== undefined;
  }

  get hasTank(): boolean {
    return this.status.tank !== undefined;
  }

  get vehicleId(): VehicleId {
    return this.status.vehicleId;
  }

  /** The status as an item of `positions`. Requires a position. */
  get positionItem(): Buffer {
    this.#positionItem ??= Buffer.from(this.#positionText);
    return this.#positionItem;
  }

  /** A complete `position` message. Requires a position. */
  get positionFrame(): Buffer {
    this.#positionFrame ??= textFrame(`{"type":"position",${this.#positionText.slice(1)}`);
    return this.#positionFrame;
  }

  positionRecord(numbers: VehicleNumbers): Buffer {
    this.#positionRecord ??= positionRecord(this.status, numbers.of(this.vehicleId));
    return this.#positionRecord;
  }

  /** The status as an item of `states`. */
  stateItem(sight: Sight): Buffer {
    if (this.#isPersonal) return Buffer.from(stateText(this, sight));
    this.#stateItem ??= Buffer.from(stateText(this, sight));
    return this.#stateItem;
  }

  /** A complete `vehicle-state` message. */
  stateFrame(sight: Sight): Buffer {
    const encode = () => textFrame(`{"type":"vehicle-state",${stateText(this, sight).slice(1)}`);
    if (this.#isPersonal) return encode();
    this.#stateFrame ??= encode();
    return this.#stateFrame;
  }

  /** The driver as an item of `drivers`. */
  driverItem(sight: Sight): Buffer {
    return Buffer.from(JSON.stringify({ vehicleId: this.vehicleId, ...driverOf(this, sight) }));
  }

  /** The fuel level as an item of `tanks`. */
  get tankItem(): Buffer {
    const { vehicleId, tank } = this.status;
    this.#tankItem ??= Buffer.from(JSON.stringify({ vehicleId, tank: tank === undefined ? null : tankJson(tank) }));
    return this.#tankItem;
  }

  /** Whether the state depends on the geofences and drivers that a client may see; most vehicles have neither. */
  get #isPersonal(): boolean {
    return this.driverId !== null || namesGeofences(this.status.activity);
  }

  get #positionText(): string {
    const { vehicleId, position } = this.status;
    return position === null ? '{}' : JSON.stringify(positionJson(vehicleId, position));
  }
}

function stateText(update: StatusUpdate, sight: Sight): string {
  return JSON.stringify(liveStateJson(update, sight));
}

/**
 * The state of a vehicle as in the live API. It includes only those geofences of open events, and only that driver,
 * that the client may see.
 */
export function liveStateJson(update: StatusUpdate, sight: Sight): Record<string, unknown> {
  const { status } = update;
  return {
    ...vehicleStateJson(status),
    ...openEventsOf(status.activity, sight.geofence),
    ...driverOf(update, sight),
  };
}

function driverOf({ status, driverId }: StatusUpdate, sight: Sight) {
  return {
    driver: driverId === null ? null : sight.driver(driverId),
    driverCode: status.activity?.driverCode ?? null,
  };
}

function namesGeofences(activity: VehicleActivity | null): boolean {
  return activity !== null && (activity.geofenceIds.length > 0 || activity.speeding.some((id) => id !== null));
}

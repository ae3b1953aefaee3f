import {
  type GeofenceId,
  positionJson,
  type VehicleActivity,
  type VehicleId,
  type VehicleStatus,
  vehicleStateJson,
} from '@outrider/domain';
import { positionRecord, type VehicleNumbers } from './binary.ts';
import { textFrame } from './frames.ts';

/** May the client know of a geofence that a vehicle is in? */
export type SeesGeofence = (geofenceId: GeofenceId) => boolean;

/** A vehicle's status on its way to clients. Each form is encoded once, when the first client needs it. */
export class StatusUpdate {
  readonly status: VehicleStatus;
  #positionItem: Buffer | null = null;
  #positionFrame: Buffer | null = null;
  #positionRecord: Buffer | null = null;
  #stateItem: Buffer | null = null;
  #stateFrame: Buffer | null = null;

  constructor(status: VehicleStatus) {
    this.status = status;
  }

  get vehicleId(): VehicleId {
    return this.status.vehicleId;
  }

  /** As an item of `positions`. Only for a status with a position. */
  get positionItem(): Buffer {
    this.#positionItem ??= Buffer.from(this.#positionText);
    return this.#positionItem;
  }

  /** A whole `position` message. Only for a status with a position. */
  get positionFrame(): Buffer {
    this.#positionFrame ??= textFrame(`{"type":"position",${this.#positionText.slice(1)}`);
    return this.#positionFrame;
  }

  positionRecord(numbers: VehicleNumbers): Buffer {
    this.#positionRecord ??= positionRecord(this.status, numbers.of(this.vehicleId));
    return this.#positionRecord;
  }

  /** As an item of `states`. */
  stateItem(sees: SeesGeofence): Buffer {
    // Clients differ by the geofences that they may see; most vehicles are in none.
    if (namesGeofences(this.status.activity)) return Buffer.from(stateText(this.status, sees));
    this.#stateItem ??= Buffer.from(stateText(this.status, sees));
    return this.#stateItem;
  }

  /** A whole `vehicle-state` message. */
  stateFrame(sees: SeesGeofence): Buffer {
    const encode = () => textFrame(`{"type":"vehicle-state",${stateText(this.status, sees).slice(1)}`);
    if (namesGeofences(this.status.activity)) return encode();
    this.#stateFrame ??= encode();
    return this.#stateFrame;
  }

  get #positionText(): string {
    const { vehicleId, position } = this.status;
    return position === null ? '{}' : JSON.stringify(positionJson(vehicleId, position));
  }
}

function stateText(status: VehicleStatus, sees: SeesGeofence): string {
  return JSON.stringify(liveStateJson(status, sees));
}

/**
 * The state of a vehicle as the live API shows it, with the geofences among its open events that the client may see.
 */
export function liveStateJson(status: VehicleStatus, sees: SeesGeofence): Record<string, unknown> {
  return { ...vehicleStateJson(status), ...openEventsOf(status.activity, sees) };
}

/** Geofences that the vehicle is in, and limits that it exceeds, of those that the client may see. */
export function openEventsOf(activity: VehicleActivity | null, sees: SeesGeofence) {
  const { geofenceIds = [], speeding = [] } = activity ?? {};
  return { geofenceIds: geofenceIds.filter(sees), speedingIn: speeding.filter((id) => id === null || sees(id)) };
}

function namesGeofences(activity: VehicleActivity | null): boolean {
  return activity !== null && (activity.geofenceIds.length > 0 || activity.speeding.some((id) => id !== null));
}

import {
  blankPosition,
  type Definition,
  type DefinitionChange,
  type DefinitionKind,
  type EventKind,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GroupId,
  type Position,
  type Shape,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofence, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from './engine.ts';

/** 2026-03-01T08:00:00Z: where the clocks of the tests start. */
export const T0 = Date.UTC(2026, 2, 1, 8);

export const OPERATOR = '00000000-0000-7000-8000-0000000000aa' as UserId;
export const VEHICLE = '00000000-0000-7000-8000-000000000001' as VehicleId;
export const FENCE = '00000000-0000-7000-8000-0000000000f1' as GeofenceId;
export const GROUP = '00000000-0000-7000-8000-0000000000e1' as GroupId;

export function user(fields: Partial<User> = {}): User {
  return sampleUser({ id: OPERATOR, ...fields });
}

export function vehicle(fields: Partial<Vehicle> = {}): Vehicle {
  return sampleVehicle({ id: VEHICLE, name: 'Van', ...fields });
}

/** A square of 0.02° around 0.1 E, 0.1 N: from 0.09 to 0.11 either way. */
export const SQUARE: Shape = {
  type: 'polygon',
  rings: [
    [
      [0.09, 0.09],
      [0.11, 0.09],
      [0.11, 0.11],
      [0.09, 0.11],
      [0.09, 0.09],
    ],
  ],
};

export function geofence(fields: Partial<Geofence> = {}): Geofence {
  return sampleGeofence({ id: FENCE, name: 'Depot', ownerId: OPERATOR, shape: SQUARE, ...fields });
}

export function changeTo(definition: Definition, changedAtMs = T0): DefinitionChange {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs, definition };
}

export function deletion(kind: DefinitionKind, id: string, version: number, changedAtMs: number): DefinitionChange {
  return { kind, id, version, changedAtMs, definition: null };
}

export function fix(seconds: number, longitude: number, latitude: number, fields: Partial<Position> = {}): Position {
  return { ...blankPosition(T0 + seconds * 1000, latitude, longitude), ...fields };
}

/** What a scene reports where it is not said otherwise: what comes of places and speeds. */
const VISITS_AND_SPEEDING: readonly EventKind[] = ['geofence-visit', 'speeding'];

/** An engine, and one vehicle's drive through it: a packet per call, received when its last fix was taken. */
export class Scene {
  engine = new Engine();
  offset = 0;
  /** Kinds of event that are reported. */
  kinds = VISITS_AND_SPEEDING;

  constructor(...definitions: Definition[]) {
    this.engine.load(definitions.map((definition) => changeTo(definition)));
  }

  drive(...positions: Position[]): FleetEvent[] {
    return this.send({ positions });
  }

  send({ positions, ...fields }: Partial<TelemetryPacket> & { positions: Position[] }): FleetEvent[] {
    const events: FleetEvent[] = [];
    const packet: TelemetryPacket = {
      vehicleId: VEHICLE,
      terminalId: '1' as TerminalId,
      protocol: 'osmand',
      receivedAtMs: Math.max(...positions.map(({ fixTimeMs }) => fixTimeMs)),
      positions,
      ...fields,
    };
    this.engine.process(packet, this.offset++, events);
    return this.#ofKinds(events);
  }

  /** Only what is said of these kinds. */
  only(...kinds: EventKind[]): this {
    this.kinds = kinds;
    return this;
  }

  define(definition: Definition, seconds: number): FleetEvent[] {
    return this.#ofKinds(this.engine.applyDefinition(changeTo(definition, T0 + seconds * 1000)));
  }

  remove(kind: DefinitionKind, id: string, version: number, seconds: number): FleetEvent[] {
    return this.#ofKinds(this.engine.applyDefinition(deletion(kind, id, version, T0 + seconds * 1000)));
  }

  /** Time has come up to now, and nothing more is to be expected from before. */
  advance(seconds: number): FleetEvent[] {
    const events: FleetEvent[] = [];
    this.engine.advance(T0 + seconds * 1000, events);
    return this.#ofKinds(events);
  }

  #ofKinds(events: FleetEvent[]): FleetEvent[] {
    return events.filter(({ kind }) => this.kinds.includes(kind));
  }
}

/** An event in a few words: `+` begin, `-` end with its reason; seconds after the start, to the millisecond. */
export function reported(events: readonly FleetEvent[]): string[] {
  return events.map((event) => {
    const at = event.phase === 'begin' ? event.startedAtMs : (event.endedAtMs ?? Number.NaN);
    const what = nameOf(event);
    return `${event.phase === 'begin' ? '+' : '-'}${what} @${(at - T0) / 1000}${event.endReason ? ` ${event.endReason}` : ''}`;
  });
}

function nameOf(event: FleetEvent): string {
  switch (event.kind) {
    case 'speeding':
      return `${event.limitSource} limit ${event.limitKmh}`;
    case 'geofence-visit':
      return event.inferred ? 'visit inferred' : 'visit';
    case 'alarm':
      return event.alarm;
    case 'harsh-driving':
      return `harsh-${event.manoeuvre}`;
    case 'driver-shift':
      return `driver ${event.driverCode}`;
    default:
      return event.kind;
  }
}

import type { LiveRecords } from './live-binary.ts';
import type { Command, FeedEvent, Notification, Position, VehicleCounters, VehicleState } from './schema.ts';

/** A vehicle's state as the live API sends it: without fields that only the REST API returns. */
export type LiveState = Pick<
  VehicleState,
  | 'vehicleId'
  | 'state'
  | 'stateSince'
  | 'online'
  | 'lastContactAt'
  | 'ignition'
  | 'supplyV'
  | 'fuelL'
  | 'sensors'
  | 'tank'
  | 'driver'
  | 'driverCode'
> & { alarms: string[] };

/** A definition that was created, changed or removed, if the caller may see it. The client reads it again by REST. */
export interface DefinitionChange {
  kind: 'vehicle' | 'group' | 'geofence' | 'user' | 'notification-rule' | 'video-profile' | 'driver';
  id: string;
  /** `added` also when the caller gained the right, `removed` when they lost it. */
  change: 'added' | 'changed' | 'removed';
  version: number | null;
}

/** A command to a terminal, as everybody with the right to send commands sees it. */
export type LiveCommand = Omit<Command, 'createdBy' | 'ruleId' | 'eventId'>;

/**
 * The current driver of a vehicle. Sent in the binary subprotocol, if states are requested. A record about `vehicles`
 * resets the driver to none; this message follows if there is a driver.
 */
export type LiveDriver = Pick<VehicleState, 'vehicleId' | 'driver' | 'driverCode'>;

/** Level of a vehicle's tank, sent like {@link LiveDriver} whenever the whole percentage changes. */
export type LiveTank = Pick<VehicleState, 'vehicleId' | 'tank'>;

/** Counters of a vehicle, sent when they grew or were corrected. */
export type LiveCounters = Omit<VehicleCounters, 'corrections'>;

/** Keep-alive: sent when nothing else was sent for the `heartbeatSeconds` of `resumed`. */
export interface LiveHeartbeat {
  type: 'heartbeat';
}

/** Answers a `ping`, after everything that was sent before. */
export interface LivePong {
  type: 'pong';
}

/** Messages of the server, except heartbeats and pongs. A newer server may send further types: ignore unknown ones. */
export type LiveMessage =
  | { type: 'authorized' }
  | { type: 'snapshot'; positions: Position[]; states?: LiveState[]; complete: boolean }
  | ({ type: 'position' } & Position)
  | ({ type: 'vehicle-state' } & LiveState)
  | { type: 'positions'; positions: Position[] }
  | { type: 'vehicle-states'; states: LiveState[] }
  | LiveRecords
  | { type: 'vehicle-drivers'; drivers: LiveDriver[] }
  | { type: 'vehicle-tanks'; tanks: LiveTank[] }
  | { type: 'vehicle-counters'; counters: LiveCounters[] }
  | { type: 'definition'; changes: DefinitionChange[] }
  | { type: 'unread'; count: number }
  /** Includes events changed by recalculations, unless `corrections` is false. For each id, the last message counts. */
  | ({ type: 'event'; cursor: string } & FeedEvent)
  | ({ type: 'notification'; cursor: string } & Notification)
  | { type: 'video-task'; id: string; vehicleId: string; status: string; progress: { percent: number; bytes: number } }
  | { type: 'command'; command: LiveCommand }
  | { type: 'report-job'; id: string; report: string; state: 'done' | 'failed'; error: string | null }
  /** An incident was opened or changed. The client reads it again by REST. */
  | {
      type: 'incident';
      id: string;
      version: number;
      severity: 'warning' | 'critical';
      state: 'open' | 'acknowledged' | 'closed';
    }
  /** Without `heartbeatSeconds`, the server is an older one, which sends no heartbeats. */
  | { type: 'resumed'; missed: number; missedNotifications: number; cursor: string; heartbeatSeconds?: number }
  | { type: 'gap'; stream: 'events' | 'corrections' | 'notifications'; from: number; to: number; detail: string }
  | { type: 'error'; detail: string };

/** What a client subscribes to. Without `vehicles` and `groups`, everything that the caller may see. */
export interface LiveSubscription {
  vehicles?: readonly string[];
  groups?: readonly string[];
  positions?: boolean;
  states?: boolean;
  /** Odometer and engine hours. Values before the first change are read by REST. */
  counters?: boolean;
  events?: boolean;
  /** Changes of past events by late data and recalculations. An event that did not happen has the phase `removed`. */
  corrections?: boolean;
  notifications?: boolean;
  videoTasks?: boolean;
  commands?: boolean;
  reportJobs?: boolean;
  /** Changes of incidents that the caller handles. Default: false. */
  incidents?: boolean;
  /** Positions and states as lists, one message for all of a moment. */
  batch?: boolean;
  /** Adds to positions in binary messages how long the service had them. Default: false. */
  delays?: boolean;
  /** Creation, change and removal of definitions. */
  definitions?: boolean;
  /** The number of unread notifications, whenever it changes. */
  unread?: boolean;
}

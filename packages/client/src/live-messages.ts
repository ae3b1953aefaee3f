import type { LiveRecords } from './live-binary.ts';
import type { Command, FeedEvent, Notification, Position, VehicleCounters, VehicleState } from './schema.ts';

/** A vehicle's state as the live API sends it: without what only a lookup answers. */
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

/** A definition that was made, changed or removed, as far as the caller may see it; it is read again by REST. */
export interface DefinitionChange {
  kind: 'vehicle' | 'group' | 'geofence' | 'user' | 'notification-rule' | 'video-profile' | 'driver';
  id: string;
  /** `added` also when the caller gained the right, `removed` when they lost it. */
  change: 'added' | 'changed' | 'removed';
  version: number | null;
}

/** A command to a terminal, as all see it who may give such. */
export type LiveCommand = Omit<Command, 'createdBy' | 'ruleId' | 'eventId'>;

/**
 * Who drives a vehicle now, in the binary subprotocol, where states are asked for. A record about `vehicles` makes the
 * driver nobody; this follows where somebody drives.
 */
export type LiveDriver = Pick<VehicleState, 'vehicleId' | 'driver' | 'driverCode'>;

/** What is in a vehicle's tank, as {@link LiveDriver} comes: whenever it is another whole percent. */
export type LiveTank = Pick<VehicleState, 'vehicleId' | 'tank'>;

/** What the counters of a vehicle show, when they were counted on or corrected. */
export type LiveCounters = Omit<VehicleCounters, 'corrections'>;

/** The connection lives: comes when nothing else was sent for the `heartbeatSeconds` of `resumed`. */
export interface LiveHeartbeat {
  type: 'heartbeat';
}

/** Answers a `ping`, behind all that was sent before. */
export interface LivePong {
  type: 'pong';
}

/**
 * What the server sends, beside heartbeats and pongs. A newer server may send further types: pass over what is unknown.
 */
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
  /** Also what recalculations made of events, unless `corrections` is false; by id, the last stands. */
  | ({ type: 'event'; cursor: string } & FeedEvent)
  | ({ type: 'notification'; cursor: string } & Notification)
  | { type: 'video-task'; id: string; vehicleId: string; status: string; progress: { percent: number; bytes: number } }
  | { type: 'command'; command: LiveCommand }
  | { type: 'report-job'; id: string; report: string; state: 'done' | 'failed'; error: string | null }
  /** An incident was opened or changed; it is read again by REST. */
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

/** What a client asks for. Without `vehicles` and `groups`, everything that the caller may see. */
export interface LiveSubscription {
  vehicles?: readonly string[];
  groups?: readonly string[];
  positions?: boolean;
  states?: boolean;
  /** Odometer and engine hours; what they show before they change is read by REST. */
  counters?: boolean;
  events?: boolean;
  /** What late data and recalculations make of events of the past; one that never happened has the phase `removed`. */
  corrections?: boolean;
  notifications?: boolean;
  videoTasks?: boolean;
  commands?: boolean;
  reportJobs?: boolean;
  /** Incidents that the caller deals with, whenever one changes. Default: false. */
  incidents?: boolean;
  /** Positions and states as lists, one message for all of a moment. */
  batch?: boolean;
  /** With positions in binary messages, for how long the service had them. Default: false. */
  delays?: boolean;
  /** What was made, changed or removed. */
  definitions?: boolean;
  /** The number of unread notifications, whenever it changes. */
  unread?: boolean;
}

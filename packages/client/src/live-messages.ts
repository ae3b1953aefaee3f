import type { LiveRecords } from './live-binary.ts';
import type { Notification, Position, PublishedEvent, VehicleState } from './schema.ts';

/** A vehicle's state as the live API sends it: without what only a lookup answers. */
export type LiveState = Pick<
  VehicleState,
  'vehicleId' | 'state' | 'stateSince' | 'online' | 'lastContactAt' | 'ignition' | 'supplyV' | 'fuelL'
> & { alarms: string[] };

/** A definition that was made, changed or removed, as far as the caller may see it; it is read again by REST. */
export interface DefinitionChange {
  kind: 'vehicle' | 'group' | 'geofence' | 'user' | 'notification-rule' | 'video-profile';
  id: string;
  /** `added` also when the caller gained the right, `removed` when they lost it. */
  change: 'added' | 'changed' | 'removed';
  version: number | null;
}

/** What the server sends. */
export type LiveMessage =
  | { type: 'authorized' }
  | { type: 'snapshot'; positions: Position[]; states?: LiveState[]; complete: boolean }
  | ({ type: 'position' } & Position)
  | ({ type: 'vehicle-state' } & LiveState)
  | { type: 'positions'; positions: Position[] }
  | { type: 'vehicle-states'; states: LiveState[] }
  | LiveRecords
  | { type: 'definition'; changes: DefinitionChange[] }
  | { type: 'unread'; count: number }
  | ({ type: 'event'; cursor: string } & PublishedEvent)
  | ({ type: 'notification'; cursor: string } & Notification)
  | { type: 'video-task'; id: string; vehicleId: string; status: string; progress: { percent: number; bytes: number } }
  | { type: 'report-job'; id: string; report: string; state: 'done' | 'failed'; error: string | null }
  | { type: 'resumed'; missed: number; missedNotifications: number; cursor: string }
  | { type: 'gap'; stream: 'events' | 'notifications'; from: number; to: number; detail: string }
  | { type: 'error'; detail: string };

/** What a client asks for. Without `vehicles` and `groups`, everything that the caller may see. */
export interface LiveSubscription {
  vehicles?: readonly string[];
  groups?: readonly string[];
  positions?: boolean;
  states?: boolean;
  events?: boolean;
  notifications?: boolean;
  videoTasks?: boolean;
  reportJobs?: boolean;
  /** Positions and states as lists, one message for all of a moment. */
  batch?: boolean;
  /** What was made, changed or removed. */
  definitions?: boolean;
  /** The number of unread notifications, whenever it changes. */
  unread?: boolean;
}

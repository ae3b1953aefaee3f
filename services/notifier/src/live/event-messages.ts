import {
  correctionJson,
  type EventCorrection,
  eventJson,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  type VehicleId,
} from '@outrider/domain';
import { correctionsTopic, eventsTopic, type Topic } from '@outrider/log';
import { textFrame } from './frames.ts';

/** An event as the live API sends it, encoded once. Only the cursor at its end differs from client to client. */
export interface EventMessage extends Pick<FleetEvent, 'id' | 'phase'> {
  offset: number;
  vehicleId: VehicleId;
  /** The geofence of the event: a client that may see the vehicle may not necessarily see the geofence. */
  geofenceId: GeofenceId | null;
  /** The message without its cursor and its closing brace. */
  json: Buffer;
}

/** Consecutive events of one partition. */
export interface EventRange {
  messages: readonly EventMessage[];
  /** Index of the first message in the range. */
  start: number;
  /** The range has every message below this offset; `messages` may continue beyond it. */
  endOffset: number;
}

/** Memory of an event besides its JSON. */
const OVERHEAD_BYTES = 300;

/** A topic whose records are sent to clients as events. */
export interface LiveTopic<T> {
  name: 'events' | 'corrections';
  topic: Topic<T>;
  messageOf(offset: number, value: T): EventMessage;
}

export const EVENTS: LiveTopic<FleetEvent> = {
  name: 'events',
  topic: eventsTopic,
  messageOf: (offset, event) => eventMessage(offset, event, eventJson(event)),
};

export const CORRECTIONS: LiveTopic<EventCorrection> = {
  name: 'corrections',
  topic: correctionsTopic,
  messageOf: (offset, correction) => eventMessage(offset, correction.event, correctionJson(correction)),
};

function eventMessage(offset: number, event: FleetEvent, shown: object): EventMessage {
  const { id, phase, vehicleId } = event;
  const json = JSON.stringify({ type: 'event', ...shown });
  return { offset, vehicleId, geofenceId: geofenceOf(event), id, phase, json: Buffer.from(json.slice(0, -1)) };
}

export function memoryBytesOf({ json }: EventMessage): number {
  return json.length + OVERHEAD_BYTES;
}

export function eventFrame({ json }: EventMessage, cursor: string): Buffer {
  return textFrame(json, `,"cursor":${JSON.stringify(cursor)}}`);
}

/** Index of the first message at or after the offset. */
export function indexAt(messages: readonly EventMessage[], offset: number): number {
  let low = 0;
  let high = messages.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((messages[middle]?.offset ?? offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

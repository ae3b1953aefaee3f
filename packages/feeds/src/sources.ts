import {
  correctionJson,
  type EventCorrection,
  eventJson,
  type FleetEvent,
  type GeofenceId,
  geofenceOf,
  isoTime,
  type Position,
  positionJson,
  rejectionOf,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { correctionsTopic, eventsTopic, RepeatedEvents, type Topic, telemetryTopic } from '@outrider/log';
import type { FeedName } from './cursor.ts';

/** A position with the terminal that sent it, or an event. */
export type FeedFact =
  | { type: 'position'; position: Position; terminalId: TerminalId }
  | { type: 'event'; event: FleetEvent; removed: boolean };

/** One item of a feed. Its text is built when the first consumer that may see it needs it. */
export interface FeedItem {
  readonly vehicleId: VehicleId;
  /** The geofence that it is about. Not everyone who may see the vehicle may see the geofence. */
  readonly geofenceId: GeofenceId | null;
  readonly fact: FeedFact;
  /** JSON for lists. */
  json(): Record<string, unknown>;
  /** JSON for streams, up to its cursor: the message of the live API without its last brace. */
  readonly text: string;
}

/** A topic that a feed is made of. */
export interface FeedSource<T = unknown> {
  topic: Topic<T>;
  /** Items of a record, in their order. Always the same for the same record. */
  itemsOf(partition: number, offset: number, value: T): readonly FeedItem[];
}

class Item implements FeedItem {
  readonly vehicleId: VehicleId;
  readonly geofenceId: GeofenceId | null;
  readonly fact: FeedFact;
  readonly json: () => Record<string, unknown>;
  #text: string | null = null;

  constructor(
    fact: FeedFact,
    vehicleId: VehicleId,
    geofenceId: GeofenceId | null,
    json: () => Record<string, unknown>,
  ) {
    this.fact = fact;
    this.vehicleId = vehicleId;
    this.geofenceId = geofenceId;
    this.json = json;
  }

  get text(): string {
    this.#text ??= JSON.stringify({ type: this.fact.type, ...this.json() }).slice(0, -1);
    return this.#text;
  }
}

/** The topics of each feed. Created per process, because each tracks the repetitions that it has seen. */
export function feedSources(): Readonly<Record<FeedName, readonly FeedSource[]>> {
  const repeated = new RepeatedEvents();
  const events: FeedSource<FleetEvent> = {
    topic: eventsTopic,
    itemsOf: (partition, offset, event) =>
      repeated.isRepetition(partition, offset, event) ? [] : [eventItem(event, false, () => eventJson(event))],
  };
  const corrections: FeedSource<EventCorrection> = {
    topic: correctionsTopic,
    itemsOf: (_, __, correction) => [eventItem(correction.event, correction.removed, () => correctionJson(correction))],
  };
  const positions: FeedSource<TelemetryPacket> = {
    topic: telemetryTopic,
    itemsOf: (_, __, packet) =>
      packet.positions
        .filter((position) => rejectionOf(position, packet.receivedAtMs) === null)
        .map((position) => positionItem(packet, position)),
  };
  return { events: [events, corrections] as FeedSource[], positions: [positions] as FeedSource[] };
}

function eventItem(event: FleetEvent, removed: boolean, json: () => Record<string, unknown>): FeedItem {
  return new Item({ type: 'event', event, removed }, event.vehicleId, geofenceOf(event), json);
}

function positionItem({ vehicleId, terminalId, receivedAtMs }: TelemetryPacket, position: Position): FeedItem {
  const json = () => ({ ...positionJson(vehicleId, position), receivedAt: isoTime(receivedAtMs) });
  return new Item({ type: 'position', position, terminalId }, vehicleId, null, json);
}

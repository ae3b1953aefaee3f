import type { DefinitionChange, EventCorrection, FleetEvent, LateInterval, TelemetryPacket } from '@outrider/domain';
import { decodeCorrection, encodeCorrection } from './avro/correction.ts';
import {
  type DefinitionRecord,
  decodeDefinitionChange,
  decodeDefinitionRecord,
  encodeDefinitionChange,
} from './avro/definition.ts';
import { decodeEvent, encodeEvent } from './avro/event.ts';
import { decodeLate, encodeLate } from './avro/late.ts';
import { decodeTelemetry, encodeTelemetry } from './avro/telemetry.ts';
import { TelemetryRecord } from './avro/telemetry-record.ts';
import type { Topic } from './log.ts';

/** What terminals sent, packet by packet: `schemas/telemetry.avsc`. */
export const telemetryTopic: Topic<TelemetryPacket> = {
  name: 'telemetry',
  key: (packet) => packet.vehicleId,
  encode: encodeTelemetry,
  decode: decodeTelemetry,
  compacted: false,
  isInput: true,
};

/**
 * Topic `telemetry`, for readers that make no object of each position. A record keeps the bytes that it was read from:
 * nothing may be written to them.
 */
export const telemetryRecordsTopic: Topic<TelemetryRecord> = {
  ...telemetryTopic,
  key: ({ bytes }) => telemetryTopic.key(decodeTelemetry(bytes)),
  encode: ({ bytes }) => bytes,
  decode: (bytes) => new TelemetryRecord(bytes),
};

/** What the engine derived: `schemas/event.avsc`. */
export const eventsTopic: Topic<FleetEvent> = {
  name: 'events',
  key: (event) => event.vehicleId,
  encode: encodeEvent,
  decode: decodeEvent,
  compacted: false,
};

/** Which intervals of the past the engine found late data for: `schemas/late.avsc`. */
export const lateTopic: Topic<LateInterval> = {
  name: 'late',
  key: (late) => late.vehicleId,
  encode: encodeLate,
  decode: decodeLate,
  compacted: false,
};

/**
 * Events that became known by late data alone, for notifications: `schemas/event.avsc`. They are no part of
 * topic `events`: the archive has them from the recalculation that found them, and the present knows nothing of them.
 */
export const lateEventsTopic: Topic<FleetEvent> = { ...eventsTopic, name: 'late-events' };

/**
 * What recalculations made of events, late or asked for: `schemas/correction.avsc`. For readers that keep what the
 * archive has. An event may be corrected any number of times, and a correction be there twice: by id, the last stands.
 */
export const correctionsTopic: Topic<EventCorrection> = {
  name: 'corrections',
  key: ({ event }) => event.vehicleId,
  encode: encodeCorrection,
  decode: decodeCorrection,
  compacted: false,
};

/**
 * Everything that is defined: `schemas/definition.avsc`. A deletion is a record like any other, without a definition
 * and with its version, and stays: a reader that missed the deletion must learn that it is newer than what it knows.
 */
export const definitionsTopic: Topic<DefinitionChange> = {
  name: 'definitions',
  key: (change) => `${change.kind}:${change.id}`,
  encode: encodeDefinitionChange,
  decode: decodeDefinitionChange,
  compacted: true,
};

/**
 * Topic `definitions`, for readers that must not stop at a record of a newer version: such a record is
 * there, without its change.
 */
export const definitionRecordsTopic: Topic<DefinitionRecord> = {
  ...definitionsTopic,
  key: ({ change }) => (change === null ? '' : definitionsTopic.key(change)),
  encode: () => {
    throw new Error('topic definitions is written as definitionsTopic');
  },
  decode: decodeDefinitionRecord,
};

/** Every topic that services write to; each has one beside it for what was put aside, see `deadTopicOf`. */
export const LOG_TOPICS = [
  telemetryTopic,
  eventsTopic,
  lateTopic,
  lateEventsTopic,
  correctionsTopic,
  definitionsTopic,
] as readonly Topic<unknown>[];

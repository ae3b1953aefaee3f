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

/** Packets that terminals sent: `schemas/telemetry.avsc`. */
export const telemetryTopic: Topic<TelemetryPacket> = {
  name: 'telemetry',
  key: (packet) => packet.vehicleId,
  encode: encodeTelemetry,
  decode: decodeTelemetry,
  compacted: false,
  isInput: true,
};

/**
 * Topic `telemetry`, for readers that create no object for each position. A record keeps the bytes that it was read
 * from, which must not be overwritten.
 */
export const telemetryRecordsTopic: Topic<TelemetryRecord> = {
  ...telemetryTopic,
  key: ({ bytes }) => telemetryTopic.key(decodeTelemetry(bytes)),
  encode: ({ bytes }) => bytes,
  decode: (bytes) => new TelemetryRecord(bytes),
};

/** Events that the engine derived: `schemas/event.avsc`. */
export const eventsTopic: Topic<FleetEvent> = {
  name: 'events',
  key: (event) => event.vehicleId,
  encode: encodeEvent,
  decode: decodeEvent,
  compacted: false,
};

/** Intervals of the past for which the engine received late data: `schemas/late.avsc`. */
export const lateTopic: Topic<LateInterval> = {
  name: 'late',
  key: (late) => late.vehicleId,
  encode: encodeLate,
  decode: decodeLate,
  compacted: false,
};

/**
 * Events found only through late data, for notifications: `schemas/event.avsc`. They are not part of topic `events`:
 * the archive has them from the recalculation that found them, and they do not affect the current state.
 */
export const lateEventsTopic: Topic<FleetEvent> = { ...eventsTopic, name: 'late-events' };

/**
 * Changes that recalculations made to events, because of late data or on request: `schemas/correction.avsc`. For
 * readers that keep a copy of the archive's events. An event may be corrected any number of times, and a correction may
 * occur twice: the last one for an id is valid.
 */
export const correctionsTopic: Topic<EventCorrection> = {
  name: 'corrections',
  key: ({ event }) => event.vehicleId,
  encode: encodeCorrection,
  decode: decodeCorrection,
  compacted: false,
};

/**
 * All definitions: `schemas/definition.avsc`. A deletion is a record without a definition, with a version, and it is
 * retained: a reader that missed the deletion must learn that it is newer than the known definition.
 */
export const definitionsTopic: Topic<DefinitionChange> = {
  name: 'definitions',
  key: (change) => `${change.kind}:${change.id}`,
  encode: encodeDefinitionChange,
  decode: decodeDefinitionChange,
  compacted: true,
};

/**
 * Topic `definitions`, for readers that must not stop at a record of a newer version: they get such a record without
 * its change.
 */
export const definitionRecordsTopic: Topic<DefinitionRecord> = {
  ...definitionsTopic,
  key: ({ change }) => (change === null ? '' : definitionsTopic.key(change)),
  encode: () => {
    throw new Error('topic definitions is written as definitionsTopic');
  },
  decode: decodeDefinitionRecord,
};

/** All topics that services write to; each has a topic for dead letters beside it, see `deadTopicOf`. */
export const LOG_TOPICS = [
  telemetryTopic,
  eventsTopic,
  lateTopic,
  lateEventsTopic,
  correctionsTopic,
  definitionsTopic,
] as readonly Topic<unknown>[];

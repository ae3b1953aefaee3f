import {
  DEFINITION_FORMAT,
  type Definition,
  type DefinitionChange,
  type Geofence,
  type GeofenceId,
  type GroupId,
  type InactiveReason,
  type LngLat,
  type NotificationRule,
  type NotificationRuleId,
  type RuleDays,
  type Shape,
  type TerminalAccess,
  type TerminalId,
  type User,
  type UserId,
  upgradeDefinition,
  type Vehicle,
  type VehicleGroup,
  type VehicleId,
  type VideoChannel,
  type VideoProfile,
  type VideoProfileId,
  type Weekday,
} from '@outrider/domain';
import { checkCounts } from './counts.ts';
import { toLong } from './numbers.ts';
import { HEADER_BYTES, hasHeader, nameOf, readSchema, symbolOf, unknownHeader } from './schema-file.ts';

const schema = readSchema('definition');
/** By the format less one, the schema that its records were written with. */
const schemas = Array.from({ length: DEFINITION_FORMAT }, (_, before) =>
  before + 1 === DEFINITION_FORMAT ? schema : readSchema(`history/definition.v${before + 1}`),
);

/** A definition as its record in `schemas/definition.avsc`: the record's name says the kind. */
type AvroUser = Omit<User, 'kind'>;
type AvroVehicle = Omit<Vehicle, 'kind'>;
type AvroGroup = Omit<VehicleGroup, 'kind'>;
type AvroVideoProfile = Omit<VideoProfile, 'kind'>;
type AvroGeofence = Omit<Geofence, 'kind' | 'shape'> & { shape: AvroShape };
type AvroRule = Omit<NotificationRule, 'kind' | 'days' | 'inactiveReason' | 'phases'> & {
  inactiveReason: string | null;
  phases: string[];
  days: AvroDays | null;
};
type AvroDays = { 'outrider.Weekdays': { weekdays: string[] } } | { 'outrider.Dates': { from: string; to: string } };
type AvroDefinition =
  | { 'outrider.User': AvroUser }
  | { 'outrider.Vehicle': AvroVehicle }
  | { 'outrider.VehicleGroup': AvroGroup }
  | { 'outrider.Geofence': AvroGeofence }
  | { 'outrider.NotificationRule': AvroRule }
  | { 'outrider.VideoProfile': AvroVideoProfile };

interface AvroLngLat {
  longitude: number;
  latitude: number;
}
type AvroShape =
  | { 'outrider.Polygon': { rings: AvroLngLat[][] } }
  | { 'outrider.Circle': { center: AvroLngLat; radiusM: number } }
  | { 'outrider.Line': { path: AvroLngLat[]; widthM: number } };

interface AvroChange {
  kind: string;
  id: string;
  version: number;
  changedAt: number;
  definition: AvroDefinition | null;
}

/** A change as bytes: a header and the record of `schemas/definition.avsc`. Nothing is rounded but `changedAtMs`. */
export function encodeDefinitionChange(change: DefinitionChange): Buffer {
  const avro: AvroChange = {
    kind: symbolOf(change.kind),
    id: change.id,
    version: change.version,
    changedAt: toLong(change.changedAtMs),
    definition: change.definition === null ? null : definitionToAvro(change.definition),
  };
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** A record of topic `definitions`, whichever version wrote it. */
export interface DefinitionRecord {
  /** Null where a newer version wrote it, or what is there is no such record. */
  change: DefinitionChange | null;
  /** Whether it is stored in the format that this version writes. */
  isCurrent: boolean;
}

/**
 * @returns the change as this version knows it, whichever earlier version wrote it
 * @throws {Error} when the bytes are not what {@link encodeDefinitionChange} wrote, or a newer version's did
 */
export function decodeDefinitionChange(bytes: Buffer): DefinitionChange {
  const before = schemas.findIndex((each) => hasHeader(each, bytes));
  const writer = schemas[before];
  if (writer === undefined) throw unknownHeader(schema, bytes);
  checkCounts(writer.type, bytes, HEADER_BYTES);
  const avro = writer.type.fromBuffer(bytes.subarray(HEADER_BYTES)) as AvroChange;
  return {
    kind: nameOf(avro.kind) as DefinitionChange['kind'],
    id: avro.id,
    version: avro.version,
    changedAtMs: avro.changedAt,
    // Fields that the writer's schema did not have are filled in by the upgrade.
    definition: avro.definition === null ? null : upgradeDefinition(definitionFromAvro(avro.definition), before + 1),
  };
}

/** As {@link decodeDefinitionChange}, for who goes on where a record can't be read. */
export function decodeDefinitionRecord(bytes: Buffer): DefinitionRecord {
  try {
    return { change: decodeDefinitionChange(bytes), isCurrent: hasHeader(schema, bytes) };
  } catch {
    return { change: null, isCurrent: false };
  }
}

function definitionToAvro(definition: Definition): AvroDefinition {
  switch (definition.kind) {
    case 'user':
      return { 'outrider.User': { ...definition, role: symbolOf(definition.role) as User['role'] } };
    case 'vehicle':
      return { 'outrider.Vehicle': definition };
    case 'group':
      return { 'outrider.VehicleGroup': definition };
    case 'geofence':
      return { 'outrider.Geofence': { ...definition, shape: shapeToAvro(definition.shape) } };
    case 'notification-rule':
      return { 'outrider.NotificationRule': ruleToAvro(definition) };
    case 'video-profile':
      return { 'outrider.VideoProfile': definition };
  }
}

/** Field by field, so that what is read is a plain object of the domain's shape and not one of the Avro library's records. */
function definitionFromAvro(avro: AvroDefinition): Definition {
  if ('outrider.User' in avro) {
    const user = avro['outrider.User'];
    return {
      kind: 'user',
      id: user.id as UserId,
      version: user.version,
      login: user.login,
      name: user.name,
      role: nameOf(user.role) as User['role'],
      dealerId: user.dealerId as UserId | null,
      blocked: user.blocked,
      apiAccess: user.apiAccess,
      services: user.services,
      groupIds: user.groupIds as GroupId[],
    };
  }
  if ('outrider.Vehicle' in avro) {
    const vehicle = avro['outrider.Vehicle'];
    return {
      kind: 'vehicle',
      id: vehicle.id as VehicleId,
      version: vehicle.version,
      name: vehicle.name,
      plate: vehicle.plate,
      terminalId: vehicle.terminalId as TerminalId | null,
      dealerId: vehicle.dealerId as UserId | null,
      groupIds: vehicle.groupIds as GroupId[],
      speedLimitKmh: vehicle.speedLimitKmh,
      speedToleranceKmh: vehicle.speedToleranceKmh,
      speedingMinSeconds: vehicle.speedingMinSeconds,
      offlineAfterMinutes: vehicle.offlineAfterMinutes,
      movingSpeedKmh: vehicle.movingSpeedKmh,
      movingDistanceM: vehicle.movingDistanceM,
      tripStopMinutes: vehicle.tripStopMinutes,
      tripGapMinutes: vehicle.tripGapMinutes,
      ...accessFromAvro(vehicle.terminalAccess),
    } as Vehicle;
  }
  if ('outrider.VehicleGroup' in avro) {
    const group = avro['outrider.VehicleGroup'];
    return {
      kind: 'group',
      id: group.id as GroupId,
      version: group.version,
      name: group.name,
      dealerId: group.dealerId as UserId | null,
    };
  }
  if ('outrider.NotificationRule' in avro) return ruleFromAvro(avro['outrider.NotificationRule']);
  if ('outrider.VideoProfile' in avro) return videoProfileFromAvro(avro['outrider.VideoProfile']);
  const geofence = avro['outrider.Geofence'];
  return {
    kind: 'geofence',
    id: geofence.id as GeofenceId,
    version: geofence.version,
    name: geofence.name,
    ownerId: geofence.ownerId as UserId,
    shape: shapeFromAvro(geofence.shape),
    groupIds: geofence.groupIds as GroupId[] | null,
    speedLimitKmh: geofence.speedLimitKmh,
    minDwellSeconds: geofence.minDwellSeconds,
  };
}

/** Nothing where the record is of a format without it: the upgrade fills it in. */
function accessFromAvro(access: TerminalAccess | undefined): { terminalAccess?: TerminalAccess } {
  if (access === undefined) return {};
  const { protocol, secretHash, certificateSha256, networks, registrationHash, seen } = access;
  return { terminalAccess: { protocol, secretHash, certificateSha256, networks, registrationHash, seen } };
}

function videoProfileFromAvro(profile: AvroVideoProfile): VideoProfile {
  return {
    kind: 'video-profile',
    id: profile.id as VideoProfileId,
    version: profile.version,
    vehicleId: profile.vehicleId as VehicleId,
    name: profile.name,
    protocol: profile.protocol,
    address: profile.address,
    channels: profile.channels.map(({ number, name, direction }): VideoChannel => ({ number, name, direction })),
    quality: profile.quality,
    audio: profile.audio,
    maxFragmentSeconds: profile.maxFragmentSeconds,
    maxParallelDownloads: profile.maxParallelDownloads,
    timeZone: profile.timeZone,
  };
}

function ruleToAvro(rule: NotificationRule): AvroRule {
  return {
    ...rule,
    inactiveReason: rule.inactiveReason === null ? null : symbolOf(rule.inactiveReason),
    phases: rule.phases.map(symbolOf),
    days: daysToAvro(rule.days),
  };
}

function ruleFromAvro(rule: AvroRule): NotificationRule {
  return {
    kind: 'notification-rule',
    id: rule.id as NotificationRuleId,
    version: rule.version,
    ownerId: rule.ownerId as UserId,
    name: rule.name,
    active: rule.active,
    inactiveReason: rule.inactiveReason === null ? null : (nameOf(rule.inactiveReason) as InactiveReason),
    eventKinds: rule.eventKinds,
    phases: rule.phases.map(nameOf) as NotificationRule['phases'],
    vehicleIds: rule.vehicleIds as VehicleId[] | null,
    groupIds: rule.groupIds as GroupId[] | null,
    geofenceIds: rule.geofenceIds as GeofenceId[] | null,
    days: daysFromAvro(rule.days),
    hours: rule.hours && { from: rule.hours.from, to: rule.hours.to },
    timeZone: rule.timeZone,
    minIntervalMinutes: rule.minIntervalMinutes,
    maxDataAgeMinutes: rule.maxDataAgeMinutes,
    emails: rule.emails,
    webhookUrl: rule.webhookUrl,
  };
}

function daysToAvro(days: RuleDays): AvroDays | null {
  switch (days.on) {
    case 'daily':
      return null;
    case 'weekdays':
      return { 'outrider.Weekdays': { weekdays: days.weekdays.map(symbolOf) } };
    case 'dates':
      return { 'outrider.Dates': { from: days.from, to: days.to } };
  }
}

function daysFromAvro(avro: AvroDays | null): RuleDays {
  if (avro === null) return { on: 'daily' };
  if ('outrider.Weekdays' in avro)
    return { on: 'weekdays', weekdays: avro['outrider.Weekdays'].weekdays.map(nameOf) as Weekday[] };
  const { from, to } = avro['outrider.Dates'];
  return { on: 'dates', from, to };
}

function shapeToAvro(shape: Shape): AvroShape {
  switch (shape.type) {
    case 'polygon':
      return { 'outrider.Polygon': { rings: shape.rings.map((ring) => ring.map(pointToAvro)) } };
    case 'circle':
      return { 'outrider.Circle': { center: pointToAvro(shape.center), radiusM: shape.radiusM } };
    case 'line':
      return { 'outrider.Line': { path: shape.path.map(pointToAvro), widthM: shape.widthM } };
  }
}

function shapeFromAvro(avro: AvroShape): Shape {
  if ('outrider.Polygon' in avro)
    return { type: 'polygon', rings: avro['outrider.Polygon'].rings.map((ring) => ring.map(pointFromAvro)) };
  if ('outrider.Circle' in avro) {
    const { center, radiusM } = avro['outrider.Circle'];
    return { type: 'circle', center: pointFromAvro(center), radiusM };
  }
  const { path, widthM } = avro['outrider.Line'];
  return { type: 'line', path: path.map(pointFromAvro), widthM };
}

function pointToAvro([longitude, latitude]: LngLat): AvroLngLat {
  return { longitude, latitude };
}

function pointFromAvro({ longitude, latitude }: AvroLngLat): LngLat {
  return [longitude, latitude];
}

import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { AttributeList, isObject, numberWithin, quote, refused, terminalIdOf } from '../json-input.ts';
import { courseOf, readTimeMs, speedOf } from '../osmand/fields.ts';
import type { RefusedReports, TerminalReport, TerminalReports } from '../protocol.ts';

/** Messages that the broker or a service sends or stores: they hold nothing about the telephone. */
const OF_OTHERS: ReadonlySet<unknown> = new Set(['lwt', 'card', 'cmd', 'configuration', 'request']);
/**
 * Messages of the telephone without its location: signs of life. A transition names a region of the app; the location
 * at that moment is sent separately.
 */
const SIGNS_OF_LIFE: ReadonlySet<unknown> = new Set([
  'transition',
  'waypoint',
  'waypoints',
  'dump',
  'status',
  'steps',
  'beacon',
  'beacons',
]);
/** Names that {@link positionOf} has already read. */
const FIELDS: ReadonlySet<string> = new Set(['_type', '_id', 'lat', 'lon', 'tst', 'vel', 'cog', 'alt', 'acc', 'topic']);
const CHARGING = 2;
const UNPLUGGED = 1;

/** Sender of a message, as far as its headers or its topic name it. */
export interface Sender {
  user: string | null;
  device: string | null;
}

/** The sender by a topic such as `owntracks/user/device/event`. */
export function senderOf(topic: string): Sender {
  const levels = topic.split('/');
  const root = levels.indexOf('owntracks');
  const [user = null, device = null] = levels.slice(root + 1);
  return { user, device };
}

/** Reads a message by the page "JSON" of the OwnTracks booklet. */
export function readOwntracks(
  message: unknown,
  sender: Sender,
  nowMs: number,
): Pick<TerminalReports, 'reports'> | RefusedReports {
  if (!isObject(message)) return refused('bad-content', 'the message is not a JSON object');
  const { _type: type } = message;
  if (type === 'encrypted') return refused('unsupported', 'the message is encrypted: switch encryption off in the app');
  if (OF_OTHERS.has(type)) return { reports: [] };
  const ids = idsOf(message, sender);
  if (SIGNS_OF_LIFE.has(type)) {
    // Not every message has the topic; a tracker id alone may belong to another telephone.
    if (ids === null || ids.length === 1) return { reports: [] };
    const [terminalId, ...otherIds] = ids;
    return { reports: [{ terminalId, otherIds, positions: [] }] };
  }
  if (type !== 'location') return refused('unsupported', `_type: ${quote(type)} is not known`);
  if (ids === null) return refused('not-identified', 'neither user and device nor tid: there is no identifier');
  const position = positionOf(message, nowMs);
  if ('refused' in position) return position;
  const [terminalId, ...otherIds] = ids;
  return { reports: [{ terminalId, otherIds, positions: [position] }] satisfies TerminalReport[] };
}

/** The possible terminal ids, the usual one first. */
function idsOf(message: Record<string, unknown>, { user, device }: Sender): [TerminalId, ...TerminalId[]] | null {
  const named = typeof message.topic === 'string' ? senderOf(message.topic) : { user: null, device: null };
  const name = [user ?? named.user, device ?? named.device].filter((part) => part !== null && part !== '').join('/');
  if (name === '') {
    const tid = terminalIdOf(message.tid);
    return tid === null ? null : [tid];
  }
  const terminalId = terminalIdOf(name);
  if (terminalId === null) return null;
  const topic = terminalIdOf(`owntracks/${name}`);
  return topic === null ? [terminalId] : [terminalId, topic];
}

function positionOf(message: Record<string, unknown>, nowMs: number): Position | RefusedReports {
  const { lat, lon, tst, vel, cog, alt, acc, batt, bs } = message;
  const latitude = numberWithin(lat, -90, 90);
  if (latitude === null) return refused('bad-content', `lat: ${quote(lat)} is not within 90 degrees`);
  const longitude = numberWithin(lon, -180, 180);
  if (longitude === null) return refused('bad-content', `lon: ${quote(lon)} is not within 180 degrees`);
  const fixTimeMs = tst === undefined ? nowMs : typeof tst === 'number' ? readTimeMs(tst) : null;
  if (fixTimeMs === null) return refused('bad-content', `tst: ${quote(tst)} is no time`);

  const attributes = new AttributeList();
  attributes.set('batteryPercent', numberWithin(batt, 0, 100));
  attributes.set('accuracy', numberWithin(acc, 0, 1e6));
  if (bs === CHARGING || bs === UNPLUGGED) attributes.set('charging', bs === CHARGING);
  for (const [name, value] of Object.entries(message)) {
    if (FIELDS.has(name)) continue;
    attributes.set(name, Array.isArray(value) ? value.filter((each) => typeof each === 'string').join() : value);
  }
  const position = blankPosition(fixTimeMs, latitude, longitude);
  position.speedKmh = typeof vel === 'number' ? speedOf(vel) : null;
  position.courseDeg = typeof cog === 'number' ? courseOf(cog) : null;
  const altitude = numberWithin(alt, -1e6, 1e6);
  position.altitudeM = altitude === null ? null : Math.round(altitude) + 0;
  position.attributes = attributes.all;
  return position;
}

/** Encodes a message `location`. */
export function encodeOwntracks(terminalId: TerminalId, position: Position): string {
  return JSON.stringify({
    _type: 'location',
    topic: `owntracks/${terminalId}`,
    tst: Math.floor(position.fixTimeMs / 1000),
    lat: position.latitude,
    lon: position.longitude,
    alt: position.altitudeM ?? undefined,
    vel: position.speedKmh ?? undefined,
    cog: position.courseDeg ?? undefined,
  });
}

import type { Position, TerminalId } from '@outrider/domain';
import { type Fault, type OpenRecord, openRecord, type Packet, positionOf, readTag } from './records.ts';
import { contentOf } from './tags.ts';

/** The IMEI, as a number. */
const IMEI_BYTES = 8;
/** Time, place and alarm, packed in bits. */
const SET_BYTES = 10;
/** The largest count in the byte that counts the tags. */
const MAX_TAGS = 31;
const LONGITUDE_STEPS = 2 ** 22;
const LATITUDE_STEPS = 2 ** 21;
const DAY_MS = 86_400_000;

/**
 * Reads a compressed packet: the IMEI, then records. Each record holds the minimal data set, the count and numbers of
 * further tags, and the contents of those tags without their numbers. No public document of the maker describes this
 * form.
 *
 * @param nowMs determines the year: the set holds only the seconds since the year began
 */
export function readCompressed(bytes: Buffer, from: number, to: number, nowMs: number): Packet | Fault {
  if (to - from < IMEI_BYTES) return { reason: 'bad-content', detail: 'a compressed packet without an IMEI' };
  const imei = bytes.readBigUInt64BE(from).toString().padStart(15, '0');
  if (!/^\d{15}$/.test(imei)) return { reason: 'bad-content', detail: 'an IMEI has 15 digits' };
  const positions: Position[] = [];
  for (let at = from + IMEI_BYTES; at < to; ) {
    if (to - at < SET_BYTES + 1) return { reason: 'bad-content', detail: 'a compressed record is cut off' };
    const record = readSet(bytes, at, nowMs);
    const tagsAt = at + SET_BYTES + 1;
    const tags = bytes.subarray(tagsAt, Math.min(to, tagsAt + ((bytes[tagsAt - 1] as number) & MAX_TAGS)));
    at = tagsAt + tags.length;
    for (const tag of tags) {
      const content = contentOf(tag, bytes, at, to);
      if (content === null) return { reason: 'bad-content', detail: `tag 0x${tag.toString(16)} is cut off` };
      if (content === undefined) return { reason: 'unsupported', detail: `tag 0x${tag.toString(16)} is not known` };
      readTag(record, tag, bytes, content.from, content.to);
      at = content.to;
    }
    positions.push(positionOf(record));
  }
  return { imei: imei as TerminalId, positions, texts: [], unread: null };
}

/**
 * Bits: one unused, 25 for the seconds, one for the fix, 22 for the longitude, 21 for the latitude, one for the alarm.
 */
function readSet(bytes: Buffer, at: number, nowMs: number): OpenRecord {
  const bits = (bytes.readBigUInt64BE(at) << 16n) | BigInt(bytes.readUInt16BE(at + 8));
  const take = (first: number, count: number) =>
    Number((bits >> BigInt(80 - first - count)) & ((1n << BigInt(count)) - 1n));
  const record = openRecord(nowMs);
  const { position } = record;
  position.fixTimeMs = timeOf(take(1, 25), nowMs);
  position.valid = take(26, 1) === 0;
  position.longitude = rounded((360 * take(27, 22)) / LONGITUDE_STEPS - 180);
  position.latitude = rounded((180 * take(49, 21)) / LATITUDE_STEPS - 90);
  if (take(70, 1) === 1) position.alarms = ['other'];
  record.hasTime = true;
  return record;
}

/** A time in the future belongs to the year before. */
function timeOf(seconds: number, nowMs: number): number {
  const year = new Date(nowMs).getUTCFullYear();
  const ofThisYear = Date.UTC(year, 0, 1) + seconds * 1000;
  return ofThisYear > nowMs + DAY_MS ? Date.UTC(year - 1, 0, 1) + seconds * 1000 : ofThisYear;
}

/** Rounds to a millionth of a degree; one step of the protocol is about ten metres. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6 + 0;
}

import type { Position, VehicleId } from '@outrider/domain';
import {
  type Happening,
  happening,
  type PlainGeofence,
  plainHappenings,
} from '../../services/outrider/src/plain-rules.fixture.ts';
import type { Access } from './access.ts';
import type { Listener, LiveMessage } from './listener.ts';
import { type Load, SPEED_LIMIT_KMH } from './load.ts';

/** What the oracle of the rules knows. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['geofence-visit', 'speeding']);
const SHOWN = 4;

/** All that is watched from outside, of one system. */
export interface Watched {
  load: Load;
  listeners: readonly Listener[];
  geofences: readonly PlainGeofence[];
  access: Access;
}

/**
 * Checks the promises of delivery: nothing acknowledged is lost, each position is stored once, events are those of the
 * oracle, and each client received each event and each notification once. To be called while terminals record nothing.
 *
 * @param since by vehicle, the first fix to be checked: earlier ones were found in the archive before
 * @returns violations, final or not; empty when every promise is kept
 */
export async function violations(
  { load, listeners, geofences, access }: Watched,
  since: ReadonlyMap<VehicleId, number>,
): Promise<string[]> {
  const found: string[] = [];
  const say = (what: string, missing: readonly string[], tooMuch: readonly string[]) => {
    if (missing.length > 0)
      found.push(`${what}: ${missing.length} missing, such as ${missing.slice(0, SHOWN).join('; ')}`);
    if (tooMuch.length > 0)
      found.push(`${what}: ${tooMuch.length} too many, such as ${tooMuch.slice(0, SHOWN).join('; ')}`);
  };
  let happenings = 0;
  for (const { vehicleId, sent, terminal } of load.driven) {
    const { stored, acknowledged, dropped, lastFailure } = terminal.stats();
    if (stored > 0 || dropped > 0 || acknowledged !== sent.length)
      found.push(`${vehicleId}: ${acknowledged} of ${sent.length} acknowledged, last ${lastFailure}`);
    const expected = plainHappenings(sent, geofences, SPEED_LIMIT_KMH);
    happenings += expected.length;
    for (const [nth, { events, notifications }] of listeners.entries()) {
      const of = (messages: readonly LiveMessage[]) => messages.flatMap((message) => happeningOf(message, vehicleId));
      say(`events of ${vehicleId} at listener ${nth}`, ...difference(expected, of(events)));
      const received = notifications.map((notification) => notification.event as LiveMessage);
      say(`notifications of ${vehicleId} at listener ${nth}`, ...difference(expected, of(received)));
    }
  }
  for (const [nth, { wrong, events, notifications, resumed, lastlyMet }] of listeners.entries()) {
    if (wrong.length > 0) found.push(`listener ${nth}: ${wrong.slice(0, SHOWN).join('; ')}`);
    if (!resumed) found.push(`listener ${nth} is not connected: ${lastlyMet}`);
    const phases = events.map(({ id, phase }) => `${id} ${phase}`);
    if (new Set(phases).size < phases.length) found.push(`listener ${nth} heard the same event twice`);
    const numbers = notifications.map(({ number }) => Number(number));
    if (numbers.some((number, at) => number !== at + 1))
      found.push(`listener ${nth}: notifications are numbered ${numbers.slice(-2 * SHOWN).join(', ')} at the end`);
  }
  if (happenings === 0 && load.sent > 1000) found.push('nothing happened at all');
  if (found.length > 0) return found;
  // Asked for last: it is work for the one that is asked.
  for (const { vehicleId, sent } of load.driven) {
    const fromMs = since.get(vehicleId) ?? 0;
    try {
      const expected = sent.filter(({ fixTimeMs }) => fixTimeMs >= fromMs).map(placed);
      say(`archive of ${vehicleId}`, ...difference(expected, await archived(access, vehicleId, fromMs)));
    } catch (error) {
      found.push(`archive of ${vehicleId}: ${(error as Error).message}`);
    }
  }
  return found;
}

function happeningOf(event: LiveMessage, vehicleId: VehicleId): Happening[] {
  if (event.vehicleId !== vehicleId || !PLAIN_KINDS.has(String(event.kind))) return [];
  const geofenceId = (event.geofenceId ?? null) as string | null;
  return [happening(String(event.kind), String(event.phase), geofenceId, Date.parse(String(event.fixTime)))];
}

function placed({ fixTimeMs, latitude, longitude }: Position): string {
  return `${new Date(fixTimeMs).toISOString()} ${latitude.toFixed(7)} ${longitude.toFixed(7)}`;
}

async function archived(access: Access, vehicleId: VehicleId, fromMs: number): Promise<string[]> {
  const positions: string[] = [];
  const from = new Date(Math.max(fromMs, Date.UTC(2005))).toISOString();
  const path = `/api/v1/reports/track?vehicleId=${vehicleId}&from=${from}&to=2099-01-01T00:00:00.000Z&limit=1000`;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const behind: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: { fixTime: string; latitude: number; longitude: number }[]; nextCursor: string | null } =
      await access.call('GET', `${path}${behind}`);
    for (const { fixTime, latitude, longitude } of page.items)
      positions.push(placed({ fixTimeMs: Date.parse(fixTime), latitude, longitude } as Position));
    cursor = page.nextCursor;
  }
  return positions;
}

/** @returns what is expected and was not found, and what was found that is not expected, each as often as it is */
function difference(expected: readonly string[], found: readonly string[]): [missing: string[], tooMuch: string[]] {
  const balance = new Map<string, number>();
  for (const each of expected) balance.set(each, (balance.get(each) ?? 0) + 1);
  for (const each of found) balance.set(each, (balance.get(each) ?? 0) - 1);
  const times = (sign: 1 | -1) =>
    [...balance].flatMap(([each, count]) => (count * sign > 0 ? new Array<string>(count * sign).fill(each) : []));
  return [times(1), times(-1)];
}

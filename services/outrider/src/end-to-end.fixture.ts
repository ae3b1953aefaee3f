import type { LngLat, Position, Shape, TelemetryPacket, TerminalId, VehicleId } from '@outrider/domain';
import { distanceM, featureFromShape } from '@outrider/geo';
import { telemetryTopic } from '@outrider/log';
import {
  type CreateSimulator,
  datagramProtocols,
  httpProtocols,
  type ListedProtocol,
  tcpProtocols,
  teltonika,
} from '@outrider/protocols';
import { playDrive, simulatorOf } from '@outrider/simulator';
import { expect, vi } from 'vitest';
import { type Happening, happening, type PlainGeofence, plainHappenings } from './plain-rules.fixture.ts';
import { inForce, type LiveMessage, type LiveRecorder } from './service.fixture.ts';

const SPEED_LIMIT_KMH = 30;
/** Of a month ago, late data would change nothing. */
const ENDED_AGO_MS = 3_600_000;
const POSITIONS_PER_PACKET = 10;
const PATIENCE = { timeout: 120_000, interval: 100 };
/** Longer than any of the drives, and no longer than reports are. */
const ASKED_FOR_MS = 1000 * 86_400_000;
/** What the plain rules know. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['geofence-visit', 'speeding']);
/** Shares of a drive: what its terminal could not send in its time, and what it sends twice. */
const LATE = [0.36, 0.44] as const;
const REPEATED = [0.7, 0.72] as const;

export interface Terminal {
  edition: string;
  protocol: ListedProtocol;
  terminalId: TerminalId;
  createSimulator?: CreateSimulator;
  packetOrder?: 'newest-first';
  udp?: true;
}
/** One of each simulator of each protocol, and one that sends its newest positions first. */
export const TERMINALS: readonly Terminal[] = [
  ...tcpProtocols.flatMap(({ name, title, exampleId, simulators }, nth): Terminal[] =>
    simulators.map((createSimulator, edition) => ({
      edition: `${title}, simulator ${edition + 1}`,
      protocol: name,
      // Ids of several protocols have the same form.
      terminalId: exampleId(10 * nth + edition + 7),
      createSimulator,
    })),
  ),
  {
    edition: 'Teltonika, newest first',
    protocol: 'teltonika',
    terminalId: teltonika.exampleId(1000),
    packetOrder: 'newest-first',
  },
  ...httpProtocols.map(({ name, title, exampleId }) => ({ edition: title, protocol: name, terminalId: exampleId(7) })),
];

/** One of each protocol over UDP. */
export const UDP_TERMINALS: readonly Terminal[] = datagramProtocols.map(({ name, title, exampleId }, nth) => ({
  edition: `${title} over UDP`,
  protocol: name,
  terminalId: exampleId(2000 + nth),
  udp: true,
}));

/** Those that keep what was not acknowledged: with them nothing is lost, whatever is killed. */
export const ACKNOWLEDGED_TERMINALS: readonly Terminal[] = TERMINALS.filter(
  ({ createSimulator, terminalId }) => !createSimulator?.(terminalId).isUnacknowledged,
);

/** What runs, in one process or in many, as far as it is reached from outside. */
export interface Reached {
  /** A call of the REST API; throws on any answer that is not 2xx. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Where the nth terminal connects. */
  terminalPort(protocol: ListedProtocol, nth: number): number;
  /** Ports of `/health/ready`, of all processes. */
  healthPorts(): readonly number[];
  /** Live clients that receive everything. */
  recorders: readonly LiveRecorder[];
}

/** A vehicle with its terminal, and what that sends. */
export interface Driven extends Terminal {
  vehicleId: VehicleId;
  /** Those on the way of its drive. */
  geofences: readonly PlainGeofence[];
  /** In the order in which it is sent: one interval late, another twice. */
  sent: readonly Position[];
}

export interface Fleet {
  vehicles: readonly Driven[];
  geofences: readonly PlainGeofence[];
}

/**
 * A recorded or generated drive as a vehicle's terminal would record it, ended an hour ago: with speeds, without the
 * jumps that the plain rules know nothing of.
 */
export function asDriven(recorded: readonly Position[]): Position[] {
  const newestMs = Math.max(...recorded.map(({ fixTimeMs }) => fixTimeMs));
  // Some protocols count in whole seconds.
  const laterMs = Math.floor((Date.now() - ENDED_AGO_MS - newestMs) / 1000) * 1000;
  const kept: Position[] = [];
  for (const fix of recorded) {
    const position = { ...fix, fixTimeMs: fix.fixTimeMs + laterMs };
    const last = kept.at(-1);
    const seconds = last ? (position.fixTimeMs - last.fixTimeMs) / 1000 : 1;
    const metres = last ? distanceM(last.longitude, last.latitude, position.longitude, position.latitude) : 0;
    const speedKmh = seconds > 0 ? Math.round((metres / seconds) * 3.6) : 0;
    // A repeated or overtaken fix stays in: the service has to see that it is one.
    if (seconds > 0 && speedKmh > 250) continue;
    kept.push({ ...position, speedKmh, courseDeg: 90, altitudeM: 100, satellites: 9, ignition: true });
  }
  return kept;
}

/** A drive as a terminal sends it that was offline for a while and did not receive every acknowledgement. */
function asSent(drive: readonly Position[]): Position[] {
  const [lateFrom, lateTo] = LATE.map((share) => Math.floor(drive.length * share));
  const [againFrom, againTo] = REPEATED.map((share) => Math.floor(drive.length * share));
  return [
    ...drive.slice(0, lateFrom),
    ...drive.slice(lateTo, againTo),
    ...drive.slice(againFrom),
    ...drive.slice(lateFrom, lateTo),
  ];
}

/** One geofence of each shape, on the way of the drive, so that it enters and leaves them. */
function shapesOn(positions: readonly Position[]): Shape[] {
  const at = (share: number): LngLat => {
    const position = positions[Math.floor(positions.length * share)] as Position;
    return [position.longitude, position.latitude];
  };
  const [x, y] = at(0.3);
  const box: LngLat[] = [
    [x - 0.001, y - 0.001],
    [x + 0.0015, y - 0.0008],
    [x + 0.001, y + 0.001],
    [x - 0.0012, y + 0.0009],
    [x - 0.001, y - 0.001],
  ];
  return [
    { type: 'circle', center: at(0.15), radiusM: 120 },
    { type: 'polygon', rings: [box] },
    { type: 'line', path: [at(0.5), at(0.55), at(0.6)], widthM: 60 },
  ];
}

/**
 * Defines a vehicle for each terminal, and geofences on the ways of their drives. Resolves when all of it is
 * in force.
 *
 * @param drives by the terminal, from the first on; they begin again where there are fewer of them
 */
export async function defineFleet(
  { call, healthPorts }: Reached,
  drives: readonly (readonly Position[])[],
  terminals: readonly Terminal[] = TERMINALS,
): Promise<Fleet> {
  const geofencesOf: PlainGeofence[][] = [];
  for (const drive of drives) {
    const geofences: PlainGeofence[] = [];
    for (const shape of shapesOn(drive)) {
      const feature = featureFromShape(shape);
      const body = { ...feature, properties: { ...feature.properties, name: `${shape.type} ${geofencesOf.length}` } };
      const { id } = await call<{ id: string }>('POST', '/api/v1/geozones', body);
      geofences.push({ id, shape });
    }
    geofencesOf.push(geofences);
  }
  const vehicles: Driven[] = [];
  for (const [nth, terminal] of terminals.entries()) {
    const { edition: name, terminalId } = terminal;
    const body = { name, terminalId, speedLimitKmh: SPEED_LIMIT_KMH };
    const { id: vehicleId } = await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', body);
    const which = nth % drives.length;
    vehicles.push({
      ...terminal,
      vehicleId,
      geofences: geofencesOf[which] ?? [],
      sent: asSent(drives[which] ?? []),
    });
  }
  // Terminals are known, geofences watched.
  await inForce(...healthPorts());
  return { vehicles, geofences: geofencesOf.flat() };
}

/** Lets all terminals send at once. Resolves when all is acknowledged. */
export async function playFleet({ terminalPort }: Reached, { vehicles }: Fleet): Promise<void> {
  const played = await Promise.all(
    vehicles.map(({ protocol, terminalId, createSimulator, packetOrder, udp, sent }, nth) =>
      playDrive({
        protocol,
        terminalId,
        ...(createSimulator && { createSimulator }),
        ...(packetOrder && { packetOrder }),
        ...(udp && { udp }),
        host: '127.0.0.1',
        port: terminalPort(protocol, nth),
        positions: sent,
        positionsPerPacket: POSITIONS_PER_PACKET,
      }),
    ),
  );
  expect(played.map(({ acknowledged }) => acknowledged)).toEqual(vehicles.map(({ sent }) => sent.length));
}

/** Everything that must be true after the drives, however they went: by the live API, by REST and by reports. */
export async function expectAllOfIt({ call, recorders }: Reached, { vehicles, geofences }: Fleet): Promise<void> {
  for (const vehicle of vehicles) {
    const { edition, vehicleId } = vehicle;
    const logged = asLogged(vehicle);
    const expected = plainHappenings(logged, geofences, SPEED_LIMIT_KMH).toSorted();
    for (const { id } of vehicle.geofences) expect(expected.some((text) => text.includes(id))).toBe(true);
    expect(expected.some((text) => text.includes('speeding'))).toBe(true);
    for (const recorder of recorders) {
      await vi.waitFor(
        () => expect(publishedLive(recorder, vehicleId).length, edition).toBeGreaterThanOrEqual(expected.length),
        PATIENCE,
      );
      expect(publishedLive(recorder, vehicleId).toSorted(), edition).toEqual(expected);
    }

    const whole = onceInOrder(logged);
    const fixes = whole.map(fixOf);
    await vi.waitFor(async () => expect(await archivedTrack(call, vehicleId), edition).toEqual(fixes), PATIENCE);
    await vi.waitFor(async () => {
      const { position } = await call<{ position: Fix }>('GET', `/api/v1/vehicles/${vehicleId}/state`);
      expect(position, edition).toMatchObject(fixes.at(-1) as Fix);
    }, PATIENCE);
    for (const recorder of recorders)
      await vi.waitFor(
        () => expect(recorder.lastPosition(vehicleId), edition).toMatchObject(fixes.at(-1) as Fix),
        PATIENCE,
      );

    // What came late is known to the past alone.
    const inTime = plainHappenings(whole, geofences, SPEED_LIMIT_KMH).toSorted();
    expect(inTime).not.toEqual(expected);
    await vi.waitFor(
      async () => expect(await archivedHappenings(call, vehicleId, whole), edition).toEqual(inTime),
      PATIENCE,
    );
    const archived = (await archivedEvents(call, vehicleId)).map(lineOf).toSorted();
    for (const recorder of recorders)
      await vi.waitFor(() => expect(lastLive(recorder, vehicleId), edition).toEqual(archived), PATIENCE);
  }
  for (const recorder of recorders) {
    const phases = recorder.of('event').flatMap(({ id, phase, origin }) => (origin === 'live' ? `${id} ${phase}` : []));
    expect(new Set(phases).size).toBe(phases.length);
  }
}

/** A position as REST, the live API and the report of tracks show it. */
interface Fix {
  fixTime: string;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
}

function fixOf({ fixTimeMs, latitude, longitude, speedKmh }: Position): Fix {
  return { fixTime: new Date(fixTimeMs).toISOString(), latitude, longitude, speedKmh };
}

/**
 * The positions as the rules take them from the log: what the protocol carries, rounded as the log rounds, and each
 * packet's in the order of their fixes.
 */
function asLogged({ protocol, terminalId, vehicleId, sent, createSimulator, packetOrder }: Driven): Position[] {
  const decoded: Position[] = [];
  const http = httpProtocols.find(({ name }) => name === protocol);
  if (http !== undefined) {
    for (const position of sent) {
      const read = http.decode(http.encode(terminalId, position), Date.now());
      if ('reports' in read) decoded.push(...read.reports.flatMap(({ positions }) => positions));
    }
  } else {
    const simulator = (createSimulator ?? simulatorOf(protocol))?.(terminalId);
    const session = tcpProtocols.find(({ name }) => name === protocol)?.createSession();
    const feed = (bytes: Buffer | null) => {
      for (const inbound of (bytes && session?.push(bytes, Date.now())) ?? [])
        if (inbound.type === 'positions')
          decoded.push(...inbound.positions.toSorted((a, b) => a.fixTimeMs - b.fixTimeMs));
    };
    if (simulator === undefined) throw new RangeError(`no simulator of ${protocol}`);
    feed(simulator.hello());
    const perPacket = Math.min(POSITIONS_PER_PACKET, simulator.maxPositionsPerPacket);
    for (let from = 0; from < sent.length; from += perPacket) {
      const positions = sent.slice(from, from + perPacket);
      feed(simulator.encode(packetOrder === 'newest-first' ? positions.toReversed() : positions));
    }
  }
  const packet: TelemetryPacket = { vehicleId, terminalId, protocol, receivedAtMs: Date.now(), positions: decoded };
  return telemetryTopic.decode(telemetryTopic.encode(packet)).positions;
}

/** As the archive keeps positions: each once, in the order of their times. */
function onceInOrder(positions: readonly Position[]): Position[] {
  const byTime = new Map<number, Position>();
  for (const position of positions) if (!byTime.has(position.fixTimeMs)) byTime.set(position.fixTimeMs, position);
  return [...byTime.values()].toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
}

/** Live events of a vehicle that the plain rules find: visits that a fix shows, and speeding. */
function plainLive(recorder: LiveRecorder, vehicleId: VehicleId): LiveMessage[] {
  return recorder
    .of('event')
    .filter((event) => event.vehicleId === vehicleId && !event.inferred && PLAIN_KINDS.has(String(event.kind)));
}

/** What of them was published as it happened. */
export function publishedLive(recorder: LiveRecorder, vehicleId: VehicleId): Happening[] {
  return plainLive(recorder, vehicleId)
    .filter(({ origin }) => origin === 'live')
    .map(({ kind, phase, geofenceId, fixTime }) =>
      happening(String(kind), String(phase), geofenceId as string | null, Date.parse(String(fixTime))),
    );
}

function lineOf({ id, startedAt, endedAt }: Record<string, unknown> | EventRow): string {
  return `${startedAt} ${endedAt} ${id}`;
}

/** What a live client holds for true of them in the end: by id, the last message stands. */
function lastLive(recorder: LiveRecorder, vehicleId: VehicleId): string[] {
  const last = new Map(plainLive(recorder, vehicleId).map((event) => [event.id, event]));
  return [...last.values()]
    .filter(({ phase }) => phase !== 'removed')
    .map(lineOf)
    .toSorted();
}

/** Every row of a report about a vehicle, page by page. */
async function rowsOf<Row>(call: Reached['call'], report: string, vehicleId: VehicleId): Promise<Row[]> {
  const [from, to] = [Date.now() - ASKED_FOR_MS, Date.now()].map((ms) => new Date(ms).toISOString());
  const path = `/api/v1/reports/${report}?vehicleId=${vehicleId}&from=${from}&to=${to}&limit=1000`;
  const rows: Row[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const behind: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: Row[]; nextCursor: string | null } = await call('GET', `${path}${behind}`);
    rows.push(...page.items);
    cursor = page.nextCursor;
  }
  return rows;
}

/** What is stored of a vehicle's way. */
export async function archivedTrack(call: Reached['call'], vehicleId: VehicleId): Promise<Fix[]> {
  const rows = await rowsOf<Fix>(call, 'track', vehicleId);
  return rows.map(({ fixTime, latitude, longitude, speedKmh }) => ({ fixTime, latitude, longitude, speedKmh }));
}

/** When the stored fixes of a vehicle are of, in their order. */
export async function archivedTimes(call: Reached['call'], vehicleId: VehicleId): Promise<string[]> {
  return (await archivedTrack(call, vehicleId)).map(({ fixTime }) => fixTime);
}

interface EventRow {
  id: string;
  kind: string;
  geozoneId: string | null;
  startedAt: string;
  endedAt: string | null;
  inferred: boolean;
}

/** Those of the archived events of a vehicle that the plain rules find. */
async function archivedEvents(call: Reached['call'], vehicleId: VehicleId): Promise<EventRow[]> {
  const rows = await rowsOf<EventRow>(call, 'events', vehicleId);
  return rows.filter(({ kind, inferred }) => !inferred && PLAIN_KINDS.has(kind));
}

/**
 * The archived events of a vehicle in the form of the plain rules: sorted, and without the begins of visits that were
 * under way at the first fix.
 *
 * @param fixes of the vehicle, in their order
 */
async function archivedHappenings(
  call: Reached['call'],
  vehicleId: VehicleId,
  fixes: readonly Position[],
): Promise<Happening[]> {
  // A geofence's edge is crossed on the way to the fix that shows it.
  const nthShowing = (time: string) => fixes.findIndex(({ fixTimeMs }) => fixTimeMs >= Date.parse(time));
  const timeOf = (nth: number) => fixes[nth]?.fixTimeMs ?? 0;
  const rows = await archivedEvents(call, vehicleId);
  /** By kind and geofence: the fix that showed the last end. */
  const lastEnds = new Map<string, number>();
  return rows
    .toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    .flatMap(({ kind, geozoneId, startedAt, endedAt }) => {
      const geofenceId = kind === 'geofence-visit' ? geozoneId : null;
      const subject = `${kind} ${geofenceId}`;
      const nth = nthShowing(startedAt);
      const wasFoundInside = geofenceId !== null && nth === 0;
      // A fix on the very edge ended one visit, and the next begins within the same millisecond.
      const shownBy = lastEnds.get(subject) === nth ? nth + 1 : nth;
      if (endedAt !== null) lastEnds.set(subject, nthShowing(endedAt));
      return [
        ...(wasFoundInside ? [] : [happening(kind, 'begin', geofenceId, timeOf(shownBy))]),
        ...(endedAt === null ? [] : [happening(kind, 'end', geofenceId, timeOf(nthShowing(endedAt)))]),
      ];
    })
    .toSorted();
}

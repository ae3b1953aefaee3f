import {
  type Alarm,
  blankPosition,
  type Definition,
  type DefinitionChange,
  Directory,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type LngLat,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofence, sampleSensor, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSame } from './correction.ts';
import { Engines } from './engines.ts';
import { phaseKey, type Scope, scopeOf } from './history-run.ts';
import { MemoryHistory } from './memory-history.fixture.ts';
import { recalculateVehicle } from './recalculate-vehicle.ts';

const RUNS = Number(process.env.LATE_RUNS ?? runs(1000));
const T0 = Date.UTC(2026, 2, 1, 8);
const VAN = '00000000-0000-7000-8000-000000000001' as VehicleId;
const OWNER = '00000000-0000-7000-8000-0000000000aa' as UserId;
const FENCES = [1, 2, 3].map((n) => `00000000-0000-7000-8000-0000000000f${n}` as GeofenceId);

const HARSH = { harshAccelerationMps2: 2.1, harshBrakingMps2: 2.1, harshCorneringMps2: 2.1 };
const owner: User = sampleUser({ id: OWNER, login: 'owner', name: 'Owner' });
const van: Vehicle = sampleVehicle({ id: VAN, name: 'Van', speedLimitKmh: 80, ...HARSH });
const fence = (id: GeofenceId, fields: Partial<Geofence>): Geofence =>
  sampleGeofence({
    id,
    name: id,
    ownerId: OWNER,
    shape: { type: 'circle', center: [0.03, 0.03], radiusM: 1500 },
    ...fields,
  });
const changeTo = (definition: Definition): DefinitionChange => {
  const { kind, id, version } = definition;
  return { kind, id, version, changedAtMs: 0, definition };
};

const OUTSIDE: LngLat = [0.0657, 0.0657];

// A board of 0.06° a side: geofences with corners and rims between the places that fixes are at.
const place = fc
  .tuple(
    fc.constantFrom(0.0041, 0.0157, 0.0261, 0.0333, 0.0429, 0.0567),
    fc.constantFrom(0.0063, 0.0147, 0.0291, 0.0433, 0.0557),
  )
  .map(([x, y]): LngLat => [x, y]);
const box = (a: number, b: number): LngLat[] => [
  [a, a],
  [b, a],
  [b, b],
  [a, b],
  [a, a],
];
const shape = fc.oneof(
  fc
    .tuple(fc.constantFrom(0, 0.01, 0.02), fc.constantFrom(0.03, 0.04, 0.05))
    .map(([a, b]) => ({ type: 'polygon' as const, rings: [box(a, b)] })),
  fc
    .constantFrom(900, 1700, 3100)
    .map((radiusM) => ({ type: 'circle' as const, center: [0.03, 0.03] as const, radiusM })),
);
const terms = fc.record({
  shape,
  speedLimitKmh: fc.constantFrom(null, 50),
  minDwellSeconds: fc.constantFrom(0, 0, 45, 200, 1800),
});
const fix = (steps: readonly number[]) =>
  fc.record({
    seconds: fc.constantFrom(...steps),
    // Often it is where it was: with little time between, everything else would be a jump.
    place: fc.oneof({ weight: 3, arbitrary: place }, { weight: 1, arbitrary: fc.constant(OUTSIDE) }),
    speedKmh: fc.constantFrom(null, 0, 0, 40, 55, 61, 85, 120),
    courseDeg: fc.constantFrom(null, 0, 20, 350),
    ignition: fc.constantFrom(null, true, true, false),
    valid: fc.constantFrom(true, true, true, true, true, false),
    alarms: fc.constantFrom<readonly Alarm[]>([], [], [], [], ['sos']),
    driverCode: fc.constantFrom(null, null, null, 'A1', 'A1', 'B2', '000000'),
    temperatureC: fc.constantFrom(null, -20, -18, -14, -5),
    /** Sent with the others, or kept by the terminal until so many packets later. */
    keptFor: fc.constantFrom(0, 0, 0, 1, 2, 5, 11),
  });
const short = fc.array(fix([0, 0, 5, 30, 60, 61, 120, 300, 301, 900, 3601, 20_000, 100_000]), {
  minLength: 3,
  maxLength: 40,
});
/**
 * Long enough that a recalculation of its end does not go back to its beginning, and begun outside of everything: of a
 * stay that the first fix was in, the archive knows nothing before its end.
 */
const long = fc
  .array(fix([0, 30, 60, 61, 120, 300, 301, 900, 3601]), { minLength: 60, maxLength: 110, size: 'max' })
  .map((fixes): typeof fixes =>
    fixes.map((each, nth) => ({
      ...each,
      ...(nth < fixes.length * 0.7 ? { keptFor: 0 } : {}),
      ...(nth === 0 ? { valid: true, place: OUTSIDE } : {}),
    })),
  );
const drive: typeof short = fc.oneof({ weight: 3, arbitrary: short }, { weight: 1, arbitrary: long });
const story = fc.record({
  fences: fc.array(terms, { minLength: 1, maxLength: 3 }),
  speedingMinSeconds: fc.constantFrom(0, 0, 100),
  sensor: fc
    .record({
      smoothing: fc.constantFrom(1, 1, 3),
      hysteresis: fc.constantFrom(0, 3),
      forSeconds: fc.constantFrom(0, 0, 200),
    })
    .map(({ smoothing, ...terms }) =>
      sampleSensor({
        smoothing,
        thresholds: [{ id: FENCES[0] as string, condition: 'above', min: null, max: -15, ...terms }],
      }),
    ),
  drive,
  perPacket: fc.integer({ min: 1, max: 4 }),
  /** Packets after two hours without any: silence has ended the trips before. */
  silences: fc.array(fc.constantFrom(false, false, false, true), { minLength: 130, maxLength: 130 }),
  /** After which packets what is waiting is recalculated. */
  turns: fc.array(fc.boolean(), { minLength: 130, maxLength: 130 }),
  pagePositions: fc.constantFrom(1, 3, 2000),
});
/**
 * A value beyond a threshold, and later the sensor is silent: what ended with that value names the driver of a shift
 * that late data made, and that was over when another one of the same driver had begun.
 */
function driverOfLateShift(): Story {
  const fixes = [
    { seconds: 20_000, place: [0.0041, 0.0557], speedKmh: 55, ignition: false, temperatureC: -18, keptFor: 11 },
    { seconds: 3601, place: [0.0567, 0.0063], speedKmh: 55, driverCode: 'A1' },
    {
      seconds: 20_000,
      place: [0.0333, 0.0557],
      speedKmh: 120,
      ignition: true,
      valid: false,
      driverCode: 'A1',
      keptFor: 2,
    },
    { seconds: 30, place: [0.0157, 0.0433], speedKmh: 120, temperatureC: -20 },
    { seconds: 60, place: [0.0567, 0.0433], ignition: false, temperatureC: -14 },
    { seconds: 3601, place: [0.0333, 0.0557], speedKmh: 55, ignition: true, driverCode: 'A1' },
    { seconds: 100_000, place: [0.0567, 0.0147], ignition: true, temperatureC: -5 },
    { seconds: 61, place: [0.0041, 0.0147], ignition: false, driverCode: 'B2' },
    { seconds: 0, place: [0.0041, 0.0291], speedKmh: 0, ignition: true, alarms: ['sos'], driverCode: 'A1' },
    { seconds: 900, place: [0.0157, 0.0433], speedKmh: 61, ignition: false, alarms: ['sos'], temperatureC: -5 },
  ] as const;
  const unsaid = { speedKmh: null, courseDeg: null, ignition: null, driverCode: null, temperatureC: null };
  const threshold = { condition: 'above' as const, min: null, max: -15, hysteresis: 3, forSeconds: 0 };
  const shape = { type: 'circle' as const, center: [0.03, 0.03] as const, radiusM: 900 as const };
  const among = (...places: number[]) => Array.from({ length: 130 }, (_, nth) => places.includes(nth));
  return {
    fences: [{ shape, speedLimitKmh: null, minDwellSeconds: 200 }],
    speedingMinSeconds: 100,
    sensor: sampleSensor({ smoothing: 1, thresholds: [{ id: FENCES[0] as string, ...threshold }] }),
    drive: fixes.map((fix) => ({
      valid: true,
      alarms: [],
      keptFor: 0,
      ...unsaid,
      ...fix,
    })) as unknown as Story['drive'],
    perPacket: 3,
    silences: among(2, 6, 8, 13),
    turns: among(2, 4, 5, 7, 8, 9, 10, 11, 12, 13),
    pagePositions: 1,
  };
}
const SILENCE_MS = 2 * 3_600_000;
/** Beyond what may be on its way to the archive. */
const LATER_MS = 10 * 60_000;
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** Positions as they were taken, and the packets in which they came. */
function packetsOf({ drive, perPacket, silences }: Story): { taken: Position[]; packets: TelemetryPacket[] } {
  let atMs = T0;
  const taken = drive.map(({ seconds, place: [longitude, latitude], ...fields }): Position => {
    atMs += seconds * 1000;
    const { speedKmh, courseDeg, ignition, valid, alarms, driverCode, temperatureC } = fields;
    // Of two values of one second the first to come counts, and which that was the history does not know.
    const temperature = temperatureC === null || seconds === 0 ? null : { temperature1C: temperatureC };
    const attributes = driverCode === null ? temperature : { driverCode };
    return { ...blankPosition(atMs, latitude, longitude), speedKmh, courseDeg, ignition, valid, alarms, attributes };
  });
  const sent: Position[][] = [];
  for (const [nth, position] of taken.entries()) {
    const at = Math.floor(nth / perPacket) + (drive[nth]?.keptFor ?? 0);
    sent[at] = [...(sent[at] ?? []), position];
  }
  const inPackets = [...sent.values()].filter((positions) => positions !== undefined);
  // What comes before any fix did has no place, and nothing is made of it, live or not.
  for (const position of inPackets[0] ?? []) position.valid = true;
  let receivedAtMs = atMs;
  const packets = inPackets.map((positions, nth) => {
    receivedAtMs += silences[nth] ? SILENCE_MS : 1;
    return { vehicleId: VAN, terminalId: '1' as TerminalId, protocol: 'osmand' as const, receivedAtMs, positions };
  });
  // Of one second, as they came: nothing else is known of their order.
  const inTime = packets.flatMap(({ positions }) => positions).toSorted((a, b) => a.fixTimeMs - b.fixTimeMs);
  return { taken: inTime, packets };
}

function scopeOfStory({ fences, speedingMinSeconds, sensor }: Story, only: GeofenceId | null = null): Scope {
  const directory = new Directory();
  directory.apply(changeTo(owner));
  directory.apply(changeTo({ ...van, speedingMinSeconds, sensors: sensor === undefined ? [] : [sensor] }));
  for (const [nth, fields] of fences.entries()) directory.apply(changeTo(fence(FENCES[nth] as GeofenceId, fields)));
  const scope = scopeOf(directory, VAN, only);
  if (scope === null) throw new Error('the van is watched');
  return scope;
}

/** What the live rules say when everything comes in the order in which it was taken; each event in its latest phase. */
function inOrder(
  { vehicle, owners, geofences }: Scope,
  taken: readonly Position[],
  receivedAtMs: number,
): FleetEvent[] {
  const engine = new Engine();
  engine.load([...owners, vehicle, ...geofences].map(changeTo));
  const reported: FleetEvent[] = [];
  for (const [offset, position] of taken.entries())
    engine.process(
      { vehicleId: VAN, terminalId: '1' as TerminalId, protocol: 'osmand', receivedAtMs, positions: [position] },
      offset,
      reported,
    );
  engine.advance(receivedAtMs + SILENCE_MS, reported);
  const latest = new Map(reported.filter(({ kind }) => kind !== 'offline').map((event) => [event.id, event]));
  return [...latest.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function expectSame(found: readonly FleetEvent[], wanted: readonly FleetEvent[]): void {
  const brief = (event: FleetEvent) => ({ ...event, origin: null });
  const differs =
    found.length !== wanted.length || found.some((event, nth) => !isSame(event, wanted[nth] as FleetEvent));
  if (differs) expect(found.map(brief)).toEqual(wanted.map(brief));
}

const noProgress = async () => {};

test('late data, in whatever order and however often it comes, ends with the events of data that came in order', {
  timeout: 600_000,
}, async () => {
  let corrected = 0;
  let news = 0;
  let settledMeanwhile = 0;
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(story, async (story) => {
      const scope = scopeOfStory(story);
      const { taken, packets } = packetsOf(story);
      const history = new MemoryHistory();
      const live = new Engine();
      live.load([...scope.owners, scope.vehicle, ...scope.geofences].map(changeTo));
      const engines = new Engines();
      /** What waits to be recalculated. */
      let waiting: { fromMs: number; toMs: number } | null = null;
      let number = 0;
      /** What was published, as `<id> <phase>`. */
      const published = new Map<string, FleetEvent>();
      const publish = async (events: readonly FleetEvent[]) => {
        for (const event of events) {
          // Of an event whose begin was recalculated, the live rules may have published the end, with its id.
          if (event.phase === 'begin') expect(published.has(phaseKey(event))).toBe(false);
          published.set(phaseKey(event), event);
          news++;
        }
      };
      let nowMs = 0;
      /** When the last packet was received, by a clock that is right. */
      let lastMs = 0;
      const recalculate = async () => {
        if (waiting === null) return;
        const task = {
          scope,
          engine: engines.engineFor(scope),
          isLateData: true,
          ...waiting,
          freshMs: nowMs,
          number: number++,
          publish,
          pagePositions: story.pagePositions,
        };
        const { settled } = await recalculateVehicle(history, task, noProgress);
        if (!settled) return;
        waiting = null;
        settledMeanwhile++;
      };

      for (const [offset, packet] of packets.entries()) {
        const reported: FleetEvent[] = [];
        // The clock may be asked before the next packet, or not: nothing more came up to then.
        if (story.turns[offset] && packet.receivedAtMs > lastMs) live.advance(packet.receivedAtMs - 1, reported);
        live.process(packet, offset, reported);
        lastMs = Math.max(lastMs, packet.receivedAtMs);
        nowMs = lastMs + LATER_MS;
        ended += reported.filter((event) => event.kind === 'trip' && event.phase === 'end').length;
        history.archivePacket(packet);
        history.archiveEvents(reported.filter(({ kind }) => kind !== 'offline'));
        for (const event of reported) published.set(phaseKey(event), event);
        for (const { fromMs, toMs } of live.takeLate()) {
          const known: { fromMs: number; toMs: number } = waiting ?? { fromMs, toMs };
          waiting = { fromMs: Math.min(known.fromMs, fromMs), toMs: Math.max(known.toMs, toMs) };
        }
        if (story.turns[offset]) await recalculate();
      }
      const reported: FleetEvent[] = [];
      nowMs = lastMs + SILENCE_MS + LATER_MS;
      live.advance(nowMs - LATER_MS, reported);
      history.archiveEvents(reported.filter(({ kind }) => kind !== 'offline'));
      await recalculate();
      const wanted = inOrder(scope, taken, lastMs);
      expectSame(history.events(VAN), wanted);
      corrected += history.replacements;
      // Where there was an alarm, one was published. (Not each: what late data joined, more late data may divide
      // again.)
      const isAlarm = ({ kind, phase }: FleetEvent) => kind === 'alarm' && phase === 'begin';
      expect([...published.values()].some(isAlarm)).toBe(wanted.some(({ kind }) => kind === 'alarm'));

      // Once more changes nothing, though asked for all of it.
      const before = history.replacements;
      const all = { fromMs: T0, toMs: T0 + 10 ** 10, freshMs: nowMs };
      await recalculateVehicle(
        history,
        { scope, engine: engines.engineFor(scope), isLateData: false, ...all, number: number++ },
        noProgress,
      );
      expectSame(history.events(VAN), wanted);
      expect(history.replacements).toBe(before);
    }),
    { numRuns: RUNS, endOnFailure: true, examples: [[driverOfLateShift()]] },
  );
  // Stories in which nothing had to be corrected, or nothing was ever settled, would prove nothing.
  expect(corrected).toBeGreaterThan(RUNS / 4);
  expect(settledMeanwhile).toBeGreaterThan(RUNS / 10);
  expect(news).toBeGreaterThan(RUNS / 4);
  expect(ended).toBeGreaterThan(RUNS / 10);
});

test('a new geofence asked about the past has the visits that it would have had, and touches no others', {
  timeout: 600_000,
}, async () => {
  let visits = 0;
  await fc.assert(
    fc.asyncProperty(story, async (story) => {
      const { taken, packets } = packetsOf(story);
      const [first, ...others] = story.fences;
      if (first === undefined) return;
      const history = new MemoryHistory();
      for (const packet of packets) history.archivePacket(packet);
      const receivedAtMs = packets[0]?.receivedAtMs ?? 0;
      // Until now only the other geofences existed, and none of the first one's events.
      const isOfFirst = (event: FleetEvent) => 'geofenceId' in event && event.geofenceId === FENCES[0];
      const known = inOrder(scopeOfStory(story), taken, receivedAtMs).filter((event) => !isOfFirst(event));
      history.archiveEvents(known);
      expect(others.length).toBe(story.fences.length - 1);

      const scope = scopeOfStory(story, FENCES[0] as GeofenceId);
      const engine = new Engines().engineFor(scope);
      const task = {
        scope,
        engine,
        isLateData: false,
        fromMs: T0,
        toMs: T0 + 10 ** 10,
        freshMs: Number.POSITIVE_INFINITY,
        number: 1,
      };
      await recalculateVehicle(history, { ...task, pagePositions: story.pagePositions }, noProgress);
      const wanted = inOrder(scopeOfStory(story), taken, receivedAtMs);
      visits += wanted.filter(isOfFirst).length;
      expectSame(history.events(VAN), wanted);
    }),
    { numRuns: runs(300), endOnFailure: true },
  );
  expect(visits).toBeGreaterThan(runs(300) * 0.6);
});

test('a fix that came ahead of its time moves nothing live, and has its place in the history when its time has come', async () => {
  const scope = scopeOfStory({ fences: [], speedingMinSeconds: 0 } as unknown as Story);
  const at = (minute: number, speedKmh: number, [x, y]: LngLat = [0.01 + Math.min(minute, 40) / 1000, 0.01]) => ({
    ...blankPosition(T0 + minute * 60_000, y, x),
    speedKmh,
  });
  const packetAt = (minute: number, position: Position): TelemetryPacket => ({
    vehicleId: VAN,
    terminalId: '1' as TerminalId,
    protocol: 'osmand',
    receivedAtMs: T0 + minute * 60_000,
    positions: [position],
  });
  const history = new MemoryHistory();
  const live = new Engine();
  live.load([...scope.owners, scope.vehicle].map(changeTo));
  // The server's clock is twenty minutes slow for half an hour, and right again.
  const positions = Array.from({ length: 60 }, (_, minute) => at(minute, minute < 40 ? 60 : 0));
  let late: { fromMs: number; toMs: number } | null = null;
  for (const [minute, position] of positions.entries()) {
    const packet = packetAt(minute < 30 ? minute - 20 : minute, position);
    const reported: FleetEvent[] = [];
    live.process(packet, minute, reported);
    history.archivePacket(packet);
    history.archiveEvents(reported);
    if (minute < 30) expect([live.statusOf(VAN)?.position ?? null, reported]).toEqual([null, []]);
    for (const { fromMs, toMs } of live.takeLate())
      late =
        late === null ? { fromMs, toMs } : { fromMs: Math.min(late.fromMs, fromMs), toMs: Math.max(late.toMs, toMs) };
  }
  expect(late).toEqual({ fromMs: T0, toMs: T0 + 29 * 60_000 });
  const task = {
    scope,
    engine: new Engines().engineFor(scope),
    isLateData: true,
    freshMs: T0 + 61 * 60_000,
    number: 1,
  };
  await recalculateVehicle(history, { ...task, fromMs: T0, toMs: T0 + 29 * 60_000 }, noProgress);
  const trips = history.events(VAN).filter(({ kind }) => kind === 'trip');
  expect(trips).toMatchObject([{ phase: 'end', startedAtMs: T0, endedAtMs: T0 + 40 * 60_000, endReason: 'stopped' }]);
});

/**
 * Positions of which some come only after all others up to a minute; then they are recalculated until that is settled,
 * and the rest comes.
 */
async function withLate(scope: Scope, taken: readonly Position[], isLate: (nth: number) => boolean, untilNth: number) {
  const history = new MemoryHistory();
  const live = new Engine();
  live.load([...scope.owners, scope.vehicle, ...scope.geofences].map(changeTo));
  let offset = 0;
  let waiting: { fromMs: number; toMs: number } | null = null;
  const send = async (position: Position, receivedAtMs: number) => {
    const reported: FleetEvent[] = [];
    const packet = { vehicleId: VAN, terminalId: '1' as TerminalId, protocol: 'osmand' as const, receivedAtMs };
    live.process({ ...packet, positions: [position] }, offset++, reported);
    history.archivePacket({ ...packet, positions: [position] });
    history.archiveEvents(reported.filter(({ kind }) => kind !== 'offline'));
    for (const { fromMs, toMs } of live.takeLate()) {
      const known: { fromMs: number; toMs: number } = waiting ?? { fromMs, toMs };
      waiting = { fromMs: Math.min(known.fromMs, fromMs), toMs: Math.max(known.toMs, toMs) };
    }
  };
  const recalculate = async (freshMs: number) => {
    if (waiting === null) return;
    const engine = new Engines().engineFor(scope);
    const task = { scope, engine, isLateData: true, ...waiting, freshMs, number: 1 + offset };
    const { settled } = await recalculateVehicle(history, task, noProgress);
    if (settled) waiting = null;
  };
  const lastMs = taken.at(-1)?.fixTimeMs ?? 0;
  const first = taken.slice(0, untilNth);
  for (const position of first.filter((_, nth) => !isLate(nth))) await send(position, position.fixTimeMs);
  for (const position of first.filter((_, nth) => isLate(nth))) await send(position, first.at(-1)?.fixTimeMs ?? 0);
  await recalculate(lastMs);
  for (const position of taken.slice(untilNth)) {
    await send(position, position.fixTimeMs);
    await recalculate(position.fixTimeMs + LATER_MS);
  }
  const reported: FleetEvent[] = [];
  live.advance(lastMs + SILENCE_MS, reported);
  history.archiveEvents(reported.filter(({ kind }) => kind !== 'offline'));
  return { found: history.events(VAN), wanted: inOrder(scope, taken, lastMs) };
}

test('what ends long after late data says what the late data said', async () => {
  const shape = { type: 'circle' as const, center: [0.03, 0.03] as const, radiusM: 1700 };
  const terms = { shape, speedLimitKmh: null, minDwellSeconds: 0 };
  const threshold = { condition: 'above' as const, min: null, max: -15, hysteresis: 3, forSeconds: 0 };
  const sensor = sampleSensor({ smoothing: 1, thresholds: [{ id: FENCES[0] as string, ...threshold }] });
  const scope = scopeOfStory({ fences: [terms], speedingMinSeconds: 0, sensor } as unknown as Story);
  const at = (minute: number, attributes: Position['attributes']): Position => ({
    ...blankPosition(
      T0 + minute * 60_000,
      0.03,
      minute === 0 || minute > 50 ? 0.06 : 0.028 + Math.min(minute, 20) / 10_000,
    ),
    // Neither its trip nor where it stands lasts from the late data to the end.
    speedKmh: minute < 20 || minute > 50 ? 20 : 0,
    attributes,
  });
  const taken = Array.from({ length: 60 }, (_, minute) => {
    if (minute === 5) return at(minute, { temperature1C: -14 });
    if (minute === 10) return at(minute, { temperature1C: -5, driverCode: 'A1' });
    if (minute === 11) return at(minute, { driverCode: '0000' });
    return at(minute, minute === 45 ? { temperature1C: -20 } : null);
  });
  const { found, wanted } = await withLate(scope, taken, (nth) => nth === 10 || nth === 11, 40);
  expect(wanted.find(({ kind }) => kind === 'sensor-threshold')).toMatchObject({ phase: 'end', peakValue: -5 });
  expect(wanted.find(({ kind }) => kind === 'geofence-visit')).toMatchObject({ phase: 'end', driverCode: 'A1' });
  expectSame(found, wanted);
});

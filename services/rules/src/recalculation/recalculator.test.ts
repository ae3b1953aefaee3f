import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  blankPosition,
  type Directory,
  type FleetEvent,
  type GeofenceId,
  type Position,
  SYSTEM_CLOCK,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleUserFields, sampleVehicleFields } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import {
  correctionsTopic,
  eventsTopic,
  type Log,
  lateEventsTopic,
  lateTopic,
  openSqliteLog,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import { followRegistry, type Job, type Registry } from '@outrider/registry';
import { openTestRegistry } from '@outrider/registry/blank';
import { Metrics } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { scopeOf } from './history-run.ts';
import { MemoryHistory } from './memory-history.fixture.ts';
import { createRecalculator, type RecalculatorConfig, type RecalculatorParts } from './recalculator.ts';

/** An hour that is over, of today: late data is of the last month. */
const T0 = Math.floor(Date.now() / 1000) * 1000 - 6 * 3_600_000;
const DAY_MS = 86_400_000;
const PATIENCE = { timeout: 60_000, interval: 10 };
const QUICK: RecalculatorConfig = { lateDelayMs: 0, oldDelayMs: 0, pollMs: 5, againMs: 3_600_000 };
const ALL = { limit: 1000, after: null };
const INTERVAL = { fromMs: T0, toMs: T0 + 3_600_000, receivedAtMs: null };

let folder: string;
let log: Log;
let registry: Registry;
let directory: Directory;
let unfollow: () => void;
let owner: UserId;
let vans: VehicleId[];
let depot: GeofenceId;
let history: History;
let running: ReturnType<typeof createRecalculator>[];

/** Remembers what it was asked, and can be made to stand still. */
class History extends MemoryHistory {
  readonly asked: VehicleId[] = [];
  /** What a question waits for. */
  gate: (vehicleId: VehicleId) => Promise<void> = async () => {};
  hasLate = true;
  /** Whose track takes more than a statement may. */
  tooMuchFor: VehicleId | null = null;

  override async judgedTracks(...[questions, limit]: Parameters<MemoryHistory['judgedTracks']>) {
    if (questions.some(({ vehicleId }) => vehicleId === this.tooMuchFor))
      throw Object.assign(new Error('too much'), { name: 'TooMuchError' });
    return super.judgedTracks(questions, limit);
  }

  override async track(question: Parameters<MemoryHistory['track']>[0]) {
    this.asked.push(question.vehicleId);
    await this.gate(question.vehicleId);
    return super.track(question);
  }

  override async hasLateArrivals(): Promise<boolean> {
    return this.hasLate;
  }
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recalculator-'));
  log = openSqliteLog({ path: join(folder, 'log.sqlite') });
  registry = await openTestRegistry({ path: join(folder, 'registry.sqlite') });
  owner = (await registry.users.create(sampleUserFields({ login: 'owner' }), 'long enough a password')).id;
  vans = [];
  for (const name of ['one', 'two', 'three'])
    vans.push((await registry.vehicles.create(sampleVehicleFields({ name }))).id);
  const shape = { type: 'circle', center: [0.1, 0.1], radiusM: 500 } as const;
  depot = (await registry.geofences.create(sampleGeofenceFields({ ownerId: owner, shape }))).id;
  const followed = await followRegistry(registry);
  directory = followed.directory;
  unfollow = followed.stop;
  history = new History();
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((each) => each.stop()));
  unfollow();
  await registry.close();
  await log.close();
  await rm(folder, { recursive: true });
});

async function ends(): Promise<Record<string, number>> {
  const endOf = async (topic: Topic<unknown>) => (await log.endOffsets(topic)).get(0) ?? 0;
  return {
    telemetry: await endOf(telemetryTopic as Topic<unknown>),
    events: await endOf(eventsTopic as Topic<unknown>),
  };
}

async function start(config: RecalculatorConfig = {}, more: Partial<RecalculatorParts> = {}) {
  const quiet = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
  const recalculator = createRecalculator({
    config: { ...QUICK, ...config },
    log,
    // The archive has all that the log has.
    checkpoints: { load: async () => ({ offsets: await ends(), identities: {}, entries: new Map() }) },
    jobs: registry.jobs,
    history,
    directory,
    logger: quiet,
    metrics: new Metrics(),
    clock: SYSTEM_CLOCK,
    ...more,
  });
  recalculator.failed.catch(() => {});
  running.push(recalculator);
  await recalculator.start();
  return recalculator;
}

/** A drive past the depot: outside, inside from the third minute on, outside again from the eighth on. */
function drive(vehicleId: VehicleId): Position[] {
  return Array.from({ length: 30 }, (_, minute) => ({
    ...blankPosition(T0 + minute * 60_000, 0.1, minute >= 3 && minute < 8 ? 0.1 : 0.12 + minute * 1e-5),
    speedKmh: 30 + (vans.indexOf(vehicleId) % 2),
  }));
}

const packet = (vehicleId: VehicleId, positions: Position[]) => ({
  vehicleId,
  terminalId: '1' as TerminalId,
  protocol: 'osmand' as const,
  receivedAtMs: T0 + 3_600_000,
  positions,
});

/** What the live rules say of positions in the order in which they come. */
function reported(vehicleId: VehicleId, ...parts: Position[][]): FleetEvent[] {
  const engine = new Engine();
  const { owners, vehicle, geofences } = scopeOf(directory, vehicleId, null) ?? raise('it is watched');
  engine.load(
    [...owners, vehicle, ...geofences].map((definition) => {
      const { kind, id, version } = definition;
      return { kind, id, version, changedAtMs: 0, definition };
    }),
  );
  const events: FleetEvent[] = [];
  for (const [offset, positions] of parts.entries()) engine.process(packet(vehicleId, positions), offset, events);
  // Nothing came since.
  engine.advance(Date.now(), events);
  return events.filter(({ kind }) => kind !== 'offline');
}
function raise(what: string): never {
  throw new Error(what);
}

/** What the engine says of all positions in their order, each event in its latest phase. */
function wanted(vehicleId: VehicleId, geofenceId: GeofenceId | null = null): string[] {
  const latest = new Map(reported(vehicleId, drive(vehicleId)).map((event) => [event.id, event]));
  return [...latest.values()]
    .filter(({ kind }) => geofenceId === null || kind === 'geofence-visit')
    .map(brief)
    .toSorted();
}
const brief = ({ kind, phase, id, fixTimeMs }: FleetEvent) => `${kind} ${phase} ${id} ${fixTimeMs}`;
const found = (vehicleId: VehicleId) => history.events(vehicleId).map(brief).toSorted();

async function ask(kind: string, subjectId: string): Promise<Job> {
  return registry.jobs.create(
    { kind, userId: owner, subjectId, parameters: INTERVAL, dueAtMs: 0 },
    {
      action: 'recalculated',
      subject: { kind: 'vehicle', id: subjectId, name: '' },
      after: null,
      dealerIds: [],
      ownerIds: [],
    },
  );
}
const ended = (id: Job['id']) =>
  vi.waitFor(async () => {
    const job = await registry.jobs.get(id);
    expect(['done', 'failed', 'cancelled']).toContain(job?.state);
    return job as Job;
  }, PATIENCE);

/** Live came what is before and after the visit; the visit came late. @returns the visit */
function archiveVisitLate(vehicleId: VehicleId): Position[] {
  const all = drive(vehicleId);
  const [early, late] = [all.filter((_, minute) => minute < 3 || minute > 8), all.slice(3, 9)];
  history.archivePacket(packet(vehicleId, early));
  history.archivePacket(packet(vehicleId, late));
  history.archiveEvents(reported(vehicleId, early, late));
  return late;
}

test('late data becomes a job of the vehicle, and its events what they would have been', async () => {
  const [van] = vans as [VehicleId];
  const late = archiveVisitLate(van);
  const lates = [late.slice(0, 3), late.slice(3)].map((part) => ({
    vehicleId: van,
    fromMs: part[0]?.fixTimeMs ?? 0,
    toMs: part.at(-1)?.fixTimeMs ?? 0,
    receivedAtMs: T0 + 3_600_000,
  }));
  await log.append(lateTopic, lates);
  await start();
  await vi.waitFor(() => expect(found(van)).toEqual(wanted(van)), PATIENCE);
  expect(history.events(van).map(({ origin }) => origin)).toContain('recalculated');
  await vi.waitFor(async () => {
    const { items } = await registry.jobs.list({ kind: 'late-data', state: 'done' }, ALL);
    expect(items.length).toBeGreaterThan(0);
    for (const { userId, subjectId, progress } of items) {
      expect([userId, subjectId]).toEqual([null, van]);
      expect(progress).toEqual({ percent: 100, positions: 30 });
    }
  }, PATIENCE);

  // What was reported is not taken up again by the next process.
  const known = (await registry.jobs.list({}, ALL)).items.length;
  await running.shift()?.stop();
  await start();
  await log.append(lateTopic, [{ ...(lates[0] as (typeof lates)[0]), vehicleId: vans[1] as VehicleId }]);
  await vi.waitFor(async () => expect((await registry.jobs.list({}, ALL)).items).toHaveLength(known + 1), PATIENCE);
});

/** What was published for notifications. */
async function published(): Promise<FleetEvent[]> {
  const events: FleetEvent[] = [];
  for (const [partition, end] of await log.endOffsets(lateEventsTopic))
    for await (const { records } of log.read(lateEventsTopic, partition, 'earliest', end))
      events.push(...records.map(({ value }) => value));
  return events;
}
const lateInterval = (vehicleId: VehicleId, late: readonly Position[], hasAlarm = false) => ({
  vehicleId,
  fromMs: late[0]?.fixTimeMs ?? 0,
  toMs: late.at(-1)?.fixTimeMs ?? 0,
  receivedAtMs: T0 + 3_600_000,
  hasAlarm,
});

test('what late data made known is published once with when it was received, what a person asked for never', async () => {
  const [van, other] = vans as [VehicleId, VehicleId];
  const late = archiveVisitLate(van);
  await log.append(lateTopic, [lateInterval(van, late)]);
  await start();
  await vi.waitFor(() => expect(found(van)).toEqual(wanted(van)), PATIENCE);
  const visits = (await published()).filter(({ kind }) => kind === 'geofence-visit');
  expect(visits.map(({ phase, origin, receivedAtMs }) => [phase, origin, receivedAtMs])).toEqual([
    ['begin', 'recalculated', T0 + 3_600_000],
    ['end', 'recalculated', T0 + 3_600_000],
  ]);
  expect(new Set(visits.map(({ id }) => id)).size).toBe(1);
  const before = await published();

  await log.append(lateTopic, [lateInterval(van, late)]);
  history.archivePacket(packet(other, drive(other)));
  await ended((await ask('recalculate-vehicle', other)).id);
  expect(found(other)).toEqual(wanted(other));
  expect(await published()).toEqual(before);
});

/** The events of a vehicle as somebody has them who applied what was announced to what was reported live, by id. */
async function followed(vehicleId: VehicleId, live: readonly FleetEvent[]): Promise<string[]> {
  const known = new Map(live.map((event) => [event.id, event]));
  for (const [partition, end] of await log.endOffsets(correctionsTopic))
    for await (const { records } of log.read(correctionsTopic, partition, 'earliest', end))
      for (const { value } of records) {
        if (value.event.vehicleId !== vehicleId) continue;
        if (value.removed) known.delete(value.event.id);
        else known.set(value.event.id, value.event);
      }
  return [...known.values()].map(brief).toSorted();
}

test('every correction is announced, late or asked for: who applies them has what the archive has', async () => {
  const [van, other] = vans as [VehicleId, VehicleId];
  const late = archiveVisitLate(van);
  const live = history.events(van);
  // A visit that never was is removed.
  const wrong = reported(other, drive(other)).filter(({ kind }) => kind === 'geofence-visit');
  history.archivePacket(
    packet(
      other,
      drive(other).map((position) => ({ ...position, longitude: 0.3 })),
    ),
  );
  history.archiveEvents(wrong);
  const liveOfOther = history.events(other);
  expect(await followed(van, live)).not.toEqual(wanted(van));
  await log.append(lateTopic, [lateInterval(van, late)]);
  await start();
  await vi.waitFor(() => expect(found(van)).toEqual(wanted(van)), PATIENCE);
  expect(await followed(van, live)).toEqual(found(van));
  await ended((await ask('recalculate-vehicle', other)).id);
  expect(found(other).filter((line) => line.startsWith('geofence-visit'))).toEqual([]);
  expect(liveOfOther.map(brief).filter((line) => line.startsWith('geofence-visit'))).not.toEqual([]);
  expect(await followed(other, liveOfOther)).toEqual(found(other));
});

test('a correction is announced before the archive has it: a process that dies in between announces it again', async () => {
  const [van] = vans as [VehicleId];
  const late = archiveVisitLate(van);
  const replace = history.replaceEvents.bind(history);
  let announced = 0;
  let refused = false;
  history.replaceEvents = async (replacement) => {
    announced = (await log.endOffsets(correctionsTopic)).get(0) ?? 0;
    if (refused) return replace(replacement);
    refused = true;
    throw new Error('the archive is away');
  };
  await log.append(lateTopic, [lateInterval(van, late)]);
  await start({ retryMs: 1 });
  await vi.waitFor(() => expect(found(van)).toEqual(wanted(van)), PATIENCE);
  expect(announced).toBeGreaterThan(0);
  expect(refused).toBe(true);
});

test('late data of many vehicles is recalculated side by side, in few questions, and each ends as it would alone', async () => {
  for (let nth = vans.length; nth < 130; nth++)
    vans.push((await registry.vehicles.create(sampleVehicleFields({ name: `van ${nth}` }))).id);
  const lates = vans.map((van) => lateInterval(van, archiveVisitLate(van)));
  await log.append(lateTopic, lates);
  const asked: number[] = [];
  const tracks = history.judgedTracks.bind(history);
  history.judgedTracks = (questions, limit) => {
    asked.push(questions.length);
    return tracks(questions, limit);
  };
  await start();
  await vi.waitFor(() => {
    for (const van of vans) expect(found(van)).toEqual(wanted(van));
  }, PATIENCE);
  expect(asked.reduce((sum, length) => sum + length, 0)).toBeGreaterThanOrEqual(vans.length);
  // All of a turn, unless the first turn began while the others were being noted.
  expect(asked.length).toBeLessThan(vans.length / 4);
  await vi.waitFor(async () => {
    const { items } = await registry.jobs.list({ kind: 'late-data', state: 'done' }, ALL);
    expect(items.length).toBeGreaterThanOrEqual(vans.length);
  }, PATIENCE);
});

test('one vehicle whose history can not be read keeps no other from its end', async () => {
  const [bad, good] = vans as [VehicleId, VehicleId];
  const lates = [bad, good].map((van) => lateInterval(van, archiveVisitLate(van)));
  history.tooMuchFor = bad;
  await log.append(lateTopic, lates);
  await start({ retryMs: 1 });
  await vi.waitFor(() => expect(found(good)).toEqual(wanted(good)), PATIENCE);
  expect(found(bad)).not.toEqual(wanted(bad));
  history.tooMuchFor = null;
  await vi.waitFor(() => expect(found(bad)).toEqual(wanted(bad)), PATIENCE);
});

test('an alarm in late data goes before all other late data that waits', async () => {
  for (const van of vans) archiveVisitLate(van);
  const late = drive(vans[0] as VehicleId).slice(3, 9);
  await log.append(
    lateTopic,
    vans.map((van, nth) => lateInterval(van, late, nth === 2)),
  );
  // What has no alarm would be recalculated in an hour.
  await start({ lateDelayMs: 3_600_000 });
  await vi.waitFor(() => expect(found(vans[2] as VehicleId)).toEqual(wanted(vans[2] as VehicleId)), PATIENCE);
  expect(new Set(history.asked)).toEqual(new Set([vans[2]]));
});

test('what was only sent again costs nothing, however old it is', async () => {
  const [van, other] = vans as [VehicleId, VehicleId];
  history.hasLate = false;
  await log.append(lateTopic, [
    { vehicleId: van, fromMs: T0, toMs: T0 + 1000, receivedAtMs: T0 },
    { vehicleId: other, fromMs: T0 - 40 * DAY_MS, toMs: T0 - 39 * DAY_MS, receivedAtMs: T0 },
  ]);
  await start();
  await vi.waitFor(async () => {
    const { items } = await registry.jobs.list({}, ALL);
    const kinds = items.map(({ kind, state, progress }) => [kind, state, progress?.positions]).toSorted();
    expect(kinds).toEqual([
      ['late-data', 'done', 0],
      ['old-data', 'done', 0],
    ]);
  }, PATIENCE);
  expect(history.asked).toEqual([]);
});

test('what is more than 31 days late is recalculated as a job of its own, and nobody is notified', async () => {
  const [van] = vans as [VehicleId];
  const old = drive(van).map((position) => ({ ...position, fixTimeMs: position.fixTimeMs - 400 * DAY_MS }));
  const late = archiveVisitLate(van);
  history.archivePacket(packet(van, old));
  await log.append(lateTopic, [lateInterval(van, [...old, ...late])]);
  await start();
  const visitsOf = (events: readonly FleetEvent[]) => events.filter(({ kind }) => kind === 'geofence-visit');
  await vi.waitFor(() => {
    const visits = visitsOf(history.events(van)).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
    expect(visits.map(({ phase }) => phase)).toEqual(['end', 'end']);
    const [first, second] = visits.map(({ startedAtMs }) => startedAtMs);
    expect((second ?? 0) - (first ?? 0)).toBe(400 * DAY_MS);
  }, PATIENCE);
  await vi.waitFor(async () => {
    const { items } = await registry.jobs.list({ state: 'done' }, ALL);
    expect(new Set(items.map(({ kind }) => kind))).toEqual(new Set(['late-data', 'old-data']));
  }, PATIENCE);
  for (const { startedAtMs } of visitsOf(await published())) expect(startedAtMs).toBeGreaterThan(T0 - DAY_MS);
});

test('what lasts because data was on its way is looked at again within seconds', async () => {
  const [van] = vans as [VehicleId];
  const all = drive(van).map((position, minute) =>
    minute === 10 ? { ...position, alarms: ['sos' as const] } : position,
  );
  const [before, late, after] = [all.slice(0, 10), all.slice(10, 11), all.slice(11)];
  history.archivePacket(packet(van, before));
  history.archivePacket({ ...packet(van, after), receivedAtMs: Date.now() });
  history.archivePacket({ ...packet(van, late), receivedAtMs: Date.now() });
  history.archiveEvents(reported(van, before, after));
  await log.append(lateTopic, [{ ...lateInterval(van, late, true), receivedAtMs: Date.now() - 1 }]);
  // What lasts by itself would be looked at again in an hour.
  await start();
  const alarms = () => history.events(van).filter(({ kind }) => kind === 'alarm');
  await vi.waitFor(() => expect(alarms().map(({ phase }) => phase)).toEqual(['end']), PATIENCE);
  expect(alarms()).toMatchObject([{ alarm: 'sos', endedAtMs: all[11]?.fixTimeMs }]);
  const begins = (await published()).filter(({ kind, phase }) => kind === 'alarm' && phase === 'begin');
  expect(begins).toHaveLength(1);
});

test('a geofence is asked about the past of all that it watches, and no other events are touched', async () => {
  for (const van of vans) history.archivePacket(packet(van, drive(van)));
  await start();
  const { id } = await ask('recalculate-geozone', depot);
  expect(await ended(id)).toMatchObject({
    state: 'done',
    progress: { percent: 100, positions: 90 },
    result: { vehicles: 3, added: 3, changed: 0, removed: 0 },
  });
  for (const van of vans) expect(found(van)).toEqual(wanted(van, depot));
  // Once more changes nothing.
  const again = await ask('recalculate-geozone', depot);
  expect((await ended(again.id)).result).toMatchObject({ added: 0, changed: 0, removed: 0 });
});

test('what a process that died had in hand is finished by the next, and nothing is doubled', async () => {
  for (const van of vans) history.archivePacket(packet(van, drive(van)));
  const [, second] = vans.toSorted();
  // The first one dies over the second vehicle: it never receives the answer to its question.
  let reached = () => {};
  const stuck = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  history.gate = async (vehicleId) => {
    if (vehicleId !== second) return;
    reached();
    await released;
  };
  await start({ leaseMs: 200 });
  const { id } = await ask('recalculate-geozone', depot);
  await stuck;
  expect(await registry.jobs.get(id)).toMatchObject({ state: 'running', progress: { positions: 30 } });
  history.gate = async () => {};
  history.asked.length = 0;
  await start({ leaseMs: 10_000 });
  const job = await ended(id);
  expect(job).toMatchObject({ state: 'done', result: { vehicles: 3, added: 3, changed: 0, removed: 0 } });
  // It went on where the first one had got to, …
  expect([...new Set(history.asked)]).toEqual(vans.toSorted().slice(1));
  for (const van of vans) expect(found(van)).toEqual(wanted(van, depot));
  // … which, should it come to again, has nothing more to say.
  const written = history.replacements;
  release();
  await running.shift()?.stop();
  expect(history.replacements - written).toBeLessThanOrEqual(1);
  for (const van of vans) expect(found(van)).toEqual(wanted(van, depot));
  expect(await registry.jobs.get(id)).toEqual(job);
});

test('one that is called off ends, and what it has done stays done', async () => {
  for (const van of vans) history.archivePacket(packet(van, drive(van)));
  const [first, second, third] = vans.toSorted() as [VehicleId, VehicleId, VehicleId];
  const { id } = await ask('recalculate-geozone', depot);
  history.gate = async (vehicleId) => {
    if (vehicleId === second) await registry.jobs.cancel(id);
  };
  await start({ leaseMs: 20 });
  expect(await ended(id)).toMatchObject({ state: 'cancelled', result: null });
  expect(found(first)).toEqual(wanted(first, depot));
  expect(found(third)).toEqual([]);
});

test('a long one gives others a turn', async () => {
  for (const van of vans) history.archivePacket(packet(van, drive(van)));
  const zone = await ask('recalculate-geozone', depot);
  const one = await ask('recalculate-vehicle', vans[0] as string);
  await start({ turnMs: 0 });
  const [long, short] = [await ended(zone.id), await ended(one.id)];
  expect(long.finishedAtMs ?? 0).toBeGreaterThanOrEqual(short.finishedAtMs ?? 0);
  expect(short.startedAtMs ?? 0).toBeLessThanOrEqual(long.finishedAtMs ?? 0);
  expect(long.result).toMatchObject({ vehicles: 3 });
});

test('waits until the archive has what the log has', async () => {
  const [van] = vans as [VehicleId];
  history.archivePacket(packet(van, drive(van)));
  let isArchived = false;
  await log.append(lateTopic, [{ vehicleId: van, fromMs: T0, toMs: T0 + 900_000, receivedAtMs: T0 }]);
  const behind: RecalculatorParts['log'] = {
    append: (topic, records) => log.append(topic, records),
    consume: (topic, options) => log.consume(topic, options),
    endOffsets: async () => new Map([[0, 5]]),
    resume: (topic, ...place) => log.resume(topic, ...place),
    locate: async (_topic, _partition, saved) => ({
      offset: saved?.offset ?? 0,
      identity: 'this log',
      discontinuity: null,
    }),
    release: (topic, ...place) => log.release(topic, ...place),
  };
  let asked = 0;
  const checkpoints: RecalculatorParts['checkpoints'] = {
    async load(consumer) {
      asked++;
      const offsets = { telemetry: isArchived ? 5 : 4, events: 5 };
      return consumer.startsWith('archiver/') ? { offsets, identities: {}, entries: new Map() } : null;
    },
  };
  await start({}, { log: behind, checkpoints });
  await vi.waitFor(() => expect(asked).toBeGreaterThan(2), PATIENCE);
  expect(history.asked).toEqual([]);
  isArchived = true;
  await vi.waitFor(() => expect(history.asked).toContain(van), PATIENCE);
});

test('late data is not given up, however long the archive fails', async () => {
  const [van] = vans as [VehicleId];
  const late = archiveVisitLate(van);
  history.gate = async () => {
    throw new Error('no disk');
  };
  const interval = { fromMs: late[0]?.fixTimeMs ?? 0, toMs: late.at(-1)?.fixTimeMs ?? 0, receivedAtMs: T0 + 3_600_000 };
  await log.append(lateTopic, [{ vehicleId: van, ...interval }]);
  await start({ retryMs: 1 });
  await vi.waitFor(() => expect(history.asked.length).toBeGreaterThan(12), PATIENCE);
  history.gate = async () => {};
  await vi.waitFor(() => expect(found(van)).toEqual(wanted(van)), PATIENCE);
});

test('an archive that fails is asked again, and at last given up', async () => {
  const [van] = vans as [VehicleId];
  history.archivePacket(packet(van, drive(van)));
  history.gate = async () => {
    throw new Error('no disk');
  };
  await start({ retryMs: 1 });
  const { id } = await ask('recalculate-vehicle', van);
  expect(await ended(id)).toMatchObject({ state: 'failed', error: expect.stringContaining('failed repeatedly') });
  expect(history.asked.length).toBe(10);
  history.gate = async () => {};
  const again = await ask('recalculate-vehicle', van);
  expect(await ended(again.id)).toMatchObject({ state: 'done' });
  expect(found(van)).toEqual(wanted(van));
});

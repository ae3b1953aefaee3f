import {
  asChange,
  blankPosition,
  Directory,
  type FleetEvent,
  type Position,
  type TelemetryPacket,
  type TerminalId,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import { tankStory } from '@outrider/engine/tank-data';
import { createRandom } from '@outrider/simulator';
import { expect, test } from 'vitest';
import { isSame } from './correction.ts';
import { Engines } from './engines.ts';
import { scopeOf } from './history-run.ts';
import { MemoryHistory } from './memory-history.fixture.ts';
import { recalculateVehicle } from './recalculate-vehicle.ts';

const TRUCK = '00000000-0000-7000-8000-000000000001' as VehicleId;
const OWNER = sampleUser({ id: '00000000-0000-7000-8000-0000000000aa' as UserId, login: 'owner' });
const HOUR_MS = 3_600_000;
const PER_PACKET = 20;

const packet = (positions: Position[], receivedAtMs: number): TelemetryPacket => ({
  vehicleId: TRUCK,
  terminalId: '1' as TerminalId,
  protocol: 'osmand',
  receivedAtMs,
  positions,
});

test.each([31, 33])(
  'levels that come late and in any order make the events of levels in order (truck %i)',
  async (seed) => {
    const story = tankStory(seed, 3);
    const truck = sampleVehicle({ id: TRUCK, ...story.settings });
    const definitions = [OWNER, truck].map((each) => asChange(each, 0));
    const taken = story.records.map((record): Position => {
      const { atMs, levelL, latitude, longitude, speedKmh, ignition } = record;
      return { ...blankPosition(atMs, latitude, longitude), speedKmh, ignition, fuelL: levelL };
    });

    const plain = new Engine();
    plain.load(definitions);
    const inOrder: FleetEvent[] = [];
    for (const [offset, position] of taken.entries())
      plain.process(packet([position], position.fixTimeMs + 1000), offset, inOrder);
    const wanted = new Map(inOrder.filter(({ kind }) => kind !== 'offline').map((event) => [event.id, event]));

    // What trips and idling used is what the engine burnt.
    let usedL = 0;
    for (const event of wanted.values())
      if (event.kind === 'trip' || event.kind === 'idling') usedL += event.fuelUsedL ?? 0;
    expect(Math.abs(usedL / story.burntL - 1)).toBeLessThan(0.1);

    // One packet in ten is kept by the terminal, for up to a day.
    const random = createRandom(seed);
    const packets: TelemetryPacket[] = [];
    for (let from = 0; from < taken.length; from += PER_PACKET) {
      const positions = taken.slice(from, from + PER_PACKET);
      const keptMs = random.next() < 0.1 ? random.between(0.1, 24) * HOUR_MS : 0;
      packets.push(packet(positions, (positions.at(-1)?.fixTimeMs ?? 0) + 1000 + Math.round(keptMs)));
    }
    packets.sort((a, b) => a.receivedAtMs - b.receivedAtMs);

    const directory = new Directory();
    for (const change of definitions) directory.apply(change);
    const scope = scopeOf(directory, TRUCK, null);
    if (scope === null) throw new Error('the truck is defined');
    const history = new MemoryHistory();
    const engines = new Engines();
    let live = new Engine();
    live.load(definitions);
    const entries = new Map<string, Buffer>();
    let waiting: { fromMs: number; toMs: number } | null = null;
    let settled = 0;
    let nowMs = 0;
    const recalculate = async (number: number) => {
      if (waiting === null) return;
      const task = { scope, engine: engines.engineFor(scope), isLateData: true, ...waiting, freshMs: nowMs, number };
      const outcome = await recalculateVehicle(history, task, async () => {});
      if (!outcome.settled) return;
      waiting = null;
      settled++;
    };
    for (const [offset, each] of packets.entries()) {
      const reported: FleetEvent[] = [];
      live.process(each, offset, reported);
      nowMs = each.receivedAtMs + 600_000;
      history.archivePacket(each);
      history.archiveEvents(reported.filter(({ kind }) => kind !== 'offline'));
      for (const { fromMs, toMs } of live.takeLate()) {
        const known: { fromMs: number; toMs: number } = waiting ?? { fromMs, toMs };
        waiting = { fromMs: Math.min(known.fromMs, fromMs), toMs: Math.max(known.toMs, toMs) };
      }
      if (offset % 40 === 39) await recalculate(offset);
      for (const [key, value] of live.takeChanges()) if (value !== null) entries.set(key, value);
      if (offset % 50 !== 49) continue;
      live = new Engine();
      live.restore(entries);
    }
    nowMs += 48 * HOUR_MS;
    await recalculate(packets.length);

    const found = history.events(TRUCK);
    const different = [...wanted.values()].filter((event) => {
      const same = found.find(({ id }) => id === event.id);
      return same === undefined || !isSame(same, event);
    });
    expect(different).toEqual([]);
    expect(found.map(({ id }) => id).sort()).toEqual([...wanted.keys()].sort());
    expect(found.filter(({ kind }) => kind === 'refuelling' || kind === 'fuel-drain').length).toBeGreaterThan(3);
    expect(found.some((event) => event.kind === 'trip' && event.fuelStartL !== undefined)).toBe(true);
    expect(settled).toBeGreaterThan(0);
    expect(history.replacements).toBeGreaterThan(0);
  },
);

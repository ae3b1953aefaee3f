import {
  type LngLat,
  type Position,
  rejectionOf,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Engine } from '../engine.ts';
import { type Step, scenario } from '../scenario.fixture.ts';
import { changeTo, fix, T0 } from '../scene.fixture.ts';
import { ANYWHERE_MS, impliesJump, JumpJudge, type JumpState } from './jump.ts';

const RUNS = Number(process.env.ORACLE_RUNS ?? runs(2000));

function packetOf(vehicleId: VehicleId, position: Position): TelemetryPacket {
  const receivedAtMs = position.fixTimeMs;
  return { vehicleId, terminalId: '1' as TerminalId, protocol: 'teltonika', receivedAtMs, positions: [position] };
}

/** As from a cursor. */
function writtenDown(state: JumpState): JumpState {
  return JSON.parse(JSON.stringify(state));
}

/** What the judge is to be held against; counts what there was to see. */
const seen = { moves: 0, jumps: 0, reanchored: 0 };

/** Drives the engine and a judge a vehicle through a scenario, and compares after each fix. */
function compare(steps: readonly Step[]): void {
  let engine = new Engine();
  const kept = new Map<string, Buffer>();
  const judges = new Map<VehicleId, JumpJudge>();
  const places = new Map<VehicleId, LngLat>();
  const sent: [VehicleId, Position][] = [];
  let [seconds, offset, version] = [0, 0, 0];

  const send = (vehicleId: VehicleId, position: Position) => {
    const packet = packetOf(vehicleId, position);
    const moved = engine.process(packet, offset++, []) === 1;
    if (!position.valid || rejectionOf(position, packet.receivedAtMs) !== null) return;
    const judge = judges.get(vehicleId) ?? new JumpJudge();
    judges.set(vehicleId, judge);
    const { anchor } = judge.state;
    const verdict = judge.judge(position);
    expect(verdict === 'moves').toBe(moved);
    if (verdict === 'jump') seen.jumps++;
    if (!moved) return;
    seen.moves++;
    if (
      anchor &&
      impliesJump(
        anchor.latitude,
        anchor.longitude,
        position.latitude,
        position.longitude,
        position.fixTimeMs - anchor.fixTimeMs,
      )
    )
      seen.reanchored++;
    expect(engine.statusOf(vehicleId)?.position).toMatchObject(judge.state.anchor ?? {});
  };

  for (const step of steps)
    switch (step.what) {
      case 'define':
        engine.applyDefinition(changeTo({ ...step.definition, version: ++version }, T0 + seconds * 1000));
        break;
      case 'drive':
        for (const { seconds: later, place, fields } of step.fixes) {
          seconds += later;
          const [x, y] = places.get(step.vehicleId) ?? [0.0041, 0.0063];
          const [longitude, latitude] = 'by' in place ? [x + place.by[0], y + place.by[1]] : place;
          places.set(step.vehicleId, [longitude, latitude]);
          const position = fix(seconds, longitude, latitude, fields);
          // Readers of the archive get one position of each time; whether another moves the vehicle is the engine's
          // matter.
          if (sent.some(([id, { fixTimeMs }]) => id === step.vehicleId && fixTimeMs === position.fixTimeMs)) continue;
          sent.push([step.vehicleId, position]);
          send(step.vehicleId, position);
        }
        break;
      case 'repeat': {
        const again = sent.at(-1 - step.back);
        if (again === undefined) break;
        const [vehicleId, position] = again;
        const isNewest = sent.every(([id, { fixTimeMs }]) => id !== vehicleId || fixTimeMs <= position.fixTimeMs);
        // The newest record says nothing when it comes again; the archive has it once.
        if (isNewest) expect(engine.process(packetOf(vehicleId, position), offset++, [])).toBe(0);
        else send(vehicleId, position);
        break;
      }
      case 'restart':
        for (const [key, value] of engine.takeChanges())
          if (value === null) kept.delete(key);
          else kept.set(key, value);
        engine = new Engine();
        engine.restore(kept);
        for (const [vehicleId, judge] of judges) judges.set(vehicleId, new JumpJudge(writtenDown(judge.state)));
        break;
    }
}

describe('the judge of jumps', () => {
  test('takes those fixes that move the engine’s vehicle, and no others', { timeout: 600_000 }, () => {
    fc.assert(fc.property(scenario, compare), { numRuns: RUNS });
    // What was never seen would prove nothing.
    expect(seen.moves).toBeGreaterThan(RUNS);
    expect(seen.jumps).toBeGreaterThan(RUNS / 10);
    expect(seen.reanchored).toBeGreaterThan(RUNS / 200);
  });

  const verdicts = (...fixes: Position[]) => {
    const judge = new JumpJudge();
    return fixes.map((each) => judge.judge(each));
  };

  test('turns away a spike, and nothing after it', () => {
    expect(verdicts(fix(0, 0.1, 0.1), fix(10, 5, 5), fix(20, 0.101, 0.1))).toEqual(['moves', 'jump', 'moves']);
  });

  test('gives up a wrong first fix after three that agree, over two minutes', () => {
    const right = [30, 90, 140, 150].map((second) => fix(second, 0.1, 0.1));
    expect(verdicts(fix(0, 5, 5), ...right)).toEqual(['moves', 'jump', 'jump', 'jump', 'moves']);
  });

  test('passes over what is not newer', () => {
    expect(verdicts(fix(10, 0.1, 0.1), fix(10, 0.1, 0.1), fix(0, 5, 5))).toEqual(['moves', 'old', 'old']);
  });

  test('goes on from its state as if nothing had been', () => {
    const fixes = [fix(0, 5, 5), fix(30, 0.1, 0.1), fix(90, 0.1, 0.1), fix(151, 0.1, 0.1), fix(160, 5, 5)];
    for (let at = 0; at <= fixes.length; at++) {
      const first = new JumpJudge();
      const before = fixes.slice(0, at).map((each) => first.judge(each));
      const second = new JumpJudge(writtenDown(first.state));
      expect([...before, ...fixes.slice(at).map((each) => second.judge(each))]).toEqual(verdicts(...fixes));
    }
  });
});

test('what is long enough ago makes a jump of nothing', () => {
  const place = fc.tuple(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.double({ min: -180, max: 180, noNaN: true }),
  );
  fc.assert(fc.property(place, place, (from, to) => !impliesJump(...from, ...to, ANYWHERE_MS)));
  expect(impliesJump(0, 0, 0, 180, ANYWHERE_MS)).toBe(false);
  expect(impliesJump(0, 0, 0, 180, ANYWHERE_MS * 0.99)).toBe(true);
});

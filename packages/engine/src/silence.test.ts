import { deriveEventId, type FleetEvent, type TelemetryPacket, type TerminalId } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { changeTo, fix, reported, Scene, T0, VEHICLE, vehicle } from './scene.fixture.ts';

const scene = () => new Scene(vehicle()).only('offline');
const received = (seconds: number, fixSeconds = seconds) => ({
  positions: [fix(fixSeconds, 0.1, 0.1)],
  receivedAtMs: T0 + seconds * 1000,
});

test('offline ten minutes after the last packet, online with the next', () => {
  const van = scene();
  van.send(received(0));
  expect(van.advance(599)).toEqual([]);
  const [begin] = van.advance(700);
  expect(begin).toMatchObject({
    id: deriveEventId('offline', VEHICLE, '', T0),
    phase: 'begin',
    startedAtMs: T0,
    fixTimeMs: T0 + 600_000,
    longitude: 0.1,
  });
  expect(van.advance(800)).toEqual([]);
  const [end] = van.send(received(900));
  expect(end).toMatchObject({ id: begin?.id, phase: 'end', endedAtMs: T0 + 900_000, endReason: 'online' });
});

test('what counts is when data came, not how old it is', () => {
  const van = scene();
  van.send(received(0));
  // A black box is read for an hour: old fixes, but it is there.
  for (let minute = 9; minute < 60; minute += 9) expect(van.send(received(60 * minute, minute))).toEqual([]);
});

test('a vehicle without a profile, or without a place, is not offline', () => {
  const van = new Scene().only('offline');
  van.send(received(0));
  expect(van.advance(10_000)).toEqual([]);
  van.define(vehicle(), 20_000);
  expect(van.advance(20_599)).toEqual([]);
  expect(reported(van.advance(20_600))).toEqual(['+offline @20000']);
  const nowhere = scene();
  nowhere.send({ positions: [fix(0, 0.1, 0.1, { valid: false })], receivedAtMs: T0 });
  expect(nowhere.advance(10_000)).toEqual([]);
});

test('from when on a vehicle is watched outlives a restart', () => {
  const rest = { vehicleId: VEHICLE, terminalId: '1' as TerminalId, protocol: 'osmand' as const };
  const kept = new Map<string, Buffer>();
  const restarted = (engine: Engine): Engine => {
    for (const [key, value] of engine.takeChanges()) if (value !== null) kept.set(key, value);
    const next = new Engine();
    next.restore(kept);
    return next;
  };
  let engine = new Engine();
  engine.process({ ...rest, ...received(0) }, 0, []);
  engine = restarted(engine);
  engine.applyDefinition({ ...changeTo(vehicle()), changedAtMs: T0 + 900_000 });
  engine = restarted(engine);
  const events: FleetEvent[] = [];
  engine.process({ ...rest, ...received(1000) }, 1, events);
  expect(events.filter(({ kind }) => kind === 'offline')).toEqual([]);
});

test('a vehicle that is no longer defined is not offline either', () => {
  const van = scene();
  van.send(received(0));
  van.advance(700);
  expect(reported(van.remove('vehicle', VEHICLE, 2, 800))).toEqual(['-offline @800 no-longer-watched']);
});

test('an engine that recalculates the history publishes no offline events', () => {
  const engine = new Engine({ origin: 'recalculated' });
  engine.load([changeTo(vehicle())]);
  const events: FleetEvent[] = [];
  const rest = { vehicleId: VEHICLE, terminalId: '1' as TerminalId, protocol: 'osmand' as const };
  engine.process({ ...rest, ...received(0) }, 0, events);
  engine.process({ ...rest, ...received(5000) }, 1, events);
  engine.advance(T0 + 10 ** 9, events);
  expect(engine.hasSilent(T0 + 10 ** 9)).toBe(false);
  expect(events.map(({ kind, origin }) => [kind, origin])).toEqual([['parking', 'recalculated']]);
});

test('whoever looks in between, and whenever: the same events, with the same ids', () => {
  const drive = fc.array(
    fc.record({
      seconds: fc.constantFrom(30, 300, 599, 600, 601, 4000),
      looks: fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 4 }),
      speedKmh: fc.constantFrom(0, 40),
    }),
    { minLength: 2, maxLength: 20 },
  );
  fc.assert(
    fc.property(drive, (steps) => {
      const play = (looking: boolean) => {
        const engine = new Engine();
        engine.load([changeTo(vehicle())]);
        const events: FleetEvent[] = [];
        let seconds = 0;
        for (const [offset, { seconds: later, looks, speedKmh }] of steps.entries()) {
          // A look never says that nothing came where something did.
          for (const look of looks.toSorted((a, b) => a - b))
            if (looking && look < later) engine.advance(T0 + (seconds + look) * 1000, events);
          seconds += later;
          const packet: TelemetryPacket = {
            vehicleId: VEHICLE,
            terminalId: '1' as TerminalId,
            protocol: 'osmand',
            receivedAtMs: T0 + seconds * 1000,
            positions: [fix(seconds, 0.1, 0.1, { speedKmh })],
          };
          engine.process(packet, offset, events);
        }
        return events;
      };
      expect(play(true)).toEqual(play(false));
    }),
    { numRuns: runs(500) },
  );
});

import type { FleetEvent, Geofence, GeofenceId, Position, TerminalId, UserId } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine, type EngineOptions } from './engine.ts';
import { changeTo, deletion, fix, geofence, OPERATOR, user, VEHICLE, vehicle } from './scene.fixture.ts';
import { MAX_EVENTS_PER_MINUTE, MAX_GEOFENCES_AT_ONCE, selectSmallest } from './surplus.ts';

const VICTIM = '00000000-0000-7000-8000-0000000000bb' as UserId;

function idOf(nth: number): GeofenceId {
  return `00000000-0000-7000-9000-${nth.toString(16).padStart(12, '0')}` as GeofenceId;
}

/** Circles around one place, each a little larger than the one before. */
function circles(count: number, ownerId = OPERATOR, more: Partial<Geofence> = {}): Geofence[] {
  return Array.from({ length: count }, (_, nth) =>
    geofence({
      id: idOf(nth + (ownerId === OPERATOR ? 0 : 1e6)),
      ownerId,
      name: `Circle ${nth}`,
      shape: { type: 'circle', center: [0.1, 0.1], radiusM: 50 + nth / 1000 },
      ...more,
    }),
  );
}

function engineWith(geofences: readonly Geofence[], options: EngineOptions = {}): Engine {
  const engine = new Engine(options);
  engine.load([user(), user({ id: VICTIM }), vehicle(), ...geofences].map((definition) => changeTo(definition)));
  return engine;
}

let offset = 0;
function send(engine: Engine, ...positions: Position[]): FleetEvent[] {
  const events: FleetEvent[] = [];
  const receivedAtMs = Math.max(...positions.map(({ fixTimeMs }) => fixTimeMs));
  const packet = { vehicleId: VEHICLE, terminalId: '1' as TerminalId, protocol: 'osmand' as const };
  engine.process({ ...packet, receivedAtMs, positions }, offset++, events);
  return events;
}

/** 150 m away, and in the middle. */
const outside = (seconds: number) => fix(seconds, 0.10135, 0.1, { speedKmh: 50 });
const inside = (seconds: number) => fix(seconds, 0.1, 0.1, { speedKmh: 50 });

/** Ids of events that began and did not end. */
function openOf(events: readonly FleetEvent[]): string[] {
  const open = new Set<string>();
  for (const { id, phase } of events) {
    if (phase === 'begin') expect(open.has(id), `${id} begins once`).toBe(false);
    if (phase === 'begin') open.add(id);
    else open.delete(id);
  }
  return [...open];
}
const visits = (events: readonly FleetEvent[]) => events.filter(({ kind }) => kind === 'geofence-visit');

test('2,000 overlapping circles and 60 requests make no flood of events, and each visit that begins ends', () => {
  const engine = engineWith(circles(2000));
  const events: FleetEvent[] = [];
  for (let nth = 0; nth < 60; nth++) events.push(...send(engine, nth % 2 === 0 ? outside(5 * nth) : inside(5 * nth)));
  events.push(...send(engine, outside(310)));
  const made = visits(events);
  expect(made.filter(({ phase }) => phase === 'begin')).toHaveLength(5 * MAX_EVENTS_PER_MINUTE);
  expect(made.length).toBe(10 * MAX_EVENTS_PER_MINUTE);
  expect(openOf(made)).toEqual([]);
  // All of them of the oldest, each time.
  expect(new Set(made.map((event) => 'geofenceId' in event && event.geofenceId)).size).toBe(MAX_GEOFENCES_AT_ONCE);

  const { geofences, events: leftOut, vehicles } = engine.takeSurplus();
  expect(geofences).toBeGreaterThanOrEqual(30 * (2000 - MAX_GEOFENCES_AT_ONCE));
  expect(leftOut).toBe(30 * MAX_GEOFENCES_AT_ONCE - 5 * MAX_EVENTS_PER_MINUTE);
  expect([...vehicles]).toEqual([VEHICLE]);
  expect(engine.takeSurplus().events).toBe(0);
  expect(engine.statusOf(VEHICLE)?.surplus).toMatchObject([{ ownerId: OPERATOR, events: leftOut / 5 }]);
});

test('one owner’s circles take nothing from another owner’s geofence, nor from the vehicle’s own events', () => {
  const engine = engineWith([...circles(1000), ...circles(1, VICTIM)]);
  const events: FleetEvent[] = [];
  for (let nth = 0; nth < 40; nth++) events.push(...send(engine, nth % 2 === 0 ? outside(5 * nth) : inside(5 * nth)));
  const own = visits(events).filter((event) => 'geofenceId' in event && event.geofenceId === idOf(1e6));
  expect(own).toHaveLength(39);
  expect(events.some(({ kind }) => kind === 'trip')).toBe(true);
});

test('a status names no geofence whose visit was left out', () => {
  const engine = engineWith(circles(5), { maxEventsPerMinute: 3 });
  send(engine, outside(0));
  const begun = visits(send(engine, inside(10))).map((event) => 'geofenceId' in event && event.geofenceId);
  expect(begun).toHaveLength(3);
  expect(engine.statusOf(VEHICLE)?.activity?.geofenceIds).toEqual(begun);
  const restored = new Engine({ maxEventsPerMinute: 3 });
  restored.restore(engine.takeChanges().filter((entry): entry is [string, Buffer] => entry[1] !== null));
  expect(restored.statusOf(VEHICLE)?.activity?.geofenceIds).toEqual(begun);
  expect(visits(send(restored, outside(20)))).toHaveLength(3);
});

test('where an older geofence is left, the next in line is found, not entered', () => {
  const small = { type: 'circle', center: [0.1, 0.1], radiusM: 20 } as const;
  const [oldest, ...rest] = circles(3);
  const engine = engineWith([{ ...(oldest as Geofence), shape: small }, ...rest], { maxGeofencesAtOnce: 2 });
  send(engine, outside(0));
  const reported = (events: FleetEvent[]) =>
    visits(events).map(
      (event) => `${event.phase} ${'geofenceId' in event ? Number(String(event.geofenceId).slice(-2)) : ''}`,
    );
  expect(reported(send(engine, inside(60)))).toEqual(['begin 0', 'begin 1']);
  expect(reported(send(engine, fix(120, 0.1, 0.1003, { speedKmh: 50 })))).toEqual(['end 0']);
  expect(reported(send(engine, outside(180)))).toEqual(['end 1', 'end 2']);
});

test('many geofences drawn over a vehicle that stands there, and taken away, make no events and no work that grows', () => {
  const engine = engineWith([]);
  send(engine, inside(0));
  const all = circles(1000);
  const changes: FleetEvent[] = [];
  for (const one of all) changes.push(...engine.applyDefinition(changeTo(one)));
  expect(changes).toEqual([]);
  expect(visits(send(engine, inside(10)))).toEqual([]);
  expect(engine.statusOf(VEHICLE)?.activity?.geofenceIds).toEqual(
    all.slice(0, MAX_GEOFENCES_AT_ONCE).map(({ id }) => id),
  );
  for (const { id } of all.slice(0, 500)) changes.push(...engine.applyDefinition(deletion('geofence', id, 2, 20_000)));
  expect(changes).toEqual([]);
  expect(visits(send(engine, inside(30)))).toEqual([]);
  expect(engine.statusOf(VEHICLE)?.activity?.geofenceIds).toEqual(
    all.slice(500, 500 + MAX_GEOFENCES_AT_ONCE).map(({ id }) => id),
  );
});

/** Circles of all sizes in a small area, and drives through it. */
const scenario = fc.record({
  circles: fc.array(
    fc.record({
      x: fc.integer({ min: 0, max: 20 }),
      y: fc.integer({ min: 0, max: 20 }),
      radiusM: fc.integer({ min: 50, max: 1500 }),
      minDwellSeconds: fc.constantFrom(0, 0, 0, 30),
      ofVictim: fc.boolean(),
    }),
    { minLength: 5, maxLength: 40 },
  ),
  way: fc.array(
    fc.record({
      x: fc.integer({ min: 0, max: 20 }),
      y: fc.integer({ min: 0, max: 20 }),
      seconds: fc.integer({ min: 5, max: 90 }),
    }),
    { minLength: 10, maxLength: 60 },
  ),
});

test('under any caps: each begin has one end, no owner has too many visits, and a restart changes nothing', () => {
  fc.assert(
    fc.property(scenario, fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 }), (drawn, most, perMinute) => {
      const options = { maxGeofencesAtOnce: most, maxEventsPerMinute: perMinute };
      const fences = drawn.circles.map(({ x, y, radiusM, minDwellSeconds, ofVictim }, nth) =>
        geofence({
          id: idOf(nth),
          ownerId: ofVictim ? VICTIM : OPERATOR,
          minDwellSeconds,
          shape: { type: 'circle', center: [x / 1000, y / 1000], radiusM },
        }),
      );
      const owners = new Map(fences.map(({ id, ownerId }) => [id, ownerId]));
      let engine = engineWith(fences, options);
      const events: FleetEvent[] = [];
      const begun = new Map<string, FleetEvent>();
      const entries = new Map<string, Buffer>();
      let seconds = 0;
      const again: FleetEvent[] = [];
      const whole = engineWith(fences, options);
      for (const [nth, step] of drawn.way.entries()) {
        seconds += step.seconds;
        const position = fix(seconds, step.x / 1000, step.y / 1000, { speedKmh: 40 });
        const made = visits(send(engine, position));
        again.push(...visits(send(whole, position)));
        events.push(...made);
        for (const event of made) {
          if (event.phase === 'begin') begun.set(event.id, event);
          else begun.delete(event.id);
        }
        // Passing through begins and ends within a step; what goes on is bounded by owner.
        const open = [...begun.values()].filter((event) => 'geofenceId' in event);
        const isDwelling = drawn.circles.some(({ minDwellSeconds }) => minDwellSeconds > 0);
        if (!isDwelling)
          for (const ownerId of [OPERATOR, VICTIM])
            expect(
              open.filter((event) => 'geofenceId' in event && owners.get(event.geofenceId as GeofenceId) === ownerId)
                .length,
            ).toBeLessThanOrEqual(most);
        if (nth % 7 !== 3) continue;
        for (const [key, value] of engine.takeChanges())
          if (value === null) entries.delete(key);
          else entries.set(key, value);
        if (nth === 3) for (const [key, value] of engineWith(fences).takeChanges()) if (value) entries.set(key, value);
        const restored = new Engine(options);
        restored.restore(entries);
        engine = restored;
      }
      expect(events).toEqual(again);
      for (let nth = 1; nth <= 3; nth++) {
        const last = visits(send(engine, fix(seconds + 4000 * nth, 0.5, 0.5 + nth / 1000, { speedKmh: 40 })));
        events.push(...last);
      }
      expect(openOf(events)).toEqual([]);
    }),
    { numRuns: runs(300) },
  );
});

test('what a drive makes of the geofences does not depend on what was before it, once that is over', () => {
  const fences = circles(30).map((one, nth) => ({
    ...one,
    shape: { type: 'circle', center: [0.1 + nth / 2000, 0.1], radiusM: 1500 } as const,
  }));
  const options = { maxGeofencesAtOnce: 5, maxEventsPerMinute: 1000 };
  const drive = (engine: Engine, from: number) => {
    const events: FleetEvent[] = [];
    for (let nth = from; nth < 120; nth++)
      events.push(...visits(send(engine, fix(nth * 20, 0.08 + (nth % 60) / 1000, 0.1, { speedKmh: 20 }))));
    return events.filter(({ fixTimeMs }) => fixTimeMs >= fix(65 * 20, 0, 0).fixTimeMs);
  };
  const whole = drive(engineWith(fences, options), 0);
  expect(whole.length).toBeGreaterThan(20);
  expect(drive(engineWith(fences, options), 58)).toEqual(whole);
});

test('the smallest numbers are selected', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 60 }),
      fc.nat(60),
      (numbers, of) => {
        const count = 1 + (of % numbers.length);
        const some = Int32Array.from(numbers);
        selectSmallest(some, some.length, count);
        expect([...some.subarray(0, count)].toSorted((a, b) => a - b)).toEqual(
          numbers.toSorted((a, b) => a - b).slice(0, count),
        );
      },
    ),
  );
});

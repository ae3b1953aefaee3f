import type { FleetEvent, Position, TerminalId } from '@outrider/domain';
import { expect, test } from 'vitest';
import { Engine } from './engine.ts';
import { changeTo, fix, geofence, reported, T0, user, VEHICLE, vehicle } from './scene.fixture.ts';

/**
 * A state of version 2 as it was written: 150 s into a trip, over two limits, about to be in a geofence, with an alarm,
 * a power cut and a record without a fix behind the last one.
 */
const EARLIER =
  '[2,11,[1772352150000,0.1,0.105,85,null,null,null,true,9600,0.2,null,["sos"],null],1772352150000,85,null,[["00000000-0000-7000-8000-0000000000f1","entering",false,false,1772352120000,1772352060000,[1772352120000,0.1,0.11000000000000001,95],null]],[[null,80,1,true,[1772352060000,0.1,0.15,90],95,8250000,5003.770989319992],["00000000-0000-7000-8000-0000000000f1",50,1,true,[1772352120000,0.1,0.11,95],95,2700000,555.9745543689185]],[[[1772352060000,0.1,0.15,90],4600,90000,0,95],null,null],1772352160000,false,1772352160000,true,false,[["ignition",true,[1772352000000,0.1,0.2,0]],["sos",false,[1772352120000,0.1,0.11,95]],["power-cut",false,[1772352150000,0.1,0.105,85]]]]';

const DEFINITIONS = [user(), vehicle({ speedLimitKmh: 80 }), geofence({ minDwellSeconds: 600, speedLimitKmh: 50 })];

function restored(state: string): Engine {
  const engine = new Engine();
  engine.restore([
    ...DEFINITIONS.map(
      (definition) =>
        [`definition:${definition.kind}:${definition.id}`, Buffer.from(JSON.stringify(definition))] as const,
    ),
    [`vehicle-state:${VEHICLE}`, Buffer.from(state)],
  ]);
  return engine;
}

function send(engine: Engine, offset: number, position: Position): FleetEvent[] {
  const events: FleetEvent[] = [];
  const receivedAtMs = position.fixTimeMs;
  const packet = { vehicleId: VEHICLE, terminalId: '1' as TerminalId, protocol: 'osmand' as const, receivedAtMs };
  engine.process({ ...packet, positions: [position] }, offset, events);
  return events;
}

test('a checkpoint that the version before wrote is gone on from', () => {
  const engine = restored(EARLIER);
  const stands = { speedKmh: 0, ignition: false, odometerM: 9900, supplyV: 24 };
  // A packet that it knows is no news.
  expect(send(engine, 11, fix(155, 0.2, 0.2))).toEqual([]);
  const events = send(engine, 12, fix(200, 0.102, 0.1, stands));
  expect(reported(events)).toEqual([
    '-vehicle limit 80 @200 slowed',
    '-geofence limit 50 @200 slowed',
    '-ignition @200 switched-off',
    '-sos @200 cleared',
    '-power-cut @200 restored',
  ]);
  expect(events.map(({ id }) => id)).toEqual([
    '019ca86a-3a60-7a14-b35f-3aef9b0c4d93',
    '019ca86b-24c0-72ba-b2fa-ee007fd137f5',
    '019ca869-5000-713a-a073-638d5341958b',
    '019ca86b-24c0-731d-920a-2448dce7d486',
    '019ca86b-99f0-7d63-b837-e84d3ae45ac4',
  ]);
  const later = send(engine, 13, fix(900, 0.102, 0.1, stands)).filter(({ kind }) => kind === 'trip');
  expect(later).toMatchObject([
    {
      id: '019ca86a-3a60-713b-bd45-9de4cab65b9b',
      distanceM: 4900,
      movingMs: 140_000,
      meanKmh: 126,
      endReason: 'stopped',
    },
  ]);
});

test('harsh driving that began as an alarm ends as one', () => {
  const engine = restored(EARLIER.replace('"sos",false', '"harsh-braking",false'));
  const still = { speedKmh: 0, ignition: false, odometerM: 9900, supplyV: 24 };
  expect(send(engine, 12, fix(200, 0.102, 0.1, still))).toContainEqual(
    expect.objectContaining({ kind: 'alarm', alarm: 'harsh-braking', phase: 'end' }),
  );
  const [begin] = send(engine, 13, fix(260, 0.102, 0.1, { ...still, alarms: ['harsh-braking'] }));
  const again = restored(String(new Map(engine.takeChanges()).get(`vehicle-state:${VEHICLE}`)));
  expect(send(again, 14, fix(320, 0.102, 0.1, still))).toMatchObject([
    { kind: 'harsh-driving', id: begin?.id, manoeuvre: 'braking', peakMps2: null, phase: 'end' },
  ]);
});

test('a state of the version before is written anew, and says the same', () => {
  const engine = restored(EARLIER);
  send(engine, 12, fix(160, 0.104, 0.1, { speedKmh: 85 }));
  const state = new Map(engine.takeChanges()).get(`vehicle-state:${VEHICLE}`);
  expect(JSON.parse(String(state))[0]).toBe(6);
  const again = restored(String(state));
  const next = fix(200, 0.102, 0.1, { speedKmh: 0 });
  expect(send(again, 13, next)).toEqual(send(engine, 13, next));
});

test.each([
  [3, -5],
  [4, -4],
])('a state of version %d is read, without what was not in it', (version, end) => {
  const engine = restored(EARLIER);
  send(engine, 12, fix(160, 0.104, 0.1, { speedKmh: 85 }));
  const state = JSON.parse(String(new Map(engine.takeChanges()).get(`vehicle-state:${VEHICLE}`)));
  const again = restored(JSON.stringify([version, ...state.slice(1, end)]));
  const next = fix(200, 0.102, 0.1, { speedKmh: 0 });
  expect(send(again, 13, next)).toEqual(send(engine, 13, next));
});

test('a state of a version that is not known is refused', () => {
  expect(() => restored(EARLIER.replace('[2,', '[1,'))).toThrow('version 1, expected 6');
  expect(() => changeTo(vehicle()) && restored(`[${T0}]`)).toThrow('expected 6');
});

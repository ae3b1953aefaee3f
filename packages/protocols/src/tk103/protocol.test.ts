import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { tk103 } from './protocol.ts';
import { createTk103Simulator } from './simulator.ts';

const ID = '035900000001' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

describeProtocol('TK103', {
  protocol: tk103,
  terminalId: ID,
  createSimulator: createTk103Simulator,
  identifiesByData: true,
  hasSeveralFrames: true,
  resolution: { degrees: 0.51e-4 / 60, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

const line = (text: string) => Buffer.from(`(${ID}${text})`, 'latin1');
const answerTo = (text: string) => tk103.createSession().push(line(text), NOW_MS).slice(1);
/** 55.755 north, 37.617 east, 60.5 km/h, 346 degrees, ignition on, 65 km. */
const PLACE = '260101A5545.3000N03737.0200E060.5120000346.0001000000L0000FDE8';
const PLACE_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  valid: true,
  speedKmh: 60.5,
  courseDeg: 346,
  ignition: true,
  odometerM: 65_000,
};

describe('the messages of the maker’s description', () => {
  test('a place names its terminal', () => {
    const [identify, inbound] = tk103.createSession().push(line(`BR00${PLACE}`), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: ID, accept: null, reject: null });
    expect(inbound).toMatchObject({ positions: [{ ...PLACE_OF, alarms: [] }], ack: null });
    const [position] = (inbound as { positions: { latitude: number; longitude: number }[] }).positions;
    expect(position?.latitude).toBeCloseTo(55.755, 9);
    expect(position?.longitude).toBeCloseTo(37.617, 9);
  });

  test('a login with a place, a handshake', () => {
    expect(answerTo(`BP05356307042441013${PLACE}`)).toMatchObject([{ positions: [PLACE_OF], ack: line('AP05') }]);
    expect(answerTo('BP05356307042441013')).toEqual([{ type: 'positions', positions: [], ack: line('AP05') }]);
    expect(answerTo('BP00356307042441013HSO')).toEqual([{ type: 'positions', positions: [], ack: line('AP01HSO') }]);
  });

  test.each([
    ['2', 'sos'],
    ['0', 'power-cut'],
    ['5', 'overspeed'],
    ['6', 'other'],
  ])('alarm %s is confirmed by its code', (code, alarm) => {
    expect(answerTo(`BO01${code}${PLACE}`)).toMatchObject([
      { positions: [{ ...PLACE_OF, alarms: [alarm] }], ack: line(`AS01${code}`) },
    ]);
  });

  test('a place of an older device, without states and odometer', () => {
    const older = PLACE.slice(0, PLACE.indexOf('01000000L'));
    expect(answerTo(`BR00${older}`)).toMatchObject([{ positions: [{ ignition: null, odometerM: null }] }]);
  });

  test('models that set the fields apart by commas', () => {
    const apart = `,BR00,260101,A,5545.3000,N,03737.0200,E,060.5,120000,346.00,01000000,L0000FDE8`;
    expect(answerTo(apart)).toMatchObject([{ positions: [PLACE_OF] }]);
  });

  test('other messages are accepted', () => {
    expect(answerTo('BP12xyz')).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test.each([
    ['a date that does not exist', line(`BR00${PLACE.replace('260101', '260230')}`)],
    ['minutes beyond 60', line(`BR00${PLACE.replace('5545.3', '5560.3')}`)],
    ['a place that is cut off', line(`BR00${PLACE.slice(0, 20)}`)],
  ])('%s is left out, and ends nothing', (_, bytes) => {
    expect(tk103.createSession().push(bytes, NOW_MS).slice(1)).toMatchObject([
      { type: 'unread' },
      { type: 'positions', positions: [] },
    ]);
  });

  test.each([
    ['another number', Buffer.concat([line('BP00'), Buffer.from('(035900000002BP00)')])],
    ['no number', Buffer.from('(BP00)')],
  ])('%s ends the connection', (_, bytes) => {
    expect(tk103.createSession().push(bytes, NOW_MS).at(-1)).toMatchObject({ type: 'refuse' });
  });
});

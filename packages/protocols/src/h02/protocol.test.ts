import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { h02 } from './protocol.ts';
import { createH02BinarySimulator, createH02Simulator } from './simulator.ts';

const ID = '9170000001' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1, 12, 0, 1);

describeProtocol('H02', {
  protocol: h02,
  terminalId: ID,
  createSimulator: createH02Simulator,
  identifiesByData: true,
  resolution: { degrees: 0.51e-4 / 60, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

describeProtocol('H02 in binary form', {
  protocol: h02,
  terminalId: ID,
  createSimulator: createH02BinarySimulator,
  identifiesByData: true,
  resolution: { degrees: 0.51e-4 / 60, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

const line = (text: string) => Buffer.from(text, 'latin1');
/** 55.755 north, 37.617 east, 32.4 knots, 346 degrees. */
const place = (status: string, more = '') =>
  `*HQ,${ID},V1,120000,A,5545.3000,N,03737.0200,E,32.40,346,010126,${status}${more}#`;
const PLACE_OF = { fixTimeMs: Date.UTC(2026, 0, 1, 12), valid: true, speedKmh: 60, courseDeg: 346 };
const answerTo = (text: string) => h02.createSession().push(line(text), NOW_MS).slice(1);

describe('the lines of the maker’s description', () => {
  test('a place names its terminal and is confirmed by V4', () => {
    const [identify, inbound] = h02.createSession().push(line(place('FFFFFBFF', ',250,1,4660,22136')), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: ID, accept: null, reject: null });
    expect(inbound).toMatchObject({
      positions: [
        {
          ...PLACE_OF,
          ignition: false,
          alarms: [],
          attributes: { statusBits: 0xfffffbff, mcc: 250, mnc: 1, lac: 4660, cellId: 22136 },
        },
      ],
      ack: line(`*HQ,${ID},V4,V1,20260101120001#`),
    });
    const [position] = (inbound as { positions: { latitude: number; longitude: number }[] }).positions;
    expect(position?.latitude).toBeCloseTo(55.755, 9);
    expect(position?.longitude).toBeCloseTo(37.617, 9);
  });

  test.each([
    ['FFFFFFFF', { ignition: true, alarms: [] }],
    ['FFFFFFFD', { alarms: ['sos'] }],
    ['FFFFFFFB', { alarms: ['overspeed'] }],
    ['FFF7FFFE', { alarms: ['other', 'power-cut'] }],
  ])('status %s', (status, expected) => {
    expect(answerTo(place(status))).toMatchObject([{ positions: [expected] }]);
  });

  test('a place without a fix, in the south and west', () => {
    const text = `*HQ,${ID},V1,120000,V,3354.0000,S,07036.0000,W,0,0,010126,FFFFFFFF#`;
    expect(answerTo(text)).toMatchObject([{ positions: [{ valid: false, latitude: -33.9, longitude: -70.6 }] }]);
  });

  test('heartbeats are answered, other messages accepted', () => {
    expect(answerTo(`*HQ,${ID},XT,V,0,0#`)).toEqual([
      { type: 'positions', positions: [], ack: line(`*HQ,${ID},V4,XT,20260101120001#`) },
    ]);
    expect(answerTo(`*HQ,${ID},V3,120000,25001,07#`)).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test('a state of another length is not understood, and the place is taken', () => {
    expect(answerTo(place('FFFF'))).toMatchObject([{ positions: [{ ...PLACE_OF, ignition: null, alarms: [] }] }]);
  });

  test('an answer to a command has its place behind its own fields', () => {
    const [, , ...fields] = place('FFFFFBFF').slice(0, -1).split(',');
    const text = `*HQ,${ID},V4,S20,OK,${fields.slice(1).join(',')}#`;
    expect(answerTo(text)).toMatchObject([{ positions: [PLACE_OF], ack: null }]);
  });

  test.each([
    ['NBR,120000,250,1,0,1,4660,22136,40,010126,FFFFFFFF', { mcc: 250, mnc: 1, lac: 4660, cellId: 22136 }],
    ['LINK,120000,22,7,88,0,0,010126,FFFFFFFF', { batteryPercent: 88 }],
    ['HTBT,75', { batteryPercent: 75 }],
  ])('what has no place is kept: %s', (text, attributes) => {
    expect(answerTo(`*HQ,${ID},${text}#`)).toMatchObject([
      { positions: [{ fixTimeMs: NOW_MS, valid: false, attributes }] },
    ]);
  });

  test('a place in binary form, with bytes of the maker’s own behind it', () => {
    // 12:00:00, 2026-01-01, 55 45.3000 N, battery, 037 37.0200 E with a fix, 32 knots, 346 degrees, state.
    const hex = `24 ${ID} 120000 010126 55453000 06 037370200e 032346 fffffbff 000000`.replaceAll(' ', '');
    const session = h02.createSession();
    const [identify, inbound, next] = session.push(Buffer.from(`${hex}0102030405${hex}`, 'hex'), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: ID, accept: null, reject: null });
    expect(inbound).toMatchObject({ positions: [{ ...PLACE_OF, speedKmh: 59.3, ignition: false }], ack: null });
    expect(next).toEqual(inbound);
    const wrong = Buffer.from(hex.replace('010126', '310226'), 'hex');
    expect(session.push(wrong, NOW_MS)).toMatchObject([{ type: 'unread' }, { positions: [] }]);
    expect(session.push(line(place('FFFFFBFF')), NOW_MS)).toMatchObject([{ positions: [PLACE_OF] }]);
  });

  test('what stands behind a place may look like the first byte of a message', () => {
    const hex = `24${ID}12000001012655453000053737020003234600fffbff000011`.replace('053737020003', '05037370200e03');
    const tail = '2a000000410024242424242424';
    const session = h02.createSession();
    const bytes = Buffer.from(`${hex}${tail}${hex}${tail}`, 'hex');
    const whole = session.push(Buffer.concat([bytes, line(place('FFFFFBFF'))]), NOW_MS);
    expect(whole).toMatchObject([
      { type: 'identify' },
      { positions: [{ valid: true, attributes: { batteryPercent: 80 } }] },
      { positions: [{ valid: true }] },
      { positions: [PLACE_OF] },
    ]);
    const slow = h02.createSession();
    expect([...bytes].flatMap((byte) => slow.push(Buffer.of(byte), NOW_MS))).toEqual(whole.slice(0, -1));
  });

  test.each([
    ['a time that is none', place('FFFFFFFF').replace('010126', '310226')],
    ['minutes beyond 60', place('FFFFFFFF').replace('5545.3', '5560.3')],
    ['a place that is cut off', `*HQ,${ID},V1,120000,A#`],
  ])('%s is left out, and ends nothing', (_, text) => {
    expect(answerTo(text)).toMatchObject([{ type: 'unread' }, { type: 'positions', positions: [] }]);
  });

  test.each([
    ['another number', `*HQ,${ID},XT,V,0,0#*HQ,9170000002,XT,V,0,0#`],
    ['no number', '*HQ,,XT#'],
    ['another first letter', '$HQ,1#'],
  ])('%s ends the connection', (_, text) => {
    expect(h02.createSession().push(line(text), NOW_MS).at(-1)).toMatchObject({ type: 'refuse' });
  });
});

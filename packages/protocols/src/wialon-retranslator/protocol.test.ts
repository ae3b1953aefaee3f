import type { TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import type { LetIn } from '../protocol.ts';
import { wialonRetranslator } from './protocol.ts';
import { MAX_FRAME_BYTES } from './session.ts';
import { createWialonRetranslatorSimulator } from './simulator.ts';

const ID = 'truck 7' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);
const NOON_S = Date.UTC(2026, 0, 1, 12) / 1000;

describeProtocol('Wialon Retranslator', {
  protocol: wialonRetranslator,
  terminalId: ID,
  createSimulator: createWialonRetranslatorSimulator,
  carriesSeveral: true,
  positions: arbitraryPosition(
    fc.option(
      fc.dictionary(
        fc.constantFrom('rpm', 'adc1', 'note', 'can7'),
        fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom('text', 'ключ')),
        { minKeys: 1 },
      ),
      { nil: null },
    ),
  ),
  carried: (position) => {
    const { valid, alarms, attributes } = position;
    const place = {
      altitudeM: position.altitudeM ?? 0,
      speedKmh: Math.round(position.speedKmh ?? 0),
      courseDeg: position.courseDeg ?? 0,
      satellites: position.satellites ?? 0,
      latitude: position.latitude + 0,
      longitude: position.longitude + 0,
    };
    const nowhere = {
      ...{ latitude: 0, longitude: 0, altitudeM: null, speedKmh: null, courseDeg: null, satellites: null },
    };
    const { ignition, supplyV, odometerM, fuelL } = position;
    const blocks = [
      ...(ignition === null ? [] : [['ign', ignition ? 1 : 0]]),
      ...(supplyV === null ? [] : [['pwr_ext', supplyV]]),
      ...(odometerM === null ? [] : [['odometer_m', odometerM]]),
      ...(fuelL === null ? [] : [['fuel_l', fuelL]]),
      ...Object.entries(attributes ?? {}).map(([name, value]) => [name, typeof value === 'number' ? value + 0 : value]),
    ];
    return {
      ...position,
      fixTimeMs: Math.floor(position.fixTimeMs / 1000) * 1000,
      ...(valid ? place : nowhere),
      alarms: alarms.includes('sos') ? ['sos'] : [],
      attributes: blocks.length === 0 ? null : Object.fromEntries(blocks),
    };
  },
});

/** A block, put together by the layout of Gurtam's description. */
function block(type: string, name: string, value: string): string {
  const content = `00${type}${Buffer.from(name).toString('hex')}00${value}`;
  return `0bbb${(content.length / 2).toString(16).padStart(8, '0')}${content}`;
}

function packet(blocks: string, { flags = '00000001', id = 'truck 7' } = {}): Buffer {
  const content = `${Buffer.from(id).toString('hex')}00${NOON_S.toString(16)}${flags}${blocks}`;
  const bytes = Buffer.from(`00000000${content}`, 'hex');
  bytes.writeUInt32LE(bytes.length - 4);
  return bytes;
}
const double = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.toString('hex');
};
/** 37.617 east, 55.755 north, 150 m, 60 km/h, 346 degrees, 11 satellites. */
const PLACE = block('02', 'posinfo', `${double(37.617)}${double(55.755)}${double(150)}003c015a0b`);
const push = (bytes: Buffer, letIn?: LetIn) => wialonRetranslator.createSession(letIn && { letIn }).push(bytes, NOW_MS);

describe('the packets of the description', () => {
  test('a place and values of each type', () => {
    const blocks = [
      PLACE,
      block('04', 'pwr_ext', double(27.59)),
      block('03', 'avl_inputs', '00000005'),
      block('03', 'avl_outputs', '00000002'),
      block('01', 'avl_driver', `${Buffer.from('0100000000AB').toString('hex')}00`),
      block('05', 'total', '00000000000003e8'),
      block('05', 'card', '7fffffffffffffff'),
      block('03', 'gsm', '0000001f'),
      block('03', 'ign', '00000001'),
      block('02', 'image', 'ffd8ffe0'),
      block('04', 'broken', double(Number.NaN)),
      block('03', '__proto__', '00000001'),
    ];
    expect(push(packet(blocks.join(''), { flags: '00000033' }))).toMatchObject([
      {
        type: 'positions',
        terminalId: 'truck 7',
        ack: Buffer.of(0x11),
        positions: [
          {
            fixTimeMs: NOON_S * 1000,
            longitude: 37.617,
            latitude: 55.755,
            valid: true,
            altitudeM: 150,
            speedKmh: 60,
            courseDeg: 346,
            satellites: 11,
            supplyV: 27.59,
            ignition: true,
            alarms: ['sos'],
            attributes: {
              pwr_ext: 27.59,
              avl_inputs: 5,
              input1: true,
              input2: false,
              input3: true,
              output2: true,
              driverCode: '0100000000AB',
              total: 1000,
              card: '9223372036854775807',
              gsmSignalPercent: 100,
            },
          },
        ],
      },
    ]);
  });

  test('values without a place are kept, and move nothing', () => {
    const [inbound] = push(packet(block('03', 'adc1', '0000002a'), { flags: '00000000' }));
    expect(inbound).toMatchObject({ positions: [{ valid: false, latitude: 0, attributes: { adc1: 42 } }] });
  });

  test('one connection carries many; those that are refused are confirmed, and nothing of them is kept', () => {
    const letIn: LetIn = ([terminalId]) => (terminalId === 'b' ? { type: 'refused' } : { type: 'taken', terminalId });
    const bytes = Buffer.concat(['a', 'b', 'c', 'a'].map((id) => packet(PLACE, { id })));
    expect(push(bytes, letIn)).toMatchObject([
      { type: 'positions', terminalId: 'a', ack: Buffer.of(0x11) },
      { type: 'reply', bytes: Buffer.of(0x11) },
      { type: 'positions', terminalId: 'c' },
      { type: 'positions', terminalId: 'a' },
    ]);
  });

  test('an address that is blocked gets no confirmation', () => {
    const taken = push(packet(PLACE), () => ({ type: 'blocked', detail: 'too many' }));
    expect(taken).toEqual([{ type: 'refuse', reason: 'address-blocked', detail: 'too many', bytes: null }]);
  });

  test('of a packet with a long photo the blocks before it are kept; it is confirmed at its end', () => {
    const session = wialonRetranslator.createSession();
    const bytes = packet(
      PLACE + block('02', 'image', 'ab'.repeat(3 * MAX_FRAME_BYTES)) + block('03', 'adc1', '00000001'),
    );
    const taken = session.push(bytes.subarray(0, -1), NOW_MS);
    expect(taken).toMatchObject([{ type: 'positions', positions: [{ valid: true }], ack: null }]);
    expect(session.push(bytes.subarray(-1), NOW_MS)).toEqual([{ type: 'reply', bytes: Buffer.of(0x11) }]);
    expect(session.push(packet(PLACE), NOW_MS)).toMatchObject([{ ack: Buffer.of(0x11) }]);
  });

  test.each([
    ['an id that does not end', Buffer.from('0900000061616161616161616161', 'hex')],
    ['an empty id', packet(PLACE, { id: '' })],
    ['a long id', packet(PLACE, { id: 'a'.repeat(65) })],
    ['another mark of a block', packet(`0bbc${PLACE.slice(4)}`)],
    ['a block that is cut off', packet(PLACE.slice(0, -2))],
    ['a value that is cut off', packet(block('03', 'adc1', '0000'))],
    ['a place that is cut off', packet(block('02', 'posinfo', double(1)))],
    ['a place that is none', packet(block('02', 'posinfo', `${double(181)}${double(1)}${double(1)}0000000000`))],
    ['a name that does not end', packet('0bbb00000003000361')],
    ['a size of nothing', Buffer.alloc(8)],
  ])('%s ends the connection', (_, bytes) => {
    expect(push(bytes)).toMatchObject([{ type: 'refuse', reason: expect.stringMatching(/^bad-(content|length)$/) }]);
  });
});

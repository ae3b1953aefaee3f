import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { crc8 } from '../crc8.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import type { LetIn } from '../protocol.ts';
import { egts } from './protocol.ts';
import { createEgtsSimulator } from './simulator.ts';
import { buildPacket, type EgtsRecord, PACKET, type Packet, RESULT, readPacket, readRecords } from './transport.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

describeProtocol('EGTS', {
  protocol: egts,
  terminalId: IMEI,
  createSimulator: createEgtsSimulator,
  resolution: { degrees: 0.51 * (180 / 0xffffffff), seconds: 1 },
  positions: arbitraryPosition(),
});

test('the checksum of a header, by the check input of catalogues of CRCs', () => {
  expect(crc8(Buffer.from('x123456789x'), 1, 10)).toBe(0xf7);
});

const data = (content: string) => buildPacket(PACKET.data, 7, Buffer.from(content, 'hex'));
const length = (hex: string) => {
  const bytes = hex.length / 2;
  return Buffer.of(bytes & 0xff, bytes >> 8).toString('hex');
};
const subrecord = (type: string, content: string) => `${type}${length(content)}${content}`;
const record = (service: string, subrecords: string, optional = '', flags = '00') =>
  `${length(subrecords)}2a00${flags}${optional}${service}${service}${subrecords}`;

/** 2026-01-01 12:00:00, 55.755 north, 37.617 east, valid; 60.5 km/h, 346 degrees, 65.0 km, inputs 1 and 3. */
const PLACE = `c026191e4f8d979e86ee7f35` + `01` + `5d82` + `5a` + `8a0200` + `05`;
const PLACE_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  valid: true,
  speedKmh: 60.5,
  courseDeg: 346,
  odometerM: 65_000,
};
const IDENTITY = subrecord('01', `4e61bc0002${Buffer.from(IMEI).toString('hex')}`);

function identified() {
  const session = egts.createSession();
  session.push(data(record('01', IDENTITY)), NOW_MS);
  return session;
}

describe('the packets of the standard', () => {
  test('an identity is confirmed and gets a result', () => {
    const [identify] = egts.createSession().push(data(record('01', IDENTITY)), NOW_MS);
    expect(identify).toMatchObject({ type: 'identify', terminalId: IMEI, otherIds: ['12345678'] });
    const { accept } = identify as { accept: Buffer };
    // Response to packet 7, which is right; record 42 is confirmed.
    const response = readPacket(accept, 0) as { from: number; to: number; bytes: number };
    expect(accept.subarray(response.from, response.to).toString('hex')).toBe(
      '0700' + '00' + '0600' + '0100' + '40' + '0101' + '00' + '0300' + '2a00' + '00',
    );
    const result = readPacket(accept, response.bytes) as { from: number; to: number };
    expect(accept.subarray(result.from, result.to).toString('hex')).toBe(
      '0400' + '0200' + '40' + '0101' + '09' + '0100' + '00',
    );
  });

  test('a terminal that names itself in its records', () => {
    const taken = egts
      .createSession()
      .push(data(record('02', subrecord('10', `${PLACE}00`), '4e61bc00', '01')), NOW_MS);
    expect(taken).toMatchObject([{ type: 'positions', terminalId: '12345678', positions: [PLACE_OF] }]);
  });

  test('place, precision, state, inputs, levels and counters', () => {
    const [inbound] = identified().push(
      data(
        record(
          '02',
          subrecord('10', `${PLACE.slice(0, 24)}81${PLACE.slice(26)}00960000`) +
            subrecord('11', '0a50000b') +
            subrecord('15', '017b002a00') +
            subrecord('12', '01020101e80300') +
            subrecord('1b', '210100f4010000') +
            subrecord('1b', '120100320000' + '00') +
            subrecord('1b', '480100f4010000') +
            subrecord('18', '01e80300') +
            subrecord('19', '000a0000') +
            subrecord('1c', '0102'),
        ),
      ),
      NOW_MS,
    );
    const [position] = (inbound as { positions: unknown[] }).positions as { latitude: number; longitude: number }[];
    expect(position?.latitude).toBeCloseTo(55.755, 7);
    expect(position?.longitude).toBeCloseTo(37.617, 7);
    expect(position).toMatchObject({
      ...PLACE_OF,
      altitudeM: 150,
      ignition: true,
      satellites: 11,
      supplyV: 12.3,
      attributes: {
        eventCode: 0,
        input1: true,
        input2: false,
        output2: true,
        hdop: 0.8,
        batteryV: 4.2,
        adc1: 1000,
        fuel2L: 50,
        fuel3Percent: 50,
        adc2: 1000,
        counter1: 10,
        subrecord28: '0102',
      },
    });
    expect(position).not.toHaveProperty('attributes.fuelLevel1');
  });

  test.each([
    ['13', { alarms: ['sos'] }],
    ['10', { alarms: ['tamper'] }],
    ['11', { alarms: ['power-cut'] }],
    ['12', { alarms: ['low-battery'] }],
    ['5', { ignition: false, alarms: [] }],
    ['2', { ignition: null, alarms: [] }],
  ])('source %s', (source, expected) => {
    const code = Number(source).toString(16).padStart(2, '0');
    expect(identified().push(data(record('02', subrecord('10', `${PLACE}${code}`))), NOW_MS)).toMatchObject([
      { positions: [expected] },
    ]);
  });

  test('a signed packet is read behind its signature; responses are taken and not answered', () => {
    const content = `0200abcd${record('02', subrecord('10', `${PLACE}00`))}`;
    const signed = buildPacket(PACKET.signedData, 8, Buffer.from(content, 'hex'));
    expect(identified().push(signed, NOW_MS)).toMatchObject([{ positions: [PLACE_OF] }]);
    expect(identified().push(buildPacket(PACKET.response, 9, Buffer.from('010000', 'hex')), NOW_MS)).toEqual([]);
  });

  test.each([
    ['a place that is cut off', record('02', subrecord('10', PLACE.slice(2)))],
    ['a subrecord that is cut off', record('02', '100100')],
    ['a record that is cut off', record('02', subrecord('10', `${PLACE}00`)).slice(0, -2)],
    ['a second identity', record('01', subrecord('01', '0200000000'))],
  ])('%s ends the connection', (_, content) => {
    expect(identified().push(data(content), NOW_MS)).toMatchObject([{ type: 'refuse' }]);
  });
});

describe('a platform that forwards several terminals', () => {
  const place = (objectId: number, number: number) => {
    const object = Buffer.alloc(4);
    object.writeUInt32LE(objectId);
    const numbered = record('02', subrecord('10', `${PLACE}00`), object.toString('hex'), '01');
    return `${numbered.slice(0, 4)}${Buffer.of(number, 0).toString('hex')}${numbered.slice(8)}`;
  };
  const letIn: LetIn = ([terminalId], secret) =>
    terminalId === '9'
      ? { type: 'blocked', detail: 'too many' }
      : terminalId === '3' || (terminalId === '4' && secret !== 'word')
        ? { type: 'refused' }
        : { type: 'taken', terminalId };
  const confirmations = (bytes: Buffer) => {
    const packet = readPacket(bytes, 0) as Packet;
    const records = readRecords(bytes, packet.from + 3, packet.to) as EgtsRecord[];
    return records.map(({ from }) => [bytes.readUInt16LE(from + 3), bytes[from + 5]]);
  };

  test('introduces itself, and is confirmed without being a terminal', () => {
    const dispatcher = record('01', subrecord('05', `00${'2a000000'}${Buffer.from('a platform').toString('hex')}`));
    const taken = egts.createSession({ letIn }).push(data(dispatcher), NOW_MS);
    expect(taken).toMatchObject([{ type: 'reply' }]);
    const { bytes } = taken[0] as { bytes: Buffer };
    expect(confirmations(bytes)).toEqual([[42, RESULT.ok]]);
    const rest = bytes.subarray((readPacket(bytes, 0) as Packet).bytes);
    const result = readPacket(rest, 0) as Packet;
    expect(rest.toString('hex', result.from + 7, result.to)).toBe('09' + '0100' + '00');
  });

  test('records are kept by terminal, in their order; the packet is acknowledged behind the last of them', () => {
    const session = egts.createSession({ letIn });
    const taken = session.push(data(place(1, 1) + place(2, 2) + place(1, 3) + place(3, 4)), NOW_MS);
    expect(taken).toMatchObject([
      { type: 'positions', terminalId: '1', positions: [PLACE_OF, PLACE_OF], ack: null },
      { type: 'positions', terminalId: '2', positions: [PLACE_OF] },
    ]);
    expect(confirmations((taken[1] as { ack: Buffer }).ack)).toEqual([
      [1, RESULT.ok],
      [2, RESULT.ok],
      [3, RESULT.ok],
      [4, RESULT.unknownObject],
    ]);
  });

  test('a packet of refused terminals alone is answered, and not as kept', () => {
    const [reply] = egts.createSession({ letIn }).push(data(place(3, 7)), NOW_MS);
    expect(reply).toMatchObject({ type: 'reply' });
    expect(confirmations((reply as { bytes: Buffer }).bytes)).toEqual([[7, RESULT.unknownObject]]);
  });

  test('its password counts for each of its vehicles', () => {
    const login = record('01', subrecord('07', Buffer.from('user\0word\0').toString('hex')));
    const session = egts.createSession({ letIn });
    session.push(data(login), NOW_MS);
    expect(session.push(data(place(4, 1)), NOW_MS)).toMatchObject([{ terminalId: '4' }]);
    expect(egts.createSession({ letIn }).push(data(place(4, 1)), NOW_MS)).toMatchObject([{ type: 'reply' }]);
  });

  test('a terminal that identified itself may carry others', () => {
    const session = egts.createSession({ letIn });
    session.push(data(record('01', IDENTITY)), NOW_MS);
    const taken = session.push(data(place(1, 1) + place(2, 2)), NOW_MS);
    expect(taken).toMatchObject([{ positions: [PLACE_OF] }, { terminalId: '2', positions: [PLACE_OF] }]);
    expect(taken[0]).not.toHaveProperty('terminalId');
  });

  test.each([
    ['an address that is blocked', place(1, 1) + place(9, 2), 'address-blocked'],
    ['a record of no terminal', place(0, 1), 'not-identified'],
  ])('%s ends the connection with nothing taken', (_, content, reason) => {
    expect(egts.createSession({ letIn }).push(data(content), NOW_MS)).toMatchObject([{ type: 'refuse', reason }]);
  });
});

import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { queclink } from './protocol.ts';
import {
  createQueclinkHexSimulator,
  createQueclinkRecordSimulator,
  createQueclinkSimulator,
  seal,
  sealFrame,
} from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

for (const [name, createSimulator] of [
  ['in text', createQueclinkSimulator],
  ['in HEX', createQueclinkHexSimulator],
  ['in records', createQueclinkRecordSimulator],
] as const)
  describeProtocol(`Queclink ${name}`, {
    protocol: queclink,
    terminalId: IMEI,
    createSimulator,
    identifiesByData: true,
    resolution: { degrees: 0.51e-6, seconds: 1 },
    positions: arbitraryPosition(),
    idleBytes: [0, 0x0d, 0x0a],
  });

const line = (text: string) => Buffer.from(text, 'latin1');
const answerTo = (text: string) => queclink.createSession().push(line(text), NOW_MS).slice(1);
const PLACE = '1,60.5,346,150.0,37.617000,55.755000,20260101120000,0250,0001,18d8,6141';
const PLACE_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  latitude: 55.755,
  longitude: 37.617,
  valid: true,
  speedKmh: 60.5,
  courseDeg: 346,
  altitudeM: 150,
};
const report = (name: string, places: string, kind = 'RESP') =>
  `+${kind}:${name},270302,${IMEI},,,10,1,${places},,65.0,20260101120001,11F0$`;

describe('the reports of the maker’s description', () => {
  test('a place names its terminal and is answered by its count', () => {
    const [identify, inbound] = queclink.createSession().push(line(report('GTFRI', PLACE)), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: IMEI, accept: null, reject: null });
    expect(inbound).toMatchObject({
      ack: line('+SACK:11F0$'),
      positions: [
        {
          ...PLACE_OF,
          odometerM: 65_000,
          alarms: [],
          attributes: { report: 'GTFRI', hdop: 1, mcc: 250, mnc: 1, lac: 0x18d8, cellId: 0x6141 },
        },
      ],
    });
  });

  test('several places in a report from the buffer, one without a fix', () => {
    const second = PLACE.replace('1,60.5', '0,0.0').replace('120000', '120030');
    expect(answerTo(report('GTFRI', `${PLACE},00,${second}`, 'BUFF'))).toMatchObject([
      { positions: [PLACE_OF, { fixTimeMs: Date.UTC(2026, 0, 1, 12, 0, 30), valid: false, speedKmh: 0 }] },
    ]);
  });

  test.each([
    ['GTSOS', { alarms: ['sos'] }],
    ['GTMPF', { alarms: ['power-cut'] }],
    ['GTIGN', { ignition: true, alarms: [] }],
    ['GTIGF', { ignition: false }],
    ['GTDOG', { ignition: null, attributes: { report: 'GTDOG' } }],
  ])('report %s', (name, expected) => {
    expect(answerTo(report(name, PLACE))).toMatchObject([{ positions: [{ ...PLACE_OF, ...expected }] }]);
  });

  test('a heartbeat is answered by its name; reports without a place are confirmed', () => {
    expect(answerTo(`+ACK:GTHBD,270302,${IMEI},,20260101120000,11F1$`)).toEqual([
      { type: 'positions', positions: [], ack: line('+SACK:GTHBD,270302,11F1$') },
    ]);
    expect(
      answerTo(`+RESP:GTINF,270302,${IMEI},,16,898600,20,99,1,12.2,,4.10,0,0,,,20260101,20260101120000,11F2$`),
    ).toEqual([{ type: 'positions', positions: [], ack: line('+SACK:11F2$') }]);
  });

  test('first models have no version, an end of their own, and an MEID in place of an IMEI', () => {
    const old = report('GTFRI', PLACE).replace(',270302', '').replace('$', '\0');
    expect(answerTo(old)).toMatchObject([{ positions: [{ valid: true }] }]);
    expect(
      queclink.createSession().push(line('+RESP:GTCTN,110103,A1000012345678,,1,20260101120000,11F0$'), NOW_MS),
    ).toMatchObject([
      { type: 'identify', terminalId: 'A1000012345678' },
      { type: 'positions', ack: line('+SACK:11F0$') },
    ]);
  });

  test.each([
    ['a time that does not exist', report('GTFRI', PLACE.replace('20260101', '20261301'))],
    ['a place beyond the poles', report('GTFRI', PLACE.replace('55.755', '95.755'))],
  ])('%s is left out, and ends nothing', (_, text) => {
    expect(answerTo(text)).toMatchObject([{ type: 'unread' }, { type: 'positions', positions: [] }]);
  });

  test.each([
    ['another IMEI', `+RESP:GTINF,270302,${IMEI},1$+RESP:GTINF,270302,356307042441021,1$`],
    ['a minus that begins no frame', '-RESP'],
  ])('%s ends the connection', (_, text) => {
    expect(queclink.createSession().push(line(text), NOW_MS).at(-1)).toMatchObject({ type: 'refuse' });
  });
});

/** With another byte, counted from the end where it is negative. */
function spoiled(bytes: Buffer, at: number): Buffer {
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = 0xff - (bytes[index] as number);
  return bytes;
}

const HEX_IMEI = '233f070418290103'; // 35 63 07 04 24 41 01 3
const HEX_TIME = '07ea0101' + '0c0000';
const HEX_PLACE = `01003c05015a0096023dfd680352c0f8${HEX_TIME}0250000118d8614100`;
/** A message in HEX of this content, with its length in place of LLLL, or of LL. */
function hex(kind: string, content: string, count = '11f0'): Buffer {
  const bytes = Buffer.concat([
    line(kind),
    Buffer.from(`${content.replace(/L+/, (all) => '0'.repeat(all.length))}${count}00000d0a`, 'hex'),
  ]);
  const at = kind.length + content.indexOf('L') / 2;
  if (content.includes('LLLL')) bytes.writeUInt16BE(bytes.length, at);
  else if (content.includes('LL')) bytes.writeUInt8(bytes.length, at);
  return seal(bytes);
}
const inHex = (...messages: Buffer[]) => queclink.createSession().push(Buffer.concat(messages), NOW_MS);
/** Battery, supply, inputs, outputs, motion, satellites. */
const HEX_HEAD = `4b03050318${HEX_IMEI}55377e0301221a`;
/** Mileages, hour meters, time of sending. */
const HEX_TAIL = `000000${'000000410'}5${'000000'}000000640f00${HEX_TIME}`;
const hexReport = (type: string, content: string, kind = '+RSP', mask = '00fe1fbf') =>
  hex(kind, `${type}${mask}LLLL${HEX_HEAD}${content}${HEX_TAIL}`);

describe('HEX messages of the maker’s description', () => {
  test('a report of places has the fields of its mask', () => {
    const [identify, inbound] = inHex(hexReport('07', `1001${HEX_PLACE}`));
    expect(identify).toMatchObject({ type: 'identify', terminalId: IMEI });
    expect(inbound).toMatchObject({
      ack: line('+SACK:11F0$'),
      positions: [
        {
          ...PLACE_OF,
          satellites: 10,
          ignition: true,
          odometerM: 65_500,
          supplyV: 14.206,
          attributes: {
            report: 'GTFRI',
            hdop: 1,
            mcc: 250,
            mnc: 1,
            lac: 0x18d8,
            cellId: 0x6141,
            batteryPercent: 85,
            input1: true,
            output1: true,
            output2: false,
            motionStatus: 0x22,
            engineHours: 100.25,
          },
        },
      ],
    });
  });

  test('of several places, the newest has what is said once', () => {
    const older = HEX_PLACE.replace('01003c', '00003c').replace('0c0000', '0b3b1e');
    expect(inHex(hexReport('07', `1002${older}${HEX_PLACE}`, '+BSP'))).toMatchObject([
      { type: 'identify' },
      { positions: [{ valid: false, odometerM: null, fixTimeMs: PLACE_OF.fixTimeMs - 30_000 }, { odometerM: 65_500 }] },
    ]);
  });

  test.each([
    ['+RSP', '0a', '10', { alarms: ['sos'], attributes: { report: 'GTSOS' } }],
    ['+EVT', '0e', '00001cc7', { ignition: false, odometerM: 65_500, attributes: { report: 'GTIGF' } }],
    ['+BVT', '06', '0e10', { alarms: ['low-battery'], ignition: true }],
    ['+EVT', '40', '', { alarms: [], attributes: { report: 'EVT64' } }],
    // What such an event has of its own is not known: its place is found from the end.
    ['+EVT', '41', '0a0b0c', { latitude: 55.755, satellites: null, odometerM: 65_500 }],
  ])('%s of number 0x%s', (kind, type, own, expected) => {
    expect(inHex(hexReport(type, `${own}01${HEX_PLACE}`, kind))[1]).toMatchObject({ positions: [expected] });
  });

  test('the GV200 has other fields before its place', () => {
    const content = `0bffffffbfLLLL0404020c01${HEX_IMEI}00000000000000000c0041180001${HEX_PLACE}`;
    const tail = HEX_TAIL.replace(HEX_TIME, `00000000${HEX_TIME}`);
    expect(inHex(hex('+RSP', content + tail))[1]).toMatchObject({
      positions: [{ ...PLACE_OF, odometerM: 65_500, attributes: { report: 'GTRTL' } }],
    });
  });

  test('fields that the mask leaves out are not known', () => {
    const place = `01023dfd680352c0f8${HEX_TIME}`;
    expect(inHex(hex('+RSP', `07000000a0LLLL${HEX_IMEI}1001${place}`))[1]).toMatchObject({
      positions: [
        { latitude: 55.755, speedKmh: null, courseDeg: null, altitudeM: null, ignition: null, odometerM: null },
      ],
    });
  });

  test('a message without its length ends where its checksum is right', () => {
    const place = `01023dfd680352c0f8${HEX_TIME}`;
    const bytes = hex('+RSP', `0700000020${HEX_IMEI}1001${place}`);
    expect(inHex(bytes, bytes)).toMatchObject([
      { type: 'identify' },
      { positions: [{ latitude: 55.755 }] },
      { positions: [{ latitude: 55.755 }] },
    ]);
  });

  test('a heartbeat is answered as such; information without a place is confirmed', () => {
    const heartbeat = hex('+HBD', `efLL4b03050318${HEX_IMEI}${HEX_TIME}`);
    const anonymous = hex('+HBD', `6fLL4b03050318${HEX_TIME}`);
    const information = hex('+INF', `01fffdLLLL${HEX_IMEI}04020c0101`);
    const crash = hex('+CRD', `ffff0d0a0d0a${HEX_TIME}`);
    expect(inHex(heartbeat, anonymous, information, crash).slice(1)).toEqual(
      ['+SACK:GTHBD,4B0305,11F0$', '+SACK:GTHBD,4B0305,11F0$', '+SACK:11F0$', '+SACK:11F0$'].map((ack) => ({
        type: 'positions',
        positions: [],
        ack: line(ack),
      })),
    );
    expect(inHex(information)[0]).toMatchObject({ type: 'identify', terminalId: IMEI });
    expect(inHex(anonymous)).toMatchObject([{ type: 'refuse', reason: 'not-identified' }]);
  });

  test('the acknowledgement of a command is known by the number of the command', () => {
    const session = queclink.createSession();
    session.push(hexReport('07', `1001${HEX_PLACE}`), NOW_MS);
    const command = { type: 'text', parameters: { text: 'AT+GTRTO=gv300can,1,,,,,,00A1$' } } as const;
    const sent = session.command?.({ ...command, id: '1' } as never);
    const acknowledgement = (serial: string) => hex('+ACK', `10efLL4b03050318${HEX_IMEI}00${serial}${HEX_TIME}`);
    expect(session.push(acknowledgement('00a0'), NOW_MS)).toMatchObject([{ type: 'positions' }]);
    expect(session.push(acknowledgement('00a1'), NOW_MS)).toMatchObject([
      { type: 'answer', correlation: sent?.correlation, answer: { result: 'done' } },
      { type: 'positions', ack: line('+SACK:11F0$') },
    ]);
  });

  test.each([
    ['a name in place of the IMEI', hexReport('07', `1001${HEX_PLACE}`, '+RSP', '00fe1fff'), 'not-identified'],
    ['a wrong checksum', spoiled(hexReport('07', `1001${HEX_PLACE}`), 30), 'bad-checksum'],
    ['a length that cannot be', Buffer.from(`2b484244010c${'0'.repeat(20)}`, 'hex'), 'bad-frame'],
    ['an end that is none', spoiled(hexReport('07', `1001${HEX_PLACE}`), -1), 'bad-frame'],
  ])('%s ends the connection', (_, bytes, reason) => {
    expect(inHex(bytes, Buffer.alloc(300)).at(-1)).toMatchObject({ type: 'refuse', reason });
  });

  test.each([
    ['fields that do not fit the mask', hexReport('07', `10ff${HEX_PLACE}`)],
    ['a time that is none', hexReport('07', `1001${HEX_PLACE.replace(HEX_TIME, '07ea0d010c0000')}`)],
    ['a place that is none', hexReport('07', `1001${HEX_PLACE.replace('0352c0f8', '0a52c0f8')}`)],
  ])('%s: the report is left out, and ends nothing', (_, bytes) => {
    expect(inHex(bytes).slice(1)).toMatchObject([{ type: 'unread' }, { positions: [], ack: line('+SACK:11F0$') }]);
  });
});

/** A frame of records: its IMEI, type of the device and versions are put before them. */
function frame(records: string, flags = '00', begin = '2b'): Buffer {
  const bytes = Buffer.from(`${begin}000000${flags}0${IMEI}c031000a0002aabb${records}11f00024`, 'hex');
  bytes.writeUInt16BE(bytes.length, 2);
  return sealFrame(bytes);
}
const RECORD_TIME = (PLACE_OF.fixTimeMs / 1000).toString(16);
const FULL_PLACE = `521609023dfd680352c0f8${RECORD_TIME}025d0a015a0005dc0b`;
const record = (data: string) => {
  const content = `${RECORD_TIME}00015007${data}`;
  return `${(content.length / 2 + 1).toString(16).padStart(2, '0')}${content}`;
};

describe('frames of records', () => {
  test('a place with what stands beside it', () => {
    const data = `${FULL_PLACE}1b01011f04000ffdec22040005805c${'570230d4'}808c0105`;
    expect(inHex(frame(record(data)))).toMatchObject([
      { type: 'identify', terminalId: IMEI },
      {
        ack: line('+SACK:11F0$'),
        positions: [
          {
            ...PLACE_OF,
            satellites: 11,
            ignition: true,
            odometerM: 1_048_044,
            attributes: { record: 0x50, eventCode: 7, hdop: 1, engineHours: 100.15, data87: '30d4', data140: '05' },
          },
        ],
      },
    ]);
  });

  test('from the buffer: a short place, one without a fix, and a record without a place', () => {
    const short = `510f09023dfd680352c0f8${RECORD_TIME}025d`;
    const bytes = frame(record(short) + record(FULL_PLACE.replace('521609', '521605')) + record('1b0102'), '00', '2d');
    expect(inHex(bytes)[1]).toMatchObject({
      positions: [
        { latitude: 55.755, valid: true, speedKmh: 60.5, courseDeg: null },
        { latitude: 55.755, valid: false },
        { latitude: 0, longitude: 0, valid: false, ignition: null, fixTimeMs: PLACE_OF.fixTimeMs },
      ],
    });
  });

  test('one of several frames has two bytes more', () => {
    expect(inHex(frame(record(FULL_PLACE), '800201'))[1]).toMatchObject({ positions: [PLACE_OF] });
  });

  test('a heartbeat is confirmed', () => {
    const bytes = sealFrame(Buffer.from(`2b10180${IMEI}c031000a00${RECORD_TIME}11f00024`, 'hex'));
    expect(inHex(bytes)[1]).toEqual({ type: 'positions', positions: [], ack: line('+SACK:11F0$') });
  });

  test.each([
    ['a record that is cut off', frame('7f00')],
    ['data that is cut off', frame(record('5216'))],
    ['a place that is none', frame(record(FULL_PLACE.replace('0352c0f8', '0a52c0f8')))],
  ])('%s is left out, and ends nothing', (_, bytes) => {
    expect(inHex(bytes).slice(1)).toMatchObject([{ type: 'unread' }, { positions: [], ack: line('+SACK:11F0$') }]);
  });

  test('commands are answered in text, by their names', () => {
    const session = queclink.createSession();
    session.push(frame(''), NOW_MS);
    for (const [kind, result] of [
      ['ACK', 'done'],
      ['NACK', 'failed'],
    ]) {
      const sent = session.command?.({
        type: 'text',
        parameters: { text: 'AT@APN=gl601,0,,0,012F$' },
        id: '1',
      } as never);
      expect(session.push(line(`+${kind}:APN,${IMEI},C031,10,0,,0,012F,20260101120000,1234$`), NOW_MS)).toMatchObject([
        { type: 'answer', correlation: sent?.correlation, answer: { result } },
        { type: 'positions', positions: [], ack: line('+SACK:1234$') },
      ]);
    }
  });

  test.each([
    ['a wrong checksum', spoiled(frame(record(FULL_PLACE)), 30), 'bad-checksum'],
    ['an end that is none', spoiled(frame(''), -1), 'bad-frame'],
    ['a length that cannot be', Buffer.from('2b000001', 'hex'), 'bad-length'],
    ['a heartbeat of another length', Buffer.from('2b101900', 'hex'), 'bad-length'],
  ])('%s ends the connection', (_, bytes, reason) => {
    expect(inHex(bytes)).toMatchObject([{ type: 'refuse', reason }]);
  });
});

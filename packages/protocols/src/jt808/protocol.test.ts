import { type Alarm, NO_ALARMS, type Position, type TerminalCommand, type TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import type { Inbound, TerminalCodes } from '../protocol.ts';
import { readPhone, readTime, timeBytes } from './bcd.ts';
import { decodeCommand, encodeRecordings, readRecordings } from './commands.ts';
import { buildMessage, buildParts, type Edition, type Message } from './frame.ts';
import { ALARM_BITS } from './location.ts';
import { MESSAGE } from './message-ids.ts';
import { jt808 } from './protocol.ts';
import { Reassembly } from './reassembly.ts';
import { authorizationCode } from './session.ts';
import {
  createJt808Simulator,
  createJt808Simulator2013,
  encodeLocation,
  encodeLocations,
  Jt808TerminalSide,
} from './simulator.ts';

const NOW_MS = Date.UTC(2026, 5, 1, 12);
const PHONE = '13912345678' as TerminalId;
const NAMED = ALARM_BITS.map(([, alarm]) => alarm);

/** In steps of 1e-6 degrees, without the negative zero that the wire does not have. */
function onGrid(degrees: number): number {
  return (Math.sign(degrees) * Math.round(Math.abs(degrees) * 1e6)) / 1e6 + 0;
}

function alarmBits(alarms: readonly Alarm[]): number {
  let bits = 0;
  for (const alarm of alarms) {
    const bit = ALARM_BITS.find(([, named]) => named === alarm)?.[0];
    if (bit !== undefined) bits |= 1 << bit;
  }
  return bits >>> 0;
}

/** What is decoded of the bits of the status. */
function statusAttributes(statusBits: number) {
  const bit = (index: number) => ((statusBits >>> index) & 1) === 1;
  return {
    statusBits,
    fuelCut: bit(10),
    door1: bit(13),
    door2: bit(14),
    door3: bit(15),
    door4: bit(16),
    door5: bit(17),
  };
}

function carried(position: Position): Position {
  const bits = alarmBits(position.alarms);
  const named = ALARM_BITS.map(([, alarm]) => alarm).filter(
    (alarm, i) => position.alarms.includes(alarm) && NAMED.indexOf(alarm) === i,
  );
  const statusBits =
    (Number(position.attributes?.statusBits ?? 0) & ~0xf) |
    (position.ignition ? 1 : 0) |
    (position.valid ? 2 : 0) |
    (position.latitude < 0 ? 4 : 0) |
    (position.longitude < 0 ? 8 : 0);
  const signal = position.attributes?.signal;
  const attributes = {
    ...(bits === 0 ? {} : { alarmBits: bits }),
    ...position.attributes,
    ...(typeof signal === 'number' && { gsmSignalPercent: Math.round((signal * 100) / 31) }),
    ...(position.fuelL !== null && { fuel1L: position.fuelL }),
    ...statusAttributes(statusBits >>> 0),
  };
  return {
    ...position,
    fixTimeMs: Math.floor(position.fixTimeMs / 1000) * 1000,
    latitude: onGrid(position.latitude),
    longitude: onGrid(position.longitude),
    speedKmh: Math.round((position.speedKmh ?? 0) * 10) / 10,
    courseDeg: position.courseDeg ?? 0,
    altitudeM: position.altitudeM ?? 0,
    ignition: position.ignition ?? false,
    odometerM: position.odometerM === null ? null : Math.round(position.odometerM / 100) * 100,
    supplyV: null,
    alarms: named.length === 0 ? NO_ALARMS : named,
    attributes,
  };
}

const attributes = fc
  .record(
    {
      recorderSpeedKmh: fc.nat({ max: 3000 }).map((tenths) => tenths / 10),
      videoAlarmBits: fc.nat({ max: 0xffffffff }),
      vehicleSignalBits: fc.nat({ max: 0xffffffff }),
      ioStatusBits: fc.nat({ max: 65535 }),
      signal: fc.nat({ max: 31 }),
      statusBits: fc.nat({ max: 0xffffffff }),
      item57: fc.uint8Array({ minLength: 5, maxLength: 255 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      itemeb: fc.nat({ max: 0xffffffff }),
      itemff: fc.constant(''),
    },
    { requiredKeys: [] },
  )
  .map((held) => (Object.keys(held).length > 0 ? held : null));

const conformance = {
  protocol: jt808,
  terminalId: PHONE,
  positions: arbitraryPosition(attributes),
  carried,
  identifiesByData: true,
  idleBytes: [0x7e],
};
describeProtocol('JT/T 808-2019', { ...conformance, createSimulator: createJt808Simulator });
describeProtocol('JT/T 808-2013', { ...conformance, createSimulator: createJt808Simulator2013 });

const SECRET = 'a secret of the tests';
/** As the gateway has it for a vehicle that is bound to its terminal. */
const NEEDED: TerminalCodes = {
  isNeeded: () => true,
  isRight: (_, shown, derived) => shown === derived,
  mayIssue: () => true,
};
const fix = (second: number): Position => ({
  // Twice: what is rounded to zero degrees has lost its hemisphere when it is sent again.
  ...carried(carried(fc.sample(conformance.positions, { numRuns: 1, seed: second })[0] as Position)),
  fixTimeMs: NOW_MS + second * 1000,
});

/** A terminal and its session, the terminal registered. */
function registered(edition: Edition = 2019) {
  const session = jt808.createSession({ secret: SECRET });
  const side = new Jt808TerminalSide(PHONE, edition);
  const reported = session.push(side.register(), NOW_MS);
  return { session, side, reported };
}

/** What the server said, as a terminal reads it. */
function received(side: Jt808TerminalSide, inbound: readonly Inbound[]): Message[] {
  return inbound
    .flatMap((one) => {
      const bytes =
        one.type === 'identify'
          ? one.accept
          : one.type === 'positions'
            ? one.ack
            : one.type === 'answer' || one.type === 'text' || one.type === 'unread'
              ? null
              : one.bytes;
      return bytes === null ? [] : side.receive(bytes);
    })
    .map((message) => {
      if (typeof message === 'string') throw new Error(message);
      return message;
    });
}

describe('registration and authorization', () => {
  test.each([2013, 2019] as const)('the code given in 0x8100 is the one that 0x0102 must show (%i)', (edition) => {
    const { side, reported } = registered(edition);
    const [answer] = received(side, reported);
    expect(answer?.id).toBe(MESSAGE.registered);
    expect(answer?.phone).toBe(PHONE);
    expect(answer?.edition).toBe(edition);
    const code = answer?.body.toString('latin1', 3) ?? '';
    expect(code).toBe(authorizationCode(SECRET, PHONE));

    const again = jt808.createSession({ secret: SECRET });
    const [identify] = again.push(side.authorize(code), NOW_MS);
    expect(identify).toMatchObject({ type: 'identify', terminalId: PHONE });
    const [ack] = received(side, identify ? [identify] : []);
    expect(ack?.id).toBe(MESSAGE.serverAck);
    expect(ack?.body[4]).toBe(0);
    expect(again.push(side.say(MESSAGE.location, encodeLocation(fix(1))).bytes, NOW_MS)).toMatchObject([
      { type: 'positions', positions: [fix(1)] },
    ]);
  });

  test.each([2013, 2019] as const)(
    'a wrong code is answered by a failure where it is needed, and the terminal may register (%i)',
    (edition) => {
      const session = jt808.createSession({ secret: SECRET, codes: NEEDED });
      const side = new Jt808TerminalSide(PHONE, edition);
      const refused = session.push(side.authorize('0000000000000000'), NOW_MS);
      expect(refused).toMatchObject([{ type: 'reply' }]);
      expect(received(side, refused)[0]?.body[4]).toBe(1);
      expect(session.push(side.register(), NOW_MS)).toMatchObject([{ type: 'identify' }]);
    },
  );

  test('the code of another terminal, or of another service, is a wrong one', () => {
    for (const code of [authorizationCode(SECRET, '139' as TerminalId), authorizationCode('other', PHONE), '']) {
      const side = new Jt808TerminalSide(PHONE, 2019);
      const session = jt808.createSession({ secret: SECRET, codes: NEEDED });
      expect(received(side, session.push(side.authorize(code), NOW_MS))[0]?.body[4]).toBe(1);
      expect(session.push(side.heartbeat(), NOW_MS)).toMatchObject([{ type: 'refuse', reason: 'not-identified' }]);
    }
  });

  test('a terminal that shows wrong codes only is not listened to for ever', () => {
    const session = jt808.createSession({ secret: SECRET, codes: NEEDED });
    const side = new Jt808TerminalSide(PHONE, 2019);
    const reported = [1, 2, 3, 4].flatMap(() => session.push(side.authorize('wrong'), NOW_MS));
    expect(reported.map(({ type }) => type)).toEqual(['reply', 'reply', 'refuse']);
  });

  test.each([2013, 2019] as const)('the code of another platform will do where none is needed (%i)', (edition) => {
    for (const code of ['a code of another platform', authorizationCode(SECRET, PHONE)]) {
      const side = new Jt808TerminalSide(PHONE, edition);
      const session = jt808.createSession({ secret: SECRET });
      const reported = session.push(side.authorize(code), NOW_MS);
      expect(reported).toMatchObject([
        { type: 'identify', terminalId: PHONE, showedCode: code === authorizationCode(SECRET, PHONE) },
      ]);
      expect(received(side, reported)[0]?.body[4]).toBe(0);
    }
  });

  test('a location without registration is taken where no code is needed', () => {
    const side = new Jt808TerminalSide(PHONE, 2019);
    const session = jt808.createSession({ secret: SECRET });
    const reported = session.push(side.say(MESSAGE.location, encodeLocation(fix(1))).bytes, NOW_MS);
    expect(reported).toMatchObject([
      { type: 'identify', terminalId: PHONE, accept: null },
      { type: 'positions', positions: [fix(1)] },
    ]);
    const [identify] = reported;
    if (identify?.type !== 'identify') throw new Error(JSON.stringify(identify));
    expect(identify.showedCode).toBeUndefined();
    // A terminal without a vehicle gets an answer as well.
    const [reject] = side.receive(identify.reject ?? Buffer.alloc(0));
    expect(typeof reject !== 'string' && reject?.body.toString('hex')).toBe('0000020001');
  });

  test('on the connection on which it registered, a terminal may show any code', () => {
    const session = jt808.createSession({ secret: SECRET, codes: NEEDED });
    const side = new Jt808TerminalSide(PHONE, 2013);
    session.push(side.register(), NOW_MS);
    expect(received(side, session.push(side.authorize('its own idea'), NOW_MS))[0]?.body[4]).toBe(0);
  });

  test('a vehicle without a plate registers by its VIN', () => {
    for (const edition of [2013, 2019] as const) {
      const side = new Jt808TerminalSide(PHONE, edition);
      const plateAt = edition === 2013 ? 36 : 75;
      const registration = (colour: number) =>
        Buffer.concat([Buffer.alloc(plateAt), Buffer.of(colour), Buffer.from('WDB9066331S123456')]);
      const [, kept] = jt808.createSession().push(side.say(MESSAGE.register, registration(0)).bytes, NOW_MS);
      expect(kept).toMatchObject({
        positions: [{ valid: false, fixTimeMs: NOW_MS, attributes: { vin: 'WDB9066331S123456' } }],
        ack: null,
      });
      expect(jt808.createSession().push(side.say(MESSAGE.register, registration(1)).bytes, NOW_MS)).toHaveLength(1);
    }
  });

  describe('a number with hexadecimal digits', () => {
    // 35630704244101 and the check digit 3: the IMEI 356307042441013.
    const PACKED = (35_630_704_244_101).toString(16).padStart(12, '0');

    test.each([
      [
        'an IMEI as a binary number',
        PACKED,
        '356307042441013',
        [PACKED.replace(/^0+/, ''), PACKED.replace(/^0+/, '').toUpperCase()],
      ],
      ['hexadecimal digits', '00a1b2c3d4e5', 'a1b2c3d4e5', ['A1B2C3D4E5']],
      ['decimal digits', '013912345678', '13912345678', undefined],
      ['nothing but zeros', '000000000000', '0', undefined],
    ])('%s names the terminal in each of its forms', (_, number, terminalId, otherIds) => {
      const side = new Jt808TerminalSide(number, 2013);
      const session = jt808.createSession({ secret: SECRET });
      const [identify] = session.push(side.register(), NOW_MS);
      if (identify?.type !== 'identify') throw new Error(JSON.stringify(identify));
      expect([identify.terminalId, identify.otherIds]).toEqual([terminalId, otherIds]);
      // The answer has the number as the terminal wrote it, and the code that it gives is good.
      const [answer] = received(side, [identify]);
      expect(answer?.phone).toBe(side.phone);
      const again = jt808.createSession({ secret: SECRET });
      const code = answer?.body.toString('latin1', 3) ?? '';
      expect(again.push(side.authorize(code), NOW_MS)).toMatchObject([{ type: 'identify', terminalId }]);
    });

    test('of 20 digits is taken as well', () => {
      const side = new Jt808TerminalSide('0000000000a1b2c3d4e5', 2019);
      expect(jt808.createSession().push(side.register(), NOW_MS)).toMatchObject([{ terminalId: 'a1b2c3d4e5' }]);
    });

    test.each([
      ['data before a registration', (side: Jt808TerminalSide) => side.heartbeat()],
      [
        'wrong codes',
        (side: Jt808TerminalSide) => Buffer.concat([1, 2, 3].map(() => side.authorize('of another service'))),
      ],
    ])('%s: the refusal names the terminal', (_, say) => {
      const refused = jt808
        .createSession({ codes: NEEDED })
        .push(say(new Jt808TerminalSide(PACKED, 2013)), NOW_MS)
        .at(-1);
      expect(refused).toMatchObject({
        type: 'refuse',
        terminalIds: ['356307042441013', expect.anything(), expect.anything()],
      });
    });
  });

  test('leading zeros make no other terminal, and another phone number on the same connection is refused', () => {
    const session = jt808.createSession({ secret: SECRET });
    const [identify] = session.push(new Jt808TerminalSide('013912345678', 2013).register(), NOW_MS);
    expect(identify).toMatchObject({ terminalId: '13912345678' });
    expect(session.push(new Jt808TerminalSide('13912345679', 2013).heartbeat(), NOW_MS)).toMatchObject([
      { type: 'refuse', reason: 'bad-content' },
    ]);
  });
});

describe('messages', () => {
  // Put together by hand from the standard's tables: a heartbeat of 013912345678, serial 0x007e, whose flag is escaped.
  test('a heartbeat, byte by byte', () => {
    const { session, side } = registered(2013);
    const bytes = Buffer.from('7e00020000013912345678007d02007e', 'hex');
    let checksum = 0;
    for (const byte of Buffer.from('00020000013912345678007e', 'hex')) checksum ^= byte;
    bytes[bytes.length - 2] = checksum;
    const [beat] = session.push(bytes, NOW_MS);
    expect(beat).toMatchObject({ type: 'positions', positions: [] });
    expect(received(side, beat ? [beat] : [])[0]?.body.toString('hex')).toBe('007e000200');
  });

  test('the answer to a question for the location is acknowledged, and its location stored', () => {
    const { session, side } = registered(2013);
    const body = Buffer.from(
      '0007 0000000000000003 02df2f08 00f5fca8 000c 012c 005a 261120160000'.replaceAll(' ', ''),
      'hex',
    );
    const said = session.push(side.say(MESSAGE.locationAnswer, body).bytes, NOW_MS);
    expect(said).toMatchObject([
      {
        type: 'positions',
        positions: [{ fixTimeMs: Date.UTC(2026, 10, 20, 8), latitude: 48.181, longitude: 16.121, speedKmh: 30 }],
      },
      { type: 'answer', correlation: 7, answer: { type: 'acknowledged', result: 'done' } },
    ]);
    const [ack] = received(side, said.slice(0, 1));
    expect([ack?.id, ack?.body.subarray(2).toString('hex')]).toEqual([0x8001, '020100']);
  });

  test('a location, field by field', () => {
    const { session, side } = registered();
    const body = Buffer.from(
      '00000101' + // SOS and power cut
        '0000000f' + // ignition, fix, south, west
        '0200c1a2' + // 33.604002
        '06eeb6ad' + // 116.307629
        'ffec' + // -20 m
        '0259' + // 60.1 km/h
        '005a' + // 90°
        '260601200000' + // 20:00 in UTC+8
        '010400000064' + // 10 km
        '02020123' + // 29.1 l
        '310109' +
        'f00401020304', // a maker's own
      'hex',
    );
    const [reported] = session.push(side.say(MESSAGE.location, body).bytes, NOW_MS);
    expect(reported).toMatchObject({
      type: 'positions',
      positions: [
        {
          fixTimeMs: Date.UTC(2026, 5, 1, 12),
          latitude: -33.604002,
          longitude: -116.307629,
          valid: true,
          speedKmh: 60.1,
          courseDeg: 90,
          altitudeM: -20,
          satellites: 9,
          ignition: true,
          odometerM: 10_000,
          fuelL: 29.1,
          alarms: ['sos', 'power-cut'],
          attributes: { statusBits: 15, alarmBits: 0x101, itemf0: 0x01020304 },
        },
      ],
    });
  });

  test('items without a name are kept as they stand, and so are the bits of the status', () => {
    const { session, side } = registered();
    const location = encodeLocation({
      ...fix(1),
      odometerM: null,
      fuelL: null,
      satellites: null,
      alarms: [],
      attributes: null,
    });
    // Bit 10 of the status is set, and the items: 1, 2, 3, 4 and 8 bytes, one with the wrong length for its id, one cut
    // off.
    location.writeUInt32BE(location.readUInt32BE(4) | 0x400, 4);
    const items = 'd00107 d1020123 d203010203 d304ffffffff d4080102030405060708 0202 0101 0101ff ee05aa';
    const body = Buffer.concat([location, Buffer.from(items.replaceAll(' ', ''), 'hex')]);
    const [reported] = session.push(side.say(MESSAGE.location, body).bytes, NOW_MS);
    if (reported?.type !== 'positions') throw new Error(JSON.stringify(reported));
    const { statusBits, ...kept } = reported.positions[0]?.attributes ?? {};
    expect(Number(statusBits) & 0x400).toBe(0x400);
    expect(kept).toEqual({
      ...statusAttributes(Number(statusBits)),
      statusBits: undefined,
      fuelCut: true,
      fuel1L: 25.7,
      itemd0: 7,
      itemd1: 0x123,
      itemd2: '010203',
      itemd3: 0xffffffff,
      itemd4: '0102030405060708',
      item01: 0xff,
    });
    expect(reported.positions[0]).toMatchObject({ fuelL: 25.7, odometerM: null });
  });

  test('items without a name are bounded', () => {
    const { session, side } = registered();
    const items = Buffer.concat(Array.from({ length: 200 }, (_, i) => Buffer.of(0x38 + i, 1, i)));
    const location = encodeLocation({ ...fix(1), attributes: null });
    const [reported] = session.push(side.say(MESSAGE.location, Buffer.concat([location, items])).bytes, NOW_MS);
    if (reported?.type !== 'positions') throw new Error(JSON.stringify(reported));
    const names = Object.keys(reported.positions[0]?.attributes ?? {});
    expect(names.filter((name) => name.startsWith('item'))).toHaveLength(96);
  });

  test('a location without a time is acknowledged and is no position', () => {
    const { session, side } = registered();
    const [reported] = session.push(side.say(MESSAGE.location, Buffer.alloc(28)).bytes, NOW_MS);
    expect(reported).toMatchObject({ type: 'positions', positions: [] });
  });

  test('what is cut off, and what is not spoken here, is answered so, and the terminal goes on', () => {
    const { session, side } = registered();
    const results = [
      side.say(MESSAGE.location, Buffer.alloc(27)).bytes,
      side.say(MESSAGE.storedLocations, Buffer.from('0002010004aabbccdd', 'hex')).bytes,
      side.say(MESSAGE.recordings, Buffer.from('0000000000ff00', 'hex')).bytes,
      side.say(0x0801, Buffer.alloc(10)).bytes,
      side.heartbeat(),
    ].map((bytes) => received(side, session.push(bytes, NOW_MS))[0]?.body[4]);
    expect(results).toEqual([2, 2, 2, 3, 0]);
  });

  describe('items', () => {
    /** The attributes and the position of a location with these items, without what the status says. */
    const withItems = (hex: string) => {
      const { session, side } = registered();
      const blank = { ...fix(1), odometerM: null, fuelL: null, satellites: null, alarms: [], attributes: null };
      const body = Buffer.concat([encodeLocation(blank), Buffer.from(hex.replaceAll(' ', ''), 'hex')]);
      const [inbound] = session.push(side.say(MESSAGE.location, body).bytes, NOW_MS);
      if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
      const [position] = inbound.positions as [Position];
      const status = Object.keys(statusAttributes(0));
      const attributes = Object.fromEntries(
        Object.entries(position.attributes ?? {}).filter(([name]) => !status.includes(name)),
      );
      return { position, attributes };
    };
    const FILES = '00'.repeat(16);
    const PLACE = '0064 02000000 06000000 260601200000';

    test.each<[string, string, Record<string, unknown>]>([
      ['alarm to be confirmed', '0402 0102', { alarmEventId: 0x102 }],
      ['cabin, below zero by its sign', '0602 8005', { temperature1C: -5 }],
      ['cabin, below zero by its complement', '0602 fffb', { temperature1C: -5 }],
      ['cabin, no temperature', '0602 4000', { item06: 0x4000 }],
      ['overspeed, no place', '1101 00', { overspeedPlaceKind: 0 }],
      ['overspeed in an area', '1105 03 00000007', { overspeedPlaceKind: 3, overspeedPlaceId: 7 }],
      ['area left', '1206 02 00000009 01', { areaKind: 2, areaId: 9, areaLeft: true }],
      ['route', '1307 0000000b 0e10 01', { routeSegmentId: 11, routeSeconds: 3600, routeTooLong: true }],
      [
        'video',
        '1404 00000001 1504 00000002 1604 00000004 1702 0008',
        {
          videoAlarmBits: 1,
          videoLostBits: 2,
          videoCoveredBits: 4,
          storageFaultBits: 8,
        },
      ],
      ['driving', '1803 0003 28', { drivingBehaviourBits: 3, driverFatigueLevel: 40 }],
      ['signal', '3001 1f', { signal: 31, gsmSignalPercent: 100 }],
      [
        'temperatures',
        '5106 00eb ff38 8000',
        {
          item51: '00ebff388000',
          temperature1C: 23.5,
          temperature2C: -20,
        },
      ],
      ['humidity', '5802 01f4', { item58: 500, humidity1Percent: 50 }],
      ['battery in tenths', '5602 0800', { item56: 0x800, batteryPercent: 80 }],
      ['battery in percent', '5602 0853', { item56: 0x853, batteryPercent: 83 }],
      ['battery, volts', '6902 0190', { item69: 400, batteryV: 4 }],
      [
        'cell',
        '5309 01 00fa 02 1234 5678 20',
        {
          item53: '0100fa021234567820',
          mcc: 250,
          mnc: 2,
          lac: 0x1234,
          cellId: 0x5678,
        },
      ],
      [
        'cell of 4G',
        '5d0b 01 00fa 02 1234 01020304 20',
        {
          item5d: '0100fa0212340102030420',
          mcc: 250,
          mnc: 2,
          lac: 0x1234,
          cellId: 0x1020304,
        },
      ],
      [
        'ICCID',
        `f114 ${Buffer.from('89701012345678901234').toString('hex')}`,
        {
          itemf1: Buffer.from('89701012345678901234').toString('hex'),
          iccid: '89701012345678901234',
        },
      ],
    ])('%s', (_, items, attributes) => {
      expect(withItems(items).attributes).toEqual(attributes);
    });

    test('the supply has a field, and the name that all brands share', () => {
      const { position, attributes } = withItems('6102 0a28');
      expect(position.supplyV).toBe(26);
      expect(attributes).toEqual({ item61: 2600, externalPowerV: 26 });
    });

    test.each<[string, string, Record<string, unknown>, Alarm[]]>([
      [
        'driver assistance',
        `642f 00000001 01 02 01 3c 14 01 00 00 50 ${PLACE} 0003 ${FILES}`,
        { adasEvent: 'lane-departure', adasState: 'begin', adasLevel: 1 },
        ['other'],
      ],
      [
        'a road sign is no alarm',
        `642f 00000001 00 10 01 3c 14 01 00 00 50 ${PLACE} 0003 ${FILES}`,
        { adasEvent: 'road-sign', adasState: 'moment', adasLevel: 1 },
        [],
      ],
      [
        'driver monitoring',
        `652f 00000001 00 01 02 08 00000000 50 ${PLACE} 0003 ${FILES}`,
        { dsmEvent: 'fatigue', dsmState: 'moment', dsmLevel: 2, driverFatigueLevel: 8 },
        ['other'],
      ],
      [
        'blind area, over',
        `6729 00000001 02 03 50 ${PLACE} 0003 ${FILES}`,
        { bsdEvent: 'behind-right', bsdState: 'end' },
        [],
      ],
      [
        'tyres',
        `663b 00000001 01 50 ${PLACE} 0003 ${FILES} 02 00 0002 0320 001e 0064 05 0000 0340 fff6 0032`,
        {
          tyreState: 'begin',
          tyre1AlarmBits: 2,
          tyre1Kpa: 800,
          tyre1C: 30,
          tyre1BatteryPercent: 100,
          tyre6AlarmBits: 0,
          tyre6Kpa: 832,
          tyre6C: -10,
          tyre6BatteryPercent: 50,
        },
        ['other'],
      ],
      [
        'tyres that are reported from time to time, with the longer identifier of Guangdong',
        `664a 00000001 00 50 ${PLACE} 0003 ${FILES} ${'00'.repeat(24)} 01 01 0001 0320 001e 0064`,
        { tyreState: 'moment', tyre2AlarmBits: 1, tyre2Kpa: 800, tyre2C: 30, tyre2BatteryPercent: 100 },
        [],
      ],
    ])('active safety: %s', (_, hex, expected, alarms) => {
      const { position, attributes } = withItems(hex);
      const { item64, item65, item66, item67, ...rest } = attributes;
      expect(typeof (item64 ?? item65 ?? item66 ?? item67)).toBe('string');
      expect(rest).toEqual(expected);
      expect(position.alarms).toEqual(alarms);
    });

    test('tyres of the standard have no unit that can be, and 255 is no tyre', () => {
      const { attributes } = withItems(`051e 50 51 ff 53 ${'ff'.repeat(26)}`);
      expect(attributes).toEqual({ tyre1Raw: 0x50, tyre2Raw: 0x51, tyre4Raw: 0x53 });
    });

    test('any bytes are items, or are passed over; what is kept is bounded', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 990 }), (bytes) => {
          const { attributes } = withItems(Buffer.from(bytes).toString('hex'));
          expect(Object.keys(attributes).length).toBeLessThan(400);
        }),
      );
    });
  });

  describe('who drives', () => {
    const IN = '01 260601195900 00';
    const CODE = Buffer.from('320102199001011234'.padEnd(20, '\0')).toString('hex');
    // 王五 in GBK.
    const PERSON = `04 cdf5cee5 ${CODE} 03 414243 20300101`;
    const driver = (hex: string) => {
      const { session, side } = registered();
      const body = Buffer.from(hex.replaceAll(' ', ''), 'hex');
      const reported = session.push(side.say(MESSAGE.driver, body).bytes, NOW_MS);
      const [answer] = received(side, reported);
      return { reported, result: answer?.body[4] };
    };
    const PUT_IN = {
      driverCardInserted: true,
      driverCardReadResult: 0,
      driverName: '王五',
      driverCode: '320102199001011234',
      driverCardIssuer: 'ABC',
      driverCardValidUntil: '20300101',
    };

    test.each<[string, string, number, Record<string, unknown>]>([
      ['puts a card in', `${IN} ${PERSON}`, NOW_MS - 60_000, PUT_IN],
      [
        'puts a card in (2019)',
        `${IN} ${PERSON} ${Buffer.from('ID7'.padEnd(20, '\0')).toString('hex')}`,
        NOW_MS - 60_000,
        { ...PUT_IN, driverIdentity: 'ID7' },
      ],
      ['takes it out', '02 260601195900', NOW_MS - 60_000, { driverCardInserted: false }],
      [
        'puts one in that cannot be read',
        '01 260601195900 04',
        NOW_MS - 60_000,
        { driverCardInserted: true, driverCardReadResult: 4 },
      ],
      [
        'is named by a terminal of 2011',
        `04 cdf5cee5 ${CODE} ${CODE.padEnd(80, '0')} 03 414243`,
        NOW_MS,
        {
          driverCardInserted: true,
          driverName: '王五',
          driverIdentity: '320102199001011234',
          driverCode: '320102199001011234',
          driverCardIssuer: 'ABC',
        },
      ],
    ])('%s', (_, hex, fixTimeMs, attributes) => {
      const { reported, result } = driver(hex);
      expect(reported).toMatchObject([{ type: 'positions', positions: [{ valid: false, fixTimeMs }] }]);
      expect(reported[0]?.type === 'positions' && reported[0].positions[0]?.attributes).toEqual(attributes);
      expect(result).toBe(0);
    });

    test.each(['', '01', '01 260601195900', `${IN} 04 cdf5`, '02 2606'])('cut off, it is wrong: "%s"', (hex) => {
      expect(driver(hex)).toMatchObject({ result: 2, reported: [{ type: 'reply' }] });
    });
  });

  describe('what a terminal is', () => {
    const text = (value: string, bytes: number) => Buffer.from(value.padEnd(bytes, '\0'), 'latin1');
    const body = (maker: number, model: number, id: number) =>
      Buffer.concat([
        Buffer.from('0007', 'hex'),
        text('MAKER', maker),
        text('T-100', model),
        text('0001234', id),
        Buffer.from('89701012345678901234', 'hex'),
        Buffer.from([2]),
        text('H1', 2),
        Buffer.from([4]),
        text('F2.3', 4),
        Buffer.from([3, 1]),
      ]);

    test.each([
      [5, 20, 7],
      [5, 30, 30],
      [11, 30, 30],
    ])('with fields of %i, %i and %i bytes', (maker, model, id) => {
      const { session, side } = registered();
      expect(session.push(side.say(MESSAGE.properties, body(maker, model, id)).bytes, NOW_MS)).toMatchObject([
        {
          positions: [
            {
              valid: false,
              attributes: {
                terminalKindBits: 7,
                manufacturer: 'MAKER',
                terminalModel: 'T-100',
                terminalSerial: '0001234',
                iccid: '89701012345678901234',
                hardwareVersion: 'H1',
                firmwareVersion: 'F2.3',
              },
            },
          ],
        },
      ]);
      const short = session.push(side.say(MESSAGE.properties, Buffer.alloc(20)).bytes, NOW_MS);
      expect(received(side, short)[0]?.body[4]).toBe(2);
    });
  });

  test('what is passed through from another device is kept as it stands, split or whole', () => {
    const { session, side } = registered();
    const passed = session.push(side.say(MESSAGE.transparent, Buffer.from('41010203', 'hex')).bytes, NOW_MS);
    expect(passed).toMatchObject([
      { positions: [{ valid: false, attributes: { transparentKind: 0x41, transparentData: '010203' } }] },
    ]);
    expect(received(side, passed)[0]?.body[4]).toBe(0);
    const long = session.push(side.say(MESSAGE.transparent, Buffer.alloc(2049, 7)).bytes, NOW_MS);
    expect(long).toMatchObject([{ positions: [{ attributes: { transparentData: '07'.repeat(2048) } }] }]);
    const tooLong = session.push(side.say(MESSAGE.transparent, Buffer.alloc(2050)).bytes, NOW_MS);
    expect(received(side, tooLong)[0]?.body[4]).toBe(2);
  });

  test('a batch with lengths of one byte', () => {
    const { session, side } = registered();
    const positions = [1, 2, 3].map((second) => ({ ...fix(second), attributes: statusAttributes(2), valid: true }));
    const bytes = positions.map((position) => {
      const location = encodeLocation({ ...position, ignition: false, alarms: [], odometerM: null, fuelL: null });
      return Buffer.concat([Buffer.of(location.length), location]);
    });
    const reported = session.push(side.say(MESSAGE.shortBatch, Buffer.concat(bytes)).bytes, NOW_MS);
    expect(reported).toMatchObject([
      { type: 'positions', positions: positions.map(({ fixTimeMs, latitude }) => ({ fixTimeMs, latitude })) },
    ]);
    const cutOff = session.push(side.say(MESSAGE.shortBatch, Buffer.from([28, 0, 0])).bytes, NOW_MS);
    expect(received(side, cutOff)[0]?.body[4]).toBe(2);
  });

  test('a terminal that asks for the time in its maker’s way gets the whole year', () => {
    const { session, side } = registered();
    const [answer] = received(side, session.push(side.say(0x0109, Buffer.alloc(0)).bytes, NOW_MS));
    expect([answer?.id, answer?.body.toString('hex')]).toEqual([0x8109, '07ea06010c0000']);
  });

  test('a terminal that asks for the time gets it in UTC', () => {
    const { session, side } = registered();
    const [answer] = received(side, session.push(side.say(MESSAGE.askTime, Buffer.alloc(0)).bytes, NOW_MS));
    expect(answer?.id).toBe(MESSAGE.timeAnswer);
    expect(answer?.body.toString('hex')).toBe('260601120000');
  });

  test('a message that is too long is refused alike, whether it comes at once or in pieces', () => {
    const bytes = Buffer.concat([Buffer.from([0x7e]), Buffer.alloc(2500, 1), Buffer.from([0x7e])]);
    const atOnce = registered().session.push(bytes, NOW_MS);
    const { session } = registered();
    const pieces = [0, 1, 2].flatMap((nth) => session.push(bytes.subarray(nth * 1000, (nth + 1) * 1000), NOW_MS));
    expect(atOnce).toMatchObject([{ type: 'refuse', reason: 'bad-length' }]);
    expect(pieces).toEqual(atOnce);
  });

  test('an encrypted message is refused', () => {
    const { session } = registered(2013);
    const bytes = Buffer.from('00020400013912345678000100', 'hex');
    let checksum = 0;
    for (let i = 0; i < 12; i++) checksum ^= bytes[i] as number;
    bytes[12] = checksum;
    const frame = Buffer.concat([Buffer.from([0x7e]), bytes, Buffer.from([0x7e])]);
    expect(session.push(frame, NOW_MS)).toMatchObject([{ type: 'refuse', reason: 'unsupported' }]);
  });
});

describe('split messages', () => {
  const positions = Array.from({ length: 60 }, (_, i) => fix(i));
  const body = encodeLocations(positions);
  const header = { id: MESSAGE.storedLocations, edition: 2019 as Edition, version: 1, phone: PHONE, serial: 0xfffe };
  const parts = buildParts(header, body, 500);

  test('come together in any order, and are acknowledged together once they are whole', () => {
    expect(parts.length).toBeGreaterThan(4);
    fc.assert(
      fc.property(fc.shuffledSubarray(parts, { minLength: parts.length, maxLength: parts.length }), (shuffled) => {
        const { session, side } = registered();
        const reported = shuffled.flatMap((bytes) => session.push(bytes, NOW_MS));
        expect(reported).toMatchObject([{ type: 'positions', positions }]);
        expect(received(side, reported).map(({ body: ack }) => ack.readUInt16BE(0))).toEqual(
          parts.map((_, i) => (0xfffe + i) & 0xffff),
        );
      }),
    );
  });

  test('a part that comes again is a terminal that waits for a word on it', () => {
    const { session, side } = registered();
    expect(session.push(parts[0] as Buffer, NOW_MS)).toEqual([]);
    const again = session.push(parts[0] as Buffer, NOW_MS);
    expect(received(side, again)[0]?.body.toString('hex')).toBe('fffe070400');
  });

  test('what is held of unfinished messages is bounded, and a message that began last is still taken', () => {
    const reassembly = new Reassembly();
    const part = (serial: number, number: number, count: number, bytes: number) =>
      reassembly.add({
        ...header,
        serial,
        part: { number, count },
        body: Buffer.alloc(bytes),
      });
    for (let i = 0; i < 5000; i++) {
      part((i * 7) & 0xffff, 1 + (i % 300), 300, 1023);
      expect(reassembly.heldBytes).toBeLessThanOrEqual(256 * 1024);
    }
    part(100, 1, 2, 10);
    expect(part(101, 2, 2, 10)).toMatchObject({ fate: 'whole' });
    expect(part(200, 1, 60_000, 10)).toEqual({ fate: 'too-long' });
  });
});

describe('commands', () => {
  const media = fc.constantFrom('video-and-audio', 'audio', 'video');
  const stream = fc.constantFrom('any', 'main', 'sub');
  const time = fc.integer({ min: Date.UTC(2001, 0, 1) / 1000, max: Date.UTC(2099, 0, 1) / 1000 }).map((s) => s * 1000);
  const channel = fc.nat({ max: 255 });
  const common = { channel, startMs: time, endMs: time, media, stream };
  const port = fc.nat({ max: 65535 });
  const commands = fc.oneof(
    fc.record({ type: fc.constant('list-recordings'), ...common }),
    fc.record({
      type: fc.constant('play-recording'),
      server: fc.record({ host: fc.stringMatching(/^[a-z0-9.:-]{1,60}$/), tcpPort: port, udpPort: port }),
      ...common,
    }),
    fc.record({
      type: fc.constant('control-playback'),
      channel,
      action: fc.constantFrom('go-on', 'pause', 'end'),
      seekToMs: fc.constant(null),
    }),
    fc.record({ type: fc.constant('control-playback'), channel, action: fc.constant('seek'), seekToMs: time }),
  ) as fc.Arbitrary<TerminalCommand>;

  test('are understood by the terminal, in its own edition, each under a serial of its own', () => {
    fc.assert(
      fc.property(fc.array(commands, { minLength: 1, maxLength: 5 }), fc.constantFrom(2013, 2019), (asked, edition) => {
        const { session, side, reported } = registered(edition as Edition);
        received(side, reported);
        const sent = asked.map((command) => session.command?.(command));
        const read = sent.flatMap((one) => side.receive(one?.bytes ?? Buffer.alloc(0)));
        expect(read.map((message) => typeof message !== 'string' && decodeCommand(message.id, message.body))).toEqual(
          asked,
        );
        expect(read.map((message) => typeof message !== 'string' && message.serial)).toEqual(
          sent.map((one) => one?.correlation),
        );
        expect(new Set(sent.map((one) => one?.correlation)).size).toBe(asked.length);
      }),
    );
  });

  test('can be given to a terminal that said who it is, and only where they can be said', () => {
    const end: TerminalCommand = { type: 'control-playback', channel: 1, action: 'end', seekToMs: null };
    expect(jt808.createSession().command?.(end)).toBeNull();
    const { session } = registered();
    expect(session.command?.({ ...end, channel: 256 })).toBeNull();
    expect(session.command?.({ ...end, action: 'seek', seekToMs: 0 })).toBeNull();
    const play = { type: 'play-recording', ...{ channel: 1, startMs: NOW_MS, endMs: NOW_MS } } as const;
    const server = { host: 'x'.repeat(256), tcpPort: 1, udpPort: 0 };
    expect(session.command?.({ ...play, media: 'video', stream: 'any', server })).toBeNull();
  });

  test('are answered by a list, split where it is long, or by a word', () => {
    const recordings = Array.from({ length: 100 }, (_, i) => ({
      channel: 1,
      startMs: NOW_MS + i * 60_000,
      endMs: NOW_MS + (i + 1) * 60_000,
      alarmFlags: '00000000000000ff',
      media: 'video-and-audio' as const,
      stream: 'main' as const,
      storage: 'main' as const,
      sizeBytes: i * 1000,
    }));
    const { session, side } = registered();
    const reported = session.push(side.say(MESSAGE.recordings, encodeRecordings(7, recordings)).bytes, NOW_MS);
    expect(reported).toEqual([{ type: 'answer', correlation: 7, answer: { type: 'recordings', recordings } }]);
    const words = [0, 1, 2, 3].flatMap((result) =>
      session.push(side.acknowledge({ id: MESSAGE.playRecording, serial: 9 }, result), NOW_MS),
    );
    expect(words.map((word) => word.type === 'answer' && word.answer)).toEqual(
      ['done', 'failed', 'wrong', 'unsupported'].map((result) => ({ type: 'acknowledged', result })),
    );
  });

  test('any bytes are a list of recordings, or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const read = readRecordings(Buffer.from(bytes));
        if (read !== null) expect(read.recordings.length).toBeLessThanOrEqual(7);
      }),
    );
  });
});

describe('times and phone numbers', () => {
  test('times come out as they went in, to the second', () => {
    fc.assert(
      fc.property(fc.integer({ min: 946684800 - 8 * 3600, max: 4102444799 - 8 * 3600 }), (second) => {
        expect(readTime(timeBytes(second * 1000), 0)).toBe(second * 1000);
      }),
    );
  });

  test('no byte makes an impossible time possible', () => {
    for (const wrong of [
      '000000000000',
      '260230000000',
      '26010a000000',
      '260101240000',
      '260101006000',
      '261301000000',
    ])
      expect(readTime(Buffer.from(wrong, 'hex'), 0)).toBeNull();
    expect(() => timeBytes(Date.UTC(1999, 0, 1))).toThrow(RangeError);
  });

  test('phone numbers are digits', () => {
    expect(readPhone(Buffer.from('000000000013912345678f', 'hex'), 0, 10)).toBe('1391234567');
    expect(readPhone(Buffer.from('01391234567f', 'hex'), 0, 6)).toBeNull();
    expect(readPhone(Buffer.alloc(6), 0, 6)).toBeNull();
    expect(() => new Jt808TerminalSide('1391234567890', 2013)).toThrow(TypeError);
    expect(() => buildMessage({ ...({} as Message), edition: 2013, phone: '1' }, Buffer.alloc(1024))).toThrow(
      RangeError,
    );
  });
});

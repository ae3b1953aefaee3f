import {
  type Alarm,
  type AttributeValue,
  blankPosition,
  NO_ALARMS,
  type Position,
  type TerminalId,
} from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { buildFrame, COMMAND, FrameReader } from './frame.ts';
import { omnicomm } from './protocol.ts';
import { createOmnicommSimulator } from './simulator.ts';

const ALARMS: readonly Alarm[] = ['sos', 'power-cut', 'tamper', 'jamming'];

function carried(position: Position): Position {
  const { valid, attributes } = position;
  const alarms = ALARMS.filter((alarm) => position.alarms.includes(alarm));
  const ignored = !valid || alarms.length > 0 || attributes?.gsmLink === true || attributes?.roaming === true;
  const flagged = ignored || attributes?.output1 === true;
  const supplyV = position.supplyV === null ? null : Math.round(position.supplyV * 10) / 10;
  const kept = {
    ...attributes,
    ...commonNames(attributes ?? {}),
    ...(supplyV !== null && { externalPowerV: supplyV }),
    ...((flagged || position.ignition !== null) && { output1: attributes?.output1 === true }),
  };
  return {
    ...position,
    fixTimeMs: Math.floor(position.fixTimeMs / 1000) * 1000,
    latitude: onGrid(position.latitude),
    longitude: onGrid(position.longitude),
    speedKmh: position.speedKmh === null ? null : Math.round(position.speedKmh * 10) / 10,
    ignition: position.ignition ?? (flagged ? false : null),
    odometerM: null,
    supplyV,
    fuelL: null,
    alarms,
    attributes: Object.keys(kept).length > 0 ? kept : null,
  };
}

/** What the terminal's own names give beside them. */
function commonNames(attributes: Readonly<Record<string, AttributeValue>>): Record<string, AttributeValue> {
  const { distanceM, iButton, canFuelPercent, canRpm, rpm, spn245, doorMask } = attributes;
  return {
    ...(distanceM !== undefined && { tripM: distanceM }),
    // No key of the tests has the checksum of one.
    ...(typeof iButton === 'string' && { driverCode: iButton.toUpperCase() }),
    ...(canFuelPercent !== undefined && { fuel1Percent: canFuelPercent }),
    ...(canRpm !== undefined && rpm === undefined && { rpm: canRpm }),
    ...(typeof spn245 === 'number' && spn245 <= 0xfaffffff && { canOdometerM: spn245 * 125 }),
    ...(typeof doorMask === 'number' &&
      Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`door${i + 1}`, ((doorMask >>> i) & 1) === 1]))),
  };
}

/** In steps of 1e-7 degrees, without the negative zero that the wire does not have. */
function onGrid(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7 + 0;
}

/** CRC-8 of a key of 1-Wire, bit by bit: the remainder of all bits, the lowest first, by x⁸ + x⁵ + x⁴ + 1. */
function keyChecksum(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++) {
      const carry = (crc ^ (byte >> bit)) & 1;
      crc = (crc >> 1) ^ (carry === 1 ? 0b1000_1100 : 0);
    }
  return crc;
}
const wrongChecksum = (bytes: Uint8Array) => Buffer.of(keyChecksum(bytes) ^ 1).toString('hex');

const u32 = fc.nat({ max: 2 ** 32 - 1 });
const s32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const attributes = fc
  .record(
    {
      events: fc.array(u32, { minLength: 1, maxLength: 5 }).map((events) => events.join()),
      iButton: fc
        .uint8Array({ minLength: 7, maxLength: 7 })
        .map((bytes) => `${Buffer.from(bytes).toString('hex')}${wrongChecksum(bytes)}`),
      output1: fc.constant(true),
      fuelLevel1: u32,
      fuelLevel6: u32,
      fuel1C: s32,
      fuelLevel6State: s32,
      temperature8C: s32,
      passengersIn: u32,
      passengersOut: u32,
      doorMask: fc.nat({ max: 255 }),
      driverStatus: u32,
      gsmLink: fc.constant(true),
      roaming: fc.constant(true),
      sensorSpeedKmh: fc.nat({ max: 250 }),
      rpm: fc.nat({ max: 9000 }),
      batteryPercent: fc.nat({ max: 100 }),
      distanceM: u32.map((tenths) => tenths / 10),
      accelerationG: fc.integer({ min: -400, max: 400 }).map((hundredths) => hundredths / 100),
      input1: s32,
      input6: s32,
      canFuelPercent: fc.nat({ max: 250 }).map((steps) => (steps * 4) / 10),
      canRpm: fc.nat({ max: 0xfaff }).map((steps) => steps * 0.125),
      spn245: u32,
    },
    { requiredKeys: [] },
  )
  .map((held) => (Object.keys(held).length > 0 ? held : null));

describeProtocol('Omnicomm', {
  protocol: omnicomm,
  createSimulator: createOmnicommSimulator,
  terminalId: '3233857728' as TerminalId, // 0xC0C0DBC0: every byte of it is escaped
  // What is sent of an odometer depends on the record before.
  positions: arbitraryPosition(attributes).map((position) => ({ ...position, odometerM: null })),
  carried,
});

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const HELLO = buildFrame(COMMAND.identification, bytesOf('40e20100 00000100'), 'low-first');

function identified() {
  const session = omnicomm.createSession();
  session.push(HELLO, 0);
  return session;
}

/** A record with number 9, at one second past the epoch, of messages given in hex. */
function record(...messages: string[]): Buffer {
  const parts = messages.map((hex) => {
    const message = bytesOf(hex);
    return Buffer.concat([Buffer.from([message.length & 0xff, message.length >> 8]), message]);
  });
  return buildFrame(COMMAND.archiveData, Buffer.concat([bytesOf('09000000 01000000 00'), ...parts]), 'low-first');
}

function positionsOf(...messages: string[]): Position[] {
  const [inbound] = identified().push(record(...messages), 0);
  if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
  return inbound.positions;
}

describe('frames', () => {
  test('the identification is answered by a request for the archive from where it left off', () => {
    // CRC-16/CCITT-FALSE of 80 08 00 40 E2 01 00 00 00 01 00, and of 85 04 00 00 00 00 00.
    const [identify] = omnicomm.createSession().push(bytesOf('c0 80 0800 40e20100 00000100 afef'), 0);
    expect(identify).toEqual({
      type: 'identify',
      terminalId: '123456',
      accept: bytesOf('c0 85 0400 00000000 3125'),
      reject: null,
    });
  });

  test('a record is confirmed by the number of the next one', () => {
    expect(identified().push(record(), 0)).toEqual([
      { type: 'positions', positions: [], ack: buildFrame(COMMAND.archiveDurable, bytesOf('0a000000'), 'low-first') },
    ]);
  });

  test('a terminal that sends checksums high byte first is answered in the same way', () => {
    const hello = buildFrame(COMMAND.identification, bytesOf('40e20100 00000100'), 'high-first');
    expect(omnicomm.createSession().push(hello, 0)).toMatchObject([
      { type: 'identify', accept: buildFrame(COMMAND.archiveRequest, bytesOf('00000000'), 'high-first') },
    ]);
  });

  test('an identification said again is answered again; another one is refused', () => {
    const session = identified();
    expect(session.push(HELLO, 0)).toMatchObject([{ type: 'reply' }]);
    const other = buildFrame(COMMAND.identification, bytesOf('41e20100 00000100'), 'low-first');
    expect(session.push(other, 0)).toMatchObject([{ type: 'refuse', reason: 'bad-content' }]);
  });

  test('a command that nothing is known of carries no positions and ends nothing', () => {
    const unknown = buildFrame(0x93, bytesOf('01'), 'low-first');
    expect(identified().push(Buffer.concat([unknown, record()]), 0)).toMatchObject([
      { type: 'positions', positions: [], ack: null },
      { type: 'positions', positions: [] },
    ]);
  });

  test.each([
    ['a byte that opens no frame', bytesOf('00'), 'bad-frame'],
    ['a frame that opens inside another', bytesOf('c0 86 c0'), 'bad-frame'],
    ['an escape of nothing', bytesOf('c0 86 db 00'), 'bad-frame'],
    ['65,535 bytes of data', bytesOf('c0 86 ffff'), 'bad-length'],
    ['a wrong checksum', bytesOf('c0 86 0000 0000'), 'bad-checksum'],
    ['a record without a header', buildFrame(0x86, bytesOf('01000000'), 'low-first'), 'bad-content'],
    [
      'a message beyond its record',
      buildFrame(0x86, bytesOf('09000000 01000000 00 0500 08'), 'low-first'),
      'bad-content',
    ],
  ])('%s', (_, bytes, reason) => {
    expect(identified().push(bytes, 0)).toMatchObject([{ type: 'refuse', reason }]);
  });
});

describe('messages', () => {
  // Group 2: time 700000000 s, id 123456, flags 0x45, 11.3 m since the last record, 13.9 V, -0.25 g. Group 5: 55.75,
  // 37.61, 63.5 km/h, 90 degrees, 11 satellites, 150.4 m, the same time.
  const GENERAL = '13 08 80cee4cd02 10 c0c407 20 45 28 71 40 8b01 50 31 14';
  const NAVIGATION = '2b 08 c099d69304 10 c0d2d6e602 18 fb04 20 5a 28 0b 30 c017 38 80cee4cd02 2c';

  test('a whole one', () => {
    expect(
      positionsOf(`0a02 0c 10 ${GENERAL} ${NAVIGATION} 33 08 01 30 0a 34 3b 8006 7d f00b a01f a80f 07 3c`),
    ).toEqual([
      {
        fixTimeMs: Date.UTC(2009, 0, 1) + 700_000_000_000,
        latitude: 55.75,
        longitude: 37.61,
        valid: true,
        speedKmh: 63.5,
        courseDeg: 90,
        altitudeM: 150,
        satellites: 11,
        ignition: true,
        odometerM: null,
        supplyV: 13.9,
        fuelL: null,
        alarms: ['tamper'],
        attributes: {
          events: '12,16',
          distanceM: 11.3,
          tripM: 11.3,
          accelerationG: -0.25,
          input1: -1,
          input6: 5,
          canFuelPercent: 50,
          fuel1Percent: 50,
          canRpm: 500,
          rpm: 500,
          spn245: 7,
          canOdometerM: 875,
          output1: false,
          externalPowerV: 13.9,
        },
      },
    ]);
  });

  test('without a place it is not valid, and keeps what else it says', () => {
    expect(positionsOf('13 08 05 20 20 14')).toEqual([
      {
        fixTimeMs: Date.UTC(2009, 0, 1, 0, 0, 5),
        latitude: 0,
        longitude: 0,
        valid: false,
        speedKmh: null,
        courseDeg: null,
        altitudeM: null,
        satellites: null,
        ignition: false,
        odometerM: null,
        supplyV: null,
        fuelL: null,
        alarms: ['sos'],
        attributes: { output1: false },
      },
    ]);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['acceleration by axis', '13 60 03 68 04 70 14 14', { accelerationX: -2, accelerationY: 2, accelerationZ: 10 }],
    [
      'fuel level sensors',
      '43 08 13 10 8020 18 00 40 0a 48 01 44',
      { fuel1C: -10, fuelLevel1: 4096, fuelLevel1State: 0, fuelLevel3: 10, fuelLevel3State: -1 },
    ],
    ['1-wire temperatures', '4b 0b 08 27 40 32 0c 4c', { temperature1C: -20, temperature8C: 25 }],
    [
      'passengers, doors, the driver, tyres',
      '4b 13 08 03 10 02 18 05 20 01 2a 04 01020304 14 4c',
      {
        passengersIn: 3,
        passengersOut: 2,
        doorMask: 5,
        door1: true,
        door2: false,
        door3: true,
        door4: false,
        door5: false,
        door6: false,
        door7: false,
        door8: false,
        driverStatus: 1,
        tpms: '01020304',
      },
    ],
    [
      'a nested group that nothing is known of',
      '53 0b 08 07 12 02 abcd 0c 54',
      {
        'group10.1.1': 7,
        'group10.1.2': 'abcd',
      },
    ],
    [
      'the bus',
      '3b d805 7d f006 78 b80f 904e d00f c801 c065 8028 b224 04 e807 8808 3c',
      {
        spn91: 125,
        throttlePercent: 50,
        spn110: 120,
        engineTemperatureC: 80,
        spn247: 10000,
        engineHours: 500,
        spn250: 200,
        fuelUsedL: 100,
        spn1624: 5120,
        tachographSpeedKmh: 20,
        spn582: '1000,1032',
      },
    ],
    ['axis weights and others without a value', '3b d805 ff01 3c', { spn91: 255 }],
  ])('%s', (_, hex, attributes) => {
    expect(positionsOf(hex)[0]?.attributes).toEqual(attributes);
  });

  test('a key is as printed on it, also where it comes as it was read, its family first', () => {
    const sum = Buffer.of(keyChecksum(Buffer.from('0107b3a20f0000', 'hex'))).toString('hex');
    expect(positionsOf(`13 1a 08 0107b3a20f0000${sum} 14`)[0]?.attributes).toEqual({
      iButton: `0107b3a20f0000${sum}`,
      driverCode: `${sum}00000FA2B30701`.toUpperCase(),
    });
  });

  test('a photo and the log of the terminal are passed over; what is not signed stays as it is', () => {
    expect(positionsOf('23 08 00 22 03 ffd8ff 24 8301 0a 02 6869 8401')[0]?.attributes).toEqual({ 'group4.1': 0 });
  });

  test('the time of the record is taken where it says none', () => {
    expect(positionsOf('2b 08 02 10 02 2c')).toMatchObject([
      { fixTimeMs: Date.UTC(2009, 0, 1, 0, 0, 1), valid: true, alarms: NO_ALARMS },
    ]);
  });

  test('one that says nothing is no position', () => {
    expect(positionsOf('', '13 14')).toEqual([]);
  });

  test('numbers in groups that nothing is known of are kept, everything else unknown is passed over', () => {
    // Group 9: field 1 = 5, a nested group, bytes; then top-level fields 20 of every wire type.
    expect(
      positionsOf(
        '2b 08 02 10 02 2c 4b 08 05 13 1b 1c 14 1a 02 ffff 4c a001 01 a101 0000000000000000 a201 01 00 a501 00000000',
      ),
    ).toMatchObject([{ attributes: { 'group9.1': 5 } }]);
  });

  test('CAN values that mean "not available" stay raw', () => {
    expect(positionsOf('3b 8006 ff01 f00b ffff03 3c')).toMatchObject([{ attributes: { spn96: 255, spn190: 65535 } }]);
  });

  test.each([
    ['a varint of 11 bytes', '08 ffffffffffffffffffff01'],
    ['a varint without an end', '13 08 80'],
    ['a group without an end', '13 08 05'],
    ['a group that another one ends', '13 08 05 2c'],
    ['an end without a group', '14'],
    ['bytes beyond the end', '13 1a 05 00 14'],
    ['events beyond the end', '0a 05 01'],
    ['a field number 0', '00 00'],
    ['a wire type that there is not', '13 0f 14'],
    ['groups without end', '4b'.repeat(200)],
  ])('%s is refused', (_, hex) => {
    expect(identified().push(record(hex), 0)).toMatchObject([{ type: 'refuse', reason: 'bad-content' }]);
  });

  test('attributes are bounded', () => {
    const fields = Array.from({ length: 300 }, (_, i) => {
      const tag = ((i + 1) << 3) >>> 0;
      const bytes = tag < 128 ? [tag] : [(tag & 0x7f) | 0x80, tag >> 7];
      return Buffer.from([...bytes, 1]).toString('hex');
    });
    const [position] = positionsOf(`4b ${fields.join('')} 4c`);
    expect(Object.keys(position?.attributes ?? {})).toHaveLength(96);
  });
});

describe('a gap in the numbers of records', () => {
  const at = (second: number) => blankPosition(Date.UTC(2026, 0, 1) + second * 1000, 55, 37);
  const asked = (number: number) => ({ archiveRequest: number });
  const confirmed = (number: number) => ({ archiveDurable: number });

  /** A terminal with an archive, which sends some of it, and goes back where it is asked to. */
  function terminalWith(count: number, lost: readonly number[] = []) {
    const simulator = createOmnicommSimulator('5' as TerminalId);
    const archive = new Map(Array.from({ length: count }, (_, i) => [i + 1, simulator.encode([at(i + 1)])]));
    for (const number of lost) archive.delete(number);
    const session = identified();
    const stored: number[] = [];
    const said: Record<string, number>[] = [];
    const send = (number: number) => {
      for (const inbound of session.push(archive.get(number) ?? Buffer.alloc(0), 0)) {
        if (inbound.type === 'positions')
          stored.push(...inbound.positions.map(({ fixTimeMs }) => (fixTimeMs - Date.UTC(2026, 0, 1)) / 1000));
        const bytes = inbound.type === 'positions' ? inbound.ack : inbound.type === 'reply' ? inbound.bytes : null;
        if (bytes === null) continue;
        const frame = new FrameReader();
        frame.read(bytes, 0);
        const value = frame.bytes.readUInt32LE(frame.dataStart);
        said.push(frame.command === COMMAND.archiveRequest ? asked(value) : confirmed(value));
      }
    };
    return { send, stored, said, archive };
  }

  test('the records behind it are stored once, and confirmed with the missing ones', () => {
    const { send, stored, said } = terminalWith(8);
    for (const number of [1, 2, 5, 6]) send(number);
    expect(said).toEqual([confirmed(2), confirmed(3), asked(3)]);
    // It goes back.
    for (const number of [3, 4, 5, 6, 7, 8]) send(number);
    expect(said.slice(3)).toEqual([confirmed(4), confirmed(7), confirmed(7), confirmed(7), confirmed(8), confirmed(9)]);
    expect(stored.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('records that the terminal has not any more are waited for until it sends those behind them again', () => {
    const { send, stored, said } = terminalWith(8, [3, 4, 5]);
    for (const number of [1, 2, 6, 7, 6, 7, 8]) send(number);
    expect(said).toEqual([confirmed(2), confirmed(3), asked(3), confirmed(8), confirmed(8), confirmed(9)]);
    expect(stored).toEqual([1, 2, 6, 7, 8]);
  });

  test('of which a part is there is filled with that part', () => {
    const { send, stored, said } = terminalWith(8, [3]);
    for (const number of [1, 2, 6, 4, 5, 6, 7]) send(number);
    expect(said).toEqual([
      confirmed(2),
      confirmed(3),
      asked(3),
      confirmed(5),
      confirmed(7),
      confirmed(7),
      confirmed(8),
    ]);
    expect(stored).toEqual([1, 2, 6, 4, 5, 7]);
  });

  test('a terminal that never goes back is waited for 64 records long, and asked once', () => {
    const { send, stored, said } = terminalWith(100, [2]);
    for (let number = 1; number <= 100; number++) send(number);
    expect(said.slice(0, 3)).toEqual([confirmed(2), asked(2), confirmed(67)]);
    expect(said.at(-1)).toEqual(confirmed(101));
    expect(stored).toHaveLength(99);
  });

  test('the first record of a connection, and numbers that begin anew, are no gap', () => {
    const { send, said, archive } = terminalWith(50);
    archive.set(0, Buffer.alloc(0));
    for (const number of [40, 41, 1, 2]) send(number);
    expect(said).toEqual([confirmed(41), confirmed(42), confirmed(2), confirmed(3)]);
  });

  test('whatever is lost on the way, what is confirmed was stored, and nothing is stored twice', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 2, max: 30 }), { maxLength: 20 }),
        fc.uniqueArray(fc.integer({ min: 2, max: 30 }), { maxLength: 10 }),
        (skipped, lost) => {
          const { send, stored, said, archive } = terminalWith(30, lost);
          let sent = 0;
          // The first time it leaves some out; asked to go back, it sends all that it has.
          for (let number = 1; number <= 30; number++) {
            if (skipped.includes(number) && said.every((each) => each.archiveRequest === undefined)) continue;
            const before = said.length;
            send(number);
            const from = said[before]?.archiveRequest;
            if (from !== undefined) number = from - 1;
            if (++sent > 200) throw new Error('it never ends');
          }
          expect(new Set(stored).size).toBe(stored.length);
          const last = Math.max(...said.map((each) => each.archiveDurable ?? 0));
          for (const number of archive.keys()) if (number < last) expect(stored).toContain(number);
        },
      ),
    );
  });
});

test('the simulated terminal goes on from the record that the server asks for', () => {
  const simulator = createOmnicommSimulator('5' as TerminalId);
  expect(simulator.receive(buildFrame(COMMAND.archiveRequest, bytesOf('00010000'), 'low-first'))).toEqual([
    { type: 'welcome' },
  ]);
  const [inbound] = identified().push(simulator.encode([]), 0);
  expect(inbound).toMatchObject({ ack: buildFrame(COMMAND.archiveDurable, bytesOf('01010000'), 'low-first') });
});

test('a simulated terminal needs a number for an id', () => {
  expect(() => createOmnicommSimulator('4294967296' as TerminalId)).toThrow(TypeError);
});

describe('the distance since the last record', () => {
  const at = (second: number, odometerM: number | null, latitude = 55) => ({
    ...blankPosition(Date.UTC(2026, 0, 1) + second * 1000, latitude, 37),
    odometerM,
  });
  const reported = (bytes: Buffer) => {
    const [inbound] = identified().push(bytes, 0);
    if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
    return inbound.positions.map(({ odometerM, attributes: kept }) => [odometerM, kept?.distanceM]);
  };

  test('is what a simulated terminal sends of its odometer, and no odometer', () => {
    const simulator = createOmnicommSimulator('5' as TerminalId);
    expect(reported(simulator.encode([at(0, 5_000_000)]))).toEqual([[null, undefined]]);
    expect(reported(simulator.encode([at(30, 5_000_250), at(60, 5_000_250)]))).toEqual([
      [null, 250],
      [null, 0],
    ]);
    // A record that has no odometer, and one after a reset.
    expect(reported(simulator.encode([at(90, null), at(120, 5_001_000), at(150, 10)]))).toEqual([
      [null, undefined],
      [null, 750],
      [null, undefined],
    ]);
  });

  test('of a lost record is missing from no mileage: no record has an odometer that a step could be taken from', () => {
    const simulator = createOmnicommSimulator('5' as TerminalId);
    const drive = Array.from({ length: 100 }, (_, i) =>
      simulator.encode([at(i * 30, 1000 + i * 300, 55 + i * 0.0027)]),
    );
    const arrived = drive.filter((_, i) => i % 7 !== 3).flatMap(reported);
    expect(arrived).toHaveLength(86);
    expect(arrived.filter(([odometerM]) => odometerM !== null)).toEqual([]);
  });
});

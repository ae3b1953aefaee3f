import { NO_ALARMS, type Position, type TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc16Arc } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import type { Inbound } from '../protocol.ts';
import { wialonIps } from './protocol.ts';
import { createWialonIps11Simulator, createWialonIpsSimulator } from './simulator.ts';

const NOW_MS = Date.UTC(2026, 5, 1, 12);

function carried(position: Position): Position {
  return {
    ...position,
    fixTimeMs: Math.floor(position.fixTimeMs / 1000) * 1000,
    latitude: position.valid ? onGrid(position.latitude) : 0,
    longitude: position.valid ? onGrid(position.longitude) : 0,
    speedKmh: position.speedKmh === null ? null : Math.round(position.speedKmh),
    alarms: position.alarms.filter((alarm) => alarm === 'sos'),
    attributes: withCommonNames(position),
  };
}

/** What the terminal's own names, and its fields, give beside them. */
function withCommonNames({ attributes, supplyV, fuelL }: Position): Position['attributes'] {
  const { inputs, outputs, adc1, ibutton } = attributes ?? {};
  const all = {
    ...attributes,
    ...(typeof inputs === 'number' && states('input', inputs)),
    ...(typeof outputs === 'number' && states('output', outputs)),
    ...(adc1 !== undefined && { analog1V: adc1 }),
    ...(ibutton !== undefined && { driverCode: ibutton }),
    ...(supplyV !== null && { externalPowerV: supplyV }),
    ...(fuelL !== null && { fuel1L: fuelL }),
  };
  return Object.keys(all).length > 0 ? all : null;
}

function states(name: string, bits: number): Record<string, boolean> {
  const count = bits > 0xff ? 16 : 8;
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i + 1}`, ((bits >> i) & 1) === 1]));
}

/** In steps of 1e-7 degrees, without the negative zero that the wire does not have. */
function onGrid(degrees: number): number {
  return (Math.sign(degrees) * Math.round(Math.abs(degrees) * 1e7)) / 1e7 + 0;
}

const attributes = fc
  .record(
    {
      hdop: fc.nat({ max: 500 }).map((hundredths) => hundredths / 100),
      inputs: fc.nat({ max: 65535 }),
      outputs: fc.nat({ max: 65535 }),
      adc1: fc.integer({ min: -100_000, max: 100_000 }).map((value) => value / 1000),
      ibutton: fc.stringMatching(/^[0-9A-F]{16}$/),
      count1: fc.maxSafeInteger(),
      temperature: fc.double({ min: -100, max: 100, noNaN: true }).map((value) => value + 0),
      long: fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }).map((value) => value.toString()),
      text: fc.constantFrom('V4.5', 'a:b:c', 'Привет', ' '),
    },
    { requiredKeys: [] },
  )
  .map((held) => (Object.keys(held).length > 0 ? held : null));

const conformance = {
  protocol: wialonIps,
  terminalId: '356307042441013' as TerminalId,
  positions: arbitraryPosition(attributes),
  carried,
  idleBytes: [0x0a, 0x0d],
};
describeProtocol('Wialon IPS 2.0', { ...conformance, createSimulator: createWialonIpsSimulator });
describeProtocol('Wialon IPS 1.1', { ...conformance, createSimulator: createWialonIps11Simulator });

/** A session of version 1.1 after its login. */
function identified() {
  const session = wialonIps.createSession();
  session.push(Buffer.from('#L#truck-7;NA\r\n'), NOW_MS);
  return session;
}
const say = (...lines: string[]): Inbound[] =>
  identified().push(Buffer.from(lines.map((line) => `${line}\r\n`).join('')), NOW_MS);
/** What the session answers, as text: the acknowledgement or the reply. */
const answer = (line: string): string => {
  const [inbound] = say(line);
  if (inbound?.type === 'positions') return inbound.ack?.toString() ?? '';
  return inbound?.type === 'reply' ? inbound.bytes.toString() : JSON.stringify(inbound);
};
/** The body with the checksum that version 2 wants behind it. */
const summed = (body: string) => `${body}${crc16Arc(Buffer.from(body), 0, Buffer.byteLength(body)).toString(16)}`;
const say2 = (...lines: string[]): Inbound[] => {
  const session = wialonIps.createSession();
  session.push(Buffer.from(`#L#${summed('2.0;truck-7;NA;')}\r\n`), NOW_MS);
  return session.push(Buffer.from(lines.map((line) => `${line}\r\n`).join('')), NOW_MS);
};

const BLANK: Position = {
  fixTimeMs: NOW_MS,
  latitude: 0,
  longitude: 0,
  valid: false,
  speedKmh: null,
  courseDeg: null,
  altitudeM: null,
  satellites: null,
  ignition: null,
  odometerM: null,
  supplyV: null,
  fuelL: null,
  alarms: NO_ALARMS,
  attributes: null,
};
const PLACE = '5544.6025;N;03739.6834;E';

describe('login', () => {
  const login = (text: string) => wialonIps.createSession().push(Buffer.from(`${text}\r\n`), NOW_MS);

  test('of 1.1 is an identifier and a password', () => {
    expect(login('#L#353451048036030;secret')).toEqual([
      {
        type: 'identify',
        terminalId: '353451048036030',
        secret: 'secret',
        accept: Buffer.from('#AL#1\r\n'),
        reject: Buffer.from('#AL#0\r\n'),
      },
    ]);
  });

  test('of 2.0 names its version and has a checksum', () => {
    // CRC-16/ARC of "2.0;123456;NA;".
    expect(login('#L#2.0;123456;NA;F03B')).toMatchObject([{ type: 'identify', terminalId: '123456' }]);
  });

  test.each([
    ['a wrong checksum', '#L#2.0;123456;NA;FFFF', 'bad-checksum', '#AL#10\r\n'],
    ['no checksum', '#L#2.0;123456;NA;', 'bad-checksum', '#AL#10\r\n'],
    ['a version to come', '#L#3.0;123456;NA;FFFF', 'unsupported', '#AL#0\r\n'],
    ['no identifier', '#L#;NA', 'bad-content', '#AL#0\r\n'],
    ['no password', '#L#123456', 'bad-content', '#AL#0\r\n'],
  ])('with %s is refused', (_, line, reason, said) => {
    expect(login(line)).toMatchObject([{ type: 'refuse', reason, bytes: Buffer.from(said) }]);
  });

  test('said again is answered again; another one is refused', () => {
    expect(say('#L#truck-7;NA', '#L#truck-8;NA')).toMatchObject([
      { type: 'reply', bytes: Buffer.from('#AL#1\r\n') },
      { type: 'refuse', reason: 'bad-content' },
    ]);
  });
});

describe('messages', () => {
  test('a short one', () => {
    expect(say(`#SD#280421;055610;${PLACE};62;180;157;8`)).toEqual([
      {
        type: 'positions',
        positions: [
          {
            ...BLANK,
            fixTimeMs: Date.UTC(2021, 3, 28, 5, 56, 10),
            latitude: 55.743375,
            longitude: 37.66139,
            valid: true,
            speedKmh: 62,
            courseDeg: 180,
            altitudeM: 157,
            satellites: 8,
          },
        ],
        ack: Buffer.from('#ASD#1\r\n'),
      },
    ]);
  });

  test('an extended one', () => {
    expect(
      say(
        '#D#280421;055610.25;3344.6025;S;07039.6834;W;0;360;-5;NA;1.1;5;2;14.77,0.02,3.6;1F2A;count1:1:564,fuel:2:45.8,hw:3:V4.5,SOS:1:1,ign:1:1,pwr_ext:2:12.61,odometer:2:12.5',
      ),
    ).toEqual([
      {
        type: 'positions',
        positions: [
          {
            ...BLANK,
            fixTimeMs: Date.UTC(2021, 3, 28, 5, 56, 10, 250),
            latitude: -33.743375,
            longitude: -70.66139,
            valid: true,
            speedKmh: 0,
            courseDeg: 0,
            altitudeM: -5,
            ignition: true,
            supplyV: 12.61,
            alarms: ['sos'],
            attributes: {
              hdop: 1.1,
              inputs: 5,
              ...states('input', 5),
              outputs: 2,
              ...states('output', 2),
              adc1: 14.77,
              adc2: 0.02,
              adc3: 3.6,
              analog1V: 14.77,
              analog2V: 0.02,
              analog3V: 3.6,
              ibutton: '1F2A',
              driverCode: '1F2A',
              externalPowerV: 12.61,
              count1: 564,
              fuel: 45.8,
              hw: 'V4.5',
              odometer: 12.5,
            },
          },
        ],
        ack: Buffer.from('#AD#1\r\n'),
      },
    ]);
  });

  test('without date, time and place: the time is now, and it is not valid', () => {
    expect(say('#D#NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;;NA;')).toMatchObject([{ positions: [BLANK] }]);
  });

  describe('a field that is empty or NA is not known, and refuses nothing', () => {
    const FIELDS =
      '280421;055610;5544.6025;N;03739.6834;E;62;180;157;8;1.1;5;2;14.77,0.02;1F2A;count1:1:564,ign:1:1'.split(';');
    const whole = say(`#D#${FIELDS.join(';')}`);

    test.each(FIELDS.flatMap((_, i) => [[i, ''] as const, [i, 'NA'] as const]))('field %i: "%s"', (i, unknown) => {
      const [inbound] = say(`#D#${FIELDS.with(i, unknown).join(';')}`);
      const [known] = whole;
      if (inbound?.type !== 'positions' || known?.type !== 'positions') throw new Error(JSON.stringify(inbound));
      expect(inbound.ack?.toString()).toBe('#AD#1\r\n');
      const position = inbound.positions[0] as Position;
      const { attributes, ...rest } = known.positions[0] as Position;
      const missing: readonly [Partial<Position>, readonly string[]][] = [
        ...Array.from({ length: 2 }, () => [{ fixTimeMs: NOW_MS }, []] as [Partial<Position>, string[]]),
        ...Array.from(
          { length: 4 },
          () => [{ latitude: 0, longitude: 0, valid: false }, []] as [Partial<Position>, string[]],
        ),
        [{ speedKmh: null }, []],
        [{ courseDeg: null }, []],
        [{ altitudeM: null }, []],
        [{ satellites: null }, []],
        [{}, ['hdop']],
        [{}, ['inputs', ...Object.keys(states('input', 0))]],
        [{}, ['outputs', ...Object.keys(states('output', 0))]],
        [{}, ['adc1', 'adc2', 'analog1V', 'analog2V']],
        [{}, ['ibutton', 'driverCode']],
        [{ ignition: null }, ['count1']],
      ];
      const [fields, names] = missing[i] as (typeof missing)[number];
      const left = Object.fromEntries(Object.entries(attributes ?? {}).filter(([name]) => !names.includes(name)));
      expect(position).toEqual({ ...rest, ...fields, attributes: left });
    });

    test('in lists of inputs and parameters as well', () => {
      expect(say(`#D#280421;055610;${PLACE};1;2;3;4;;;;1.5,,NA,2;;a:1:,b:3:NA,,c:2:7,`)).toMatchObject([
        { positions: [{ attributes: { adc1: 1.5, analog1V: 1.5, adc4: 2, analog4V: 2, c: 7 } }] },
      ]);
      expect(say(`#SD#;;;;;;;;;`)).toMatchObject([{ positions: [{ ...BLANK }] }]);
    });
  });

  test('a black box with both kinds counts those that are good', () => {
    const [inbound] = say(
      `#B#280421;055610;${PLACE};1;2;3;4|nonsense|280421;055611;${PLACE};1;2;3;4;NA;NA;NA;;NA;a:1:2|`,
    );
    expect(inbound).toMatchObject({
      type: 'positions',
      positions: [{ attributes: null }, { attributes: { a: 2 } }],
      ack: Buffer.from('#AB#2\r\n'),
    });
  });

  test('a ping', () => {
    expect(answer('#P#')).toBe('#AP#\r\n');
  });

  test('what the driver writes is kept, and acknowledged with that', () => {
    expect(say('#M#I am late; sorry')).toEqual([
      {
        type: 'positions',
        positions: [{ ...BLANK, attributes: { driverMessage: 'I am late; sorry' } }],
        ack: Buffer.from('#AM#1\r\n'),
      },
    ]);
    expect(say2(`#M#${summed('Привет;')}`, '#M#hello;0000')).toMatchObject([
      { positions: [{ attributes: { driverMessage: 'Привет' } }], ack: Buffer.from('#AM#1\r\n') },
      { type: 'reply', bytes: Buffer.from('#AM#01\r\n') },
    ]);
    expect(say(`#M#${'x'.repeat(5000)}`)).toMatchObject([
      { positions: [{ attributes: { driverMessage: 'x'.repeat(1000) } }] },
    ]);
  });

  test('a photo is refused block by block, in any split, and the terminal goes on', () => {
    const block = Buffer.concat([
      Buffer.from('#I#6;2;9;280421;055610;a.jpg\r\n'),
      Buffer.from('#P#\r\n\xff', 'latin1'),
    ]);
    const sent = Buffer.concat([block, Buffer.from('#P#\r\n')]);
    // The photo's bytes look like a ping.
    for (let cut = 0; cut <= sent.length; cut++) {
      const session = identified();
      const reported = [sent.subarray(0, cut), sent.subarray(cut)].flatMap((chunk) => session.push(chunk, NOW_MS));
      expect(reported).toEqual([
        { type: 'text', text: 'a block of a photo, 6 bytes: photos are not kept' },
        { type: 'reply', bytes: Buffer.from('#AI#2;0\r\n') },
        { type: 'reply', bytes: Buffer.from('#AP#\r\n') },
      ]);
    }
    expect(say('#I#;0;1;NA;NA;a.jpg')).toMatchObject([{ type: 'refuse', reason: 'bad-content' }]);
    expect(say('#I#999999;0;1;NA;NA;a.jpg')).toMatchObject([{ type: 'refuse', reason: 'bad-length' }]);
  });

  test.each(['0x', '0X'])('a checksum may have %s before it', (prefix) => {
    const withPrefix = (body: string) => summed(body).replace(/[^;|]*$/, (digits) => `${prefix}${digits}`);
    const session = wialonIps.createSession();
    const login = `#L#${withPrefix('2.0;truck-7;NA;')}\r\n`;
    const data = `#SD#${withPrefix(`280421;055610;${PLACE};62;180;157;8;`)}\r\n`;
    expect(session.push(Buffer.from(login + data), NOW_MS)).toMatchObject([
      { type: 'identify', terminalId: 'truck-7' },
      { type: 'positions', positions: [{ speedKmh: 62 }] },
    ]);
    const wrong = `#SD#280421;055610;${PLACE};62;180;157;8;${prefix}\r\n`;
    expect(session.push(Buffer.from(wrong), NOW_MS)).toMatchObject([{ bytes: Buffer.from('#ASD#13\r\n') }]);
  });

  test('the voltage of the battery has the name that all brands share', () => {
    expect(say(`#D#280421;055610;${PLACE};1;2;3;4;;;;;;pwr_int:2:3.9,fuel_l:2:40`)).toMatchObject([
      { positions: [{ fuelL: 40, attributes: { pwr_int: 3.9, batteryV: 3.9, fuel1L: 40 } }] },
    ]);
  });

  test('of version 2 in a session of version 2, with its checksum', () => {
    expect(
      say2(
        `#SD#${summed(`280421;055610;${PLACE};62;180;157;8;`)}`,
        `#B#${summed(`280421;055610;${PLACE};62;180;157;8|280421;055611;${PLACE};62;180;157;8|`)}`,
        `#SD#280421;055610;${PLACE};62;180;157;8;0000`,
        `#D#280421;055610;${PLACE};62;180;157;8;NA;NA;NA;;NA;;0000`,
        `#B#280421;055610;${PLACE};62;180;157;8|0000`,
        `#SD#280421;055610;${PLACE};62;180;157;8`,
      ).map((inbound) =>
        (inbound.type === 'positions' ? inbound.ack : inbound.type === 'reply' ? inbound.bytes : null)?.toString(),
      ),
    ).toEqual(['#ASD#1\r\n', '#AB#2\r\n', '#ASD#13\r\n', '#AD#16\r\n', '#AB#\r\n', '#ASD#13\r\n']);
  });

  test.each([
    ['-1', '#SD#280421;055610'],
    ['-1', `#SD#280421;055610;${PLACE};1;2;3;4;5`],
    ['0', `#SD#310621;055610;${PLACE};1;2;3;4`],
    ['0', `#SD#280421;245610;${PLACE};1;2;3;4`],
    ['0', `#SD#2804;055610;${PLACE};1;2;3;4`],
    ['0', `#SD#280421;055610x1;${PLACE};1;2;3;4`],
    ['10', '#SD#280421;055610;9100.0000;N;03739.6834;E;1;2;3;4'],
    ['10', '#SD#280421;055610;5560.0000;N;03739.6834;E;1;2;3;4'],
    ['10', '#SD#280421;055610;5544.6025;E;03739.6834;E;1;2;3;4'],
    ['10', '#SD#280421;055610;0x10;N;03739.6834;E;1;2;3;4'],
    ['11', `#SD#280421;055610;${PLACE};-1;2;3;4`],
    ['11', `#SD#280421;055610;${PLACE};1;361;3;4`],
    ['11', `#SD#280421;055610;${PLACE};1;2;high;4`],
    ['12', `#SD#280421;055610;${PLACE};1;2;3;many`],
  ])('code %s for %s', (code, line) => expect(answer(line)).toBe(`#ASD#${code}\r\n`));

  test.each([
    ['12', 'x;NA;NA;;NA;'],
    ['13', 'NA;x;NA;;NA;'],
    ['14', 'NA;NA;NA;1,x;NA;'],
    ['15', 'NA;NA;NA;;NA;a'],
    ['15', 'NA;NA;NA;;NA;a:4:1'],
    ['15', 'NA;NA;NA;;NA;a:1:x'],
    ['15', 'NA;NA;NA;;NA;:1:1'],
    ['15', 'NA;NA;NA;;NA;a:2:1e999'],
  ])('code %s for %s', (code, rest) =>
    expect(answer(`#D#280421;055610;${PLACE};1;2;3;4;${rest}`)).toBe(`#AD#${code}\r\n`),
  );

  test('a parameter cannot reach what is not its own', () => {
    const [inbound] = say(`#D#280421;055610;${PLACE};1;2;3;4;NA;NA;NA;;NA;__proto__:3:x,constructor:1:7`);
    if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
    expect(inbound.positions[0]?.attributes).toEqual({ constructor: 7 });
    expect(Object.getPrototypeOf(inbound.positions[0]?.attributes)).toBe(Object.prototype);
  });

  test('attributes are bounded', () => {
    const params = Array.from({ length: 1000 }, (_, i) => `p${i}:1:1`).join();
    const [inbound] = say(`#D#280421;055610;${PLACE};1;2;3;4;NA;NA;NA;;NA;${params}`);
    if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
    expect(Object.keys(inbound.positions[0]?.attributes ?? {})).toHaveLength(96);
  });
});

describe('what a line must be', () => {
  test.each([
    ['HTTP', 'GET / HTTP/1.1', 'bad-frame'],
    ['a type in small letters', '#d#1', 'bad-frame'],
    ['no second #', '#DATA', 'bad-frame'],
    ['a file of a tachograph', '#IT#280421;055610;7;1;2', 'unsupported'],
    ['a compressed packet', '\u00ff\u0001\u0002', 'unsupported'],
  ])('%s ends the connection', (_, line, reason) => {
    expect(identified().push(Buffer.from(`${line}\r\n`, 'latin1'), NOW_MS)).toMatchObject([{ type: 'refuse', reason }]);
  });

  test('a login that is longer than any is refused before it ends', () => {
    const session = wialonIps.createSession();
    expect(session.push(Buffer.from(`#L#${'1'.repeat(600)}`), NOW_MS)).toMatchObject([
      { type: 'refuse', reason: 'bad-length' },
    ]);
  });
});

test("a simulated terminal's id must fit a login", () => {
  expect(() => createWialonIpsSimulator('a;b' as TerminalId)).toThrow(TypeError);
});

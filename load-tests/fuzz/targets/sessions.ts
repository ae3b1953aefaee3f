import { isDeepStrictEqual } from 'node:util';
import type { TerminalId } from '@outrider/domain';
import {
  createTeltonikaSimulator,
  type DatagramSide,
  datagramProtocols,
  EgtsDispatcher,
  encodeLocation,
  encodeRecordings,
  gt06,
  type Inbound,
  JT808_MESSAGE,
  Jt808TerminalSide,
  jt808,
  type Protocol,
  tcpProtocols,
  teltonika,
} from '@outrider/protocols';
import { createRandom, type Random } from '@outrider/simulator';
import {
  egtsFraming,
  galileoskyFraming,
  gt06Framing,
  jt808Framing,
  linesFraming,
  meitrackFraming,
  navtelecomFraming,
  omnicommFraming,
  queclinkFraming,
  ruptelaFraming,
  teltonikaFraming,
  wialonFraming,
  wialonRetranslatorFraming,
} from '../framings.ts';
import { cutsOf } from '../mutate.ts';
import { checkPositions, somePosition } from '../positions.ts';
import { claim, type Framing, type Outcome, type Target } from '../target.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const SECRET = 'the secret of a fuzzed gateway';

/** What mutation needs to know of a protocol. */
interface Dialect {
  framing: Framing;
  words: readonly Buffer[];
  /** Whole conversations beyond those of the simulators. */
  more?(random: Random): Buffer[];
}

const bytes = (...lists: readonly (readonly number[])[]): Buffer[] => lists.map((list) => Buffer.from(list));
const texts = (...list: readonly string[]): Buffer[] => list.map((text) => Buffer.from(text, 'latin1'));

const DIALECTS: Readonly<Record<(typeof tcpProtocols)[number]['name'], Dialect>> = {
  omnicomm: {
    framing: omnicommFraming,
    words: bytes(
      [0xc0],
      [0xdb],
      [0xdb, 0xdc],
      [0x80],
      [0x86],
      [0x13],
      [0x14],
      [0x2b],
      [0x2c],
      [0xff, 0xff, 0xff, 0xff, 0x0f],
    ),
  },
  teltonika: {
    framing: teltonikaFraming,
    words: bytes(
      [0xff],
      [0, 0, 0, 0],
      [0x08],
      [0x8e],
      [0x10],
      [0, 239],
      [1, 0],
      [0, 253],
      [0xff, 0xff],
      [0x0c],
      [0x0e],
    ),
    more: () => [teltonikaTexts()],
  },
  'wialon-ips': {
    framing: wialonFraming,
    words: texts(
      '#L#',
      '#D#',
      '#SD#',
      '#B#',
      '#P#',
      '#M#',
      '#I#',
      'NA',
      ';',
      '|',
      ',',
      ':1:',
      ':2:',
      ':3:',
      '\r\n',
      '9'.repeat(40),
      '-0',
      '1e308',
      '.',
      'nan',
      '5355.09260',
      '__proto__:3:x',
    ),
    more: (random) =>
      texts(
        `#L#imei;NA\r\n#SD#${random.pick(['010225', 'NA', '310299'])};101112;5355.0926;N;02732.4048;E;10;20;300;7\r\n#P#\r\n#M#text\r\n`,
        '#L#imei;NA\r\n#D#NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;NA;;NA;NA\r\n#B#NA;NA;NA;NA;NA;NA;NA;NA;NA;NA|\r\n',
      ),
  },
  jt808: {
    framing: jt808Framing,
    words: bytes(
      [0x7e],
      [0x7d],
      [0x02, 0x00],
      [0x07, 0x04],
      [0x01, 0x02],
      [0x12, 0x05],
      [0x60, 0x00],
      [0x20, 0x00],
      [0x40, 0x00],
      [0x99, 0x99, 0x99],
      [0x25, 0x12, 0x31, 0x23, 0x59, 0x59],
      [0xeb, 0x02, 0xff, 0xff],
      [0x02, 0x10],
      [0x07, 0x02],
      [0x09, 0x00],
      [0x64, 0x2f],
      [0x66, 0x32],
    ),
    more: (random) => [jt808Conversation(2013, random), jt808Conversation(2019, random)],
  },
  gt06: {
    framing: gt06Framing,
    words: bytes(
      [0x78, 0x78],
      [0x79, 0x79],
      [0x01],
      [0x12],
      [0x13],
      [0x16],
      [0x22],
      [0x26],
      [0x8a],
      [0x0d, 0x0a],
      [9],
      [0x94],
      [0xa0],
    ),
    more: () => [gt06Conversation()],
  },
  ruptela: {
    framing: ruptelaFraming,
    words: bytes([0x01], [0x0f], [0x10], [0x44], [0, 5], [0x1d], [0x41], [0, 0xcf], [0xff, 0xff], [0xff]),
  },
  egts: {
    framing: egtsFraming,
    more: (random) => [egtsDispatcher(random)],
    words: bytes([0x00], [0x01], [0x02], [0x10], [0x11], [0x12], [0x14], [0x1b], [0, 0], [0xff, 0xff], [0x80]),
  },
  h02: {
    framing: linesFraming(0x23),
    words: texts(
      '*HQ,',
      'V1',
      'V6',
      'XT',
      'NBR',
      ',A,',
      ',V,',
      '5545.3000,N',
      '03737.0200,E',
      'FFFFFBFF',
      '#',
      ',,',
      '310226',
    ),
    more: () =>
      texts('*HQ,9100000001,XT,V,0,0#*HQ,9100000001,V1,120000,A,5545.3,N,03737.0,E,1,2,010126,FFFFFFFF,250,1,2,3#'),
  },
  gps103: {
    framing: linesFraming(0x3b),
    words: texts(
      '##,imei:',
      'imei:',
      ',A;',
      'tracker',
      'help me',
      'acc on',
      'T:+28',
      ',F,',
      ',L,',
      ',A,',
      ',V,',
      '%',
      ';',
      '5545.3000,N',
    ),
    more: () =>
      texts('##,imei:359999000000018,A;359999000000018;imei:359999000000018,help me,2601011500,,L,,,1a2b,,3c4d,,,;'),
  },
  meitrack: {
    framing: meitrackFraming,
    words: texts('$$', '@@', 'AAA', 'CCC', 'AFF', '|', '*', '250|1|1234|5678', '0103', '-91.0', '26', '9'.repeat(13)),
  },
  queclink: {
    framing: queclinkFraming,
    words: texts(
      '+RESP:',
      '+BUFF:',
      '+ACK:',
      'GTFRI',
      'GTHBD',
      'GTSOS',
      '$',
      ',,',
      '20261301120000',
      '0250,0001,18d8,6141',
      '-191.0000',
      '+RSP',
      '+EVT',
      '+HBD',
      '+INF',
      '+NACK:',
      '\r\n',
      '\0\0',
      '\u00fe\u001f\u00bf',
      'R\u0016',
      'Q\u000f',
      '\u0080\u008c',
    ),
    more: () => texts('+ACK:GTHBD,270302,359999000000018,,20260101120000,11F1$'),
  },
  tk103: {
    framing: linesFraming(0x29),
    words: texts(
      '(',
      'BP05',
      'BR00',
      'BO01',
      'BP00',
      'HSO',
      'A',
      'V',
      '5545.3000N',
      '03737.0200E',
      '260230',
      'L0000FDE8',
      ')',
    ),
    more: () => texts('(035900000001BP05356307042441013)(035900000001BP00HSO)'),
  },
  suntech: {
    framing: linesFraming(0x0d),
    words: texts('ST300', 'STT', 'EMG', 'ALT', 'ALV', ';', '+55.755000', '20261301', '12:00:00', '110010', '\r'),
    more: () =>
      texts(
        'ST300ALV;205000001\rST300EMG;205000001;04;706;20260101;12:00:00;1;+1.0000;+2.0000;1;2;9;1;3;12.2;100000;1\r',
      ),
  },
  navtelecom: {
    framing: navtelecomFraming,
    words: [
      ...bytes([0x7f], [0xb0, 0x0a, 0x0a], [0xb0, 0x14, 0x14, 122], [0xb0, 0x1e, 0x1e, 255], [0xff, 0xff], [0]),
      ...texts('@NTC', '*>S:', '*>FLEX', '*@C', '~A', '~T', '~C', '~E'),
    ],
  },
  'wialon-retranslator': {
    framing: wialonRetranslatorFraming,
    words: [
      ...bytes([0x0b, 0xbb], [0x01], [0x02], [0x03], [0x04], [0x05], [0], [0x7f, 0xf8], [0xff, 0xff]),
      ...texts('posinfo\0', 'pwr_ext\0', 'avl_inputs\0', 'avl_driver\0', 'ign\0', 'gsm\0', '__proto__\0'),
    ],
  },
  galileosky: {
    framing: galileoskyFraming,
    words: bytes(
      [0x03],
      [0x10],
      [0x20],
      [0x30],
      [0x33],
      [0x40],
      [0x5c],
      [0x63],
      [0x70],
      [0xc1],
      [0xe1],
      [0xea],
      [0xfe],
    ),
  },
};

/** The session of each protocol over TCP. */
export const sessionTargets: readonly Target[] = tcpProtocols.map((protocol) =>
  sessionTarget(protocol, DIALECTS[protocol.name]),
);

/** Datagrams of each protocol that is spoken over UDP. */
export const datagramTargets: readonly Target[] = datagramProtocols.map((protocol) =>
  datagramTarget(protocol, DIALECTS[protocol.name]),
);

/** Messages of text in each codec, and records after them. */
function teltonikaTexts(): Buffer {
  const terminal = createTeltonikaSimulator(teltonika.exampleId(1));
  const texts = [0x0c, 0x0d, 0x0e, 0x0f].map((codec) => {
    const text = Buffer.from('0123456789ab some text', 'latin1');
    const message = Buffer.concat([Buffer.of(codec, 1, 6, 0, 0, 0, text.length), text, Buffer.of(1)]);
    return teltonikaFraming.seal(Buffer.concat([Buffer.alloc(8), message, Buffer.alloc(4)]));
  });
  const records = terminal.encode([somePosition(createRandom(1))]);
  return Buffer.concat([terminal.hello() ?? Buffer.alloc(0), ...texts, records]);
}

/** A platform that forwards two vehicles. */
function egtsDispatcher(random: Random): Buffer {
  const dispatcher = new EgtsDispatcher(7, { user: 'user', password: 'word' });
  const packets = Array.from({ length: 2 }, () =>
    dispatcher.encode([1, 2, 1].map((objectId) => ({ objectId, position: somePosition(random) }))),
  );
  return Buffer.concat([dispatcher.hello(), ...packets.map(({ bytes }) => bytes)]);
}

/** A login, a heartbeat, a text, a question for the time and an alarm, as the maker's document has them. */
function gt06Conversation(): Buffer {
  const messages: readonly (readonly [number, string])[] = [
    [0x01, `0${gt06.exampleId(1)}`],
    [0x13, '4604040002'],
    [0x15, '0500000001524f4b3a'],
    [0x8a, ''],
    [0x16, '1a01010b3b1ec905fb8358040926103c147b0900fa021234005678420604010201'],
    [0xa0, '1a01010b3b1ec905fb8358040926103c147b00fa020000123400000000010203040103000001'],
    [0x94, '00049f'],
  ];
  const frames = messages.map(([number, content]) => {
    const bytes = Buffer.from(content, 'hex');
    return gt06Framing.seal(Buffer.concat([Buffer.of(0x78, 0x78, 0, number), bytes, Buffer.alloc(6)]));
  });
  return Buffer.concat([...frames]);
}

/** Everything that a terminal may say, in the order in which one could. */
function jt808Conversation(edition: 2013 | 2019, random: Random): Buffer {
  const side = new Jt808TerminalSide(jt808.exampleId(1), edition);
  const locations = Array.from({ length: 40 }, () => encodeLocation(somePosition(random)));
  const lengths = locations.map((location) =>
    Buffer.concat([Buffer.of(location.length >> 8, location.length & 255), location]),
  );
  const stored = Buffer.concat([Buffer.of(0, locations.length, 1), ...lengths]);
  const recordings = encodeRecordings(3, [
    {
      channel: 1,
      startMs: NOW_MS - 600_000,
      endMs: NOW_MS,
      alarmFlags: '0000000000000000',
      media: 'video',
      stream: 'main',
      storage: 'main',
      sizeBytes: 1e6,
    },
  ]);
  const say = (id: number, body: Buffer): Buffer => side.say(id, body).bytes;
  return Buffer.concat([
    side.register(),
    side.authorize('a wrong code'),
    side.heartbeat(),
    say(JT808_MESSAGE.location, encodeLocation(somePosition(random))),
    // In several packets.
    say(JT808_MESSAGE.storedLocations, stored),
    say(JT808_MESSAGE.askTime, Buffer.alloc(0)),
    side.acknowledge({ serial: 1, id: JT808_MESSAGE.listRecordings }),
    say(JT808_MESSAGE.recordings, recordings),
    say(JT808_MESSAGE.deregister, Buffer.alloc(0)),
    say(0x0900, Buffer.from('something else')),
  ]);
}

function sessionTarget(protocol: Protocol, { framing, words, more }: Dialect): Target {
  return {
    name: `decoder ${protocol.name}`,
    covers: [`/protocols/src/${protocol.name}/`, '/protocols/src/framed-session.ts'],
    words,
    framing,
    maxBytes: 48 * 1024,
    seeds: (random) => [
      ...protocol.simulators.map((create) => {
        const simulator = create(protocol.exampleId(1));
        const packets = Array.from({ length: 1 + Math.floor(random.next() * 3) }, () =>
          simulator.encode(
            Array.from({ length: 1 + Math.floor(random.next() * Math.min(4, simulator.maxPositionsPerPacket)) }, () =>
              somePosition(random),
            ),
          ),
        );
        return Buffer.concat([simulator.hello() ?? Buffer.alloc(0), ...packets]);
      }),
      ...(more?.(random) ?? []),
    ],
    run: (input) => takeStream(protocol, input),
  };
}

/** @throws {Broken} where the session does not keep what `Session` promises */
function takeStream(protocol: Protocol, input: Buffer): Outcome {
  const whole = protocol.createSession({ secret: SECRET }).push(Buffer.from(input), NOW_MS);
  checkInbound(protocol, whole);

  // The same input is always cut at the same places: a finding can be had again.
  const random = createRandom(input.length * 31 + (input[input.length >> 1] ?? 0));
  const session = protocol.createSession({ secret: SECRET });
  const pieces: Inbound[] = [];
  let from = 0;
  for (const to of [...cutsOf(input.length, random), input.length]) {
    const chunk = Buffer.from(input.subarray(from, to));
    const said = session.push(chunk, NOW_MS);
    // The session may not keep the chunk.
    chunk.fill(0xaa);
    pieces.push(...said);
    from = to;
  }
  // What can't go on may be refused with a later byte: a session need not look at each as it comes.
  const early = whole.at(-1)?.type === 'refuse' && pieces.at(-1)?.type !== 'refuse' ? whole.slice(0, -1) : whole;
  claim(isDeepStrictEqual(pieces, early), () => `in pieces it says ${summary(pieces)}, at once ${summary(whole)}`);
  const ended = pieces.some(({ type }) => type === 'refuse');
  claim(!ended || session.push(Buffer.from(input), NOW_MS).length === 0, () => 'it goes on after a refusal');
  return whole.some(({ type }) => type === 'positions') ? 'accepted' : 'refused';
}

function datagramTarget(protocol: Protocol & { datagrams: DatagramSide }, { framing, words }: Dialect): Target {
  const { createSession } = protocol.datagrams;
  return {
    name: `datagrams ${protocol.name}`,
    covers: [`/protocols/src/${protocol.name}/`, '/protocols/src/framed-session.ts'],
    words,
    // With a session of its own it has another form than over TCP.
    ...(createSession === undefined && { framing }),
    maxBytes: 16 * 1024,
    seeds: (random) => {
      const simulator = (protocol.datagrams.simulator ?? protocol.simulators[0])(protocol.exampleId(1));
      const datagram = simulator.encode([somePosition(random)]);
      return [Buffer.concat([simulator.hello() ?? Buffer.alloc(0), datagram]), Buffer.concat([datagram, datagram])];
    },
    run: (input) => takeDatagrams(protocol, input),
  };
}

/** @throws {Broken} where what a session says of a datagram depends on one that was cut off before it */
function takeDatagrams(protocol: Protocol & { datagrams: DatagramSide }, input: Buffer): Outcome {
  const create = () => (protocol.datagrams.createSession ?? protocol.createSession)({ secret: SECRET });
  const whole = create().push(Buffer.from(input), NOW_MS);
  checkInbound(protocol, whole);
  const session = create();
  const chunk = Buffer.from(input);
  const said = session.push(chunk.subarray(0, input.length >> 1), NOW_MS);
  chunk.fill(0xaa);
  checkInbound(protocol, said);
  session.dropUnfinished();
  claim(session.dropUnfinished() === 0, () => 'it keeps an unfinished frame that was dropped');
  if (said.length === 0) {
    const after = session.push(Buffer.from(input), NOW_MS);
    claim(isDeepStrictEqual(after, whole), () => `after half of it, it says ${summary(after)}, not ${summary(whole)}`);
  }
  return whole.some(({ type }) => type === 'positions') ? 'accepted' : 'refused';
}

function checkInbound(protocol: Protocol, messages: readonly Inbound[]): void {
  let terminalId: TerminalId | null = null;
  for (const [index, inbound] of messages.entries())
    switch (inbound.type) {
      case 'identify':
        claim(terminalId === null, () => 'it identifies a terminal twice');
        claim(inbound.terminalId !== '', () => 'it identifies a terminal without a name');
        terminalId = inbound.terminalId;
        break;
      case 'positions':
        claim((inbound.terminalId ?? terminalId) !== null, () => 'positions of a terminal that did not say who it is');
        checkPositions(protocol.name, inbound.terminalId ?? terminalId ?? ('' as TerminalId), inbound.positions);
        break;
      case 'refuse':
        claim(index === messages.length - 1, () => 'something comes after a refusal');
        claim(inbound.detail !== '', () => 'a refusal without a reason');
        break;
    }
}

function summary(messages: readonly Inbound[]): string {
  return (
    messages.map((inbound) => (inbound.type === 'refuse' ? `refuse(${inbound.detail})` : inbound.type)).join(' ') ||
    'nothing'
  );
}

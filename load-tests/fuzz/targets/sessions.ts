import { isDeepStrictEqual } from 'node:util';
import type { TerminalId } from '@outrider/domain';
import {
  createTeltonikaSimulator,
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
import { gt06Framing, jt808Framing, omnicommFraming, teltonikaFraming, wialonFraming } from '../framings.ts';
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
    ),
    more: (random) => [jt808Conversation(2013, random), jt808Conversation(2019, random)],
  },
  gt06: {
    framing: gt06Framing,
    words: bytes([0x78, 0x78], [0x79, 0x79], [0x01], [0x12], [0x13], [0x16], [0x22], [0x26], [0x8a], [0x0d, 0x0a], [9]),
    more: () => [gt06Conversation()],
  },
};

/** The session of each protocol over TCP. */
export const sessionTargets: readonly Target[] = tcpProtocols.map((protocol) =>
  sessionTarget(protocol, DIALECTS[protocol.name]),
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

/** A login, a heartbeat, a text, a question for the time and an alarm, as the maker's document has them. */
function gt06Conversation(): Buffer {
  const messages: readonly (readonly [number, string])[] = [
    [0x01, `0${gt06.exampleId(1)}`],
    [0x13, '4604040002'],
    [0x15, '0500000001524f4b3a'],
    [0x8a, ''],
    [0x16, '1a01010b3b1ec905fb8358040926103c147b0900fa021234005678420604010201'],
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
        claim(terminalId !== null, () => 'positions of a terminal that did not say who it is');
        checkPositions(protocol.name, terminalId ?? ('' as TerminalId), inbound.positions);
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

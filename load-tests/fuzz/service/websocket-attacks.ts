import type { Random } from '@outrider/simulator';
import { mutate } from '../mutate.ts';

const CRLF = '\r\n';
const WORDS = [
  '"type":"subscribe"',
  '"all":true',
  '"since":"0:1"',
  '"since":"0:99999999999"',
  '"type":"authorize"',
  'Sec-WebSocket-Key:',
  'Sec-WebSocket-Version: 8',
  'Sec-WebSocket-Extensions: permessage-deflate',
  '\x81\xfe',
  '\x88\x80',
  '\r\n',
].map((word) => Buffer.from(word, 'latin1'));
const ID = '01990000-0000-7000-8000-000000000001';

/** One frame as a client sends it (RFC 6455, 5.2), or nearly. */
function frame(opcode: number, payload: Buffer, random: Random, { fin = true, masked = true, rsv = 0 } = {}): Buffer {
  const claimed = random.next() < 0.06 ? random.pick([payload.length + 1, 2 ** 31, 0, 600_000]) : payload.length;
  const length =
    claimed < 126
      ? Buffer.of(claimed)
      : claimed < 65_536
        ? Buffer.of(126, claimed >> 8, claimed & 255)
        : Buffer.alloc(9);
  if (length.length === 9) {
    length[0] = 127;
    length.writeBigUInt64BE(random.next() < 0.1 ? 2n ** 63n : BigInt(claimed), 1);
  }
  if (masked) length[0] = (length[0] ?? 0) | 0x80;
  const mask = Buffer.from([1, 2, 3, 4].map(() => Math.floor(random.next() * 256)));
  const body = masked ? payload.map((byte, i) => byte ^ (mask[i & 3] ?? 0)) : payload;
  return Buffer.concat([
    Buffer.of((fin ? 0x80 : 0) | (rsv << 4) | opcode),
    length,
    masked ? mask : Buffer.alloc(0),
    body,
  ]);
}

function someMessage(jwt: string, random: Random): Buffer {
  const message = random.pick<unknown>([
    { type: 'subscribe', all: true },
    {
      type: 'subscribe',
      all: true,
      since: random.pick(['0:0', '0:1,1:1;n:0', '0:999999999999999', '99999:1', ';n:3', '']),
    },
    { type: 'subscribe', vehicles: [ID, ID], positions: random.next() < 0.5 },
    { type: 'subscribe', groups: Array.from({ length: random.pick([0, 1, 3000]) }, () => ID) },
    { type: 'unsubscribe' },
    { type: 'authorize', jwt: random.pick([jwt, 'a.b.c', '', `${jwt}x`]) },
    { type: 'something' },
    random.pick([null, [], 1, 'text', { type: { type: 1 } }, { type: 'subscribe', all: 'yes' }]),
  ]);
  const bytes = Buffer.from(JSON.stringify(message));
  return random.next() < 0.3 ? mutate(bytes, bytes, { words: WORDS, maxBytes: 64 * 1024 }, random) : bytes;
}

function someFrames(jwt: string, random: Random): Buffer[] {
  const message = someMessage(jwt, random);
  switch (Math.floor(random.next() * 9)) {
    case 0:
      // In pieces, with a ping between them.
      return [
        frame(1, message.subarray(0, 5), random, { fin: false }),
        frame(9, Buffer.from('between'), random),
        frame(0, message.subarray(5), random, { fin: random.next() < 0.8 }),
      ];
    case 1:
      return [frame(random.pick([2, 3, 7, 0, 11, 15]), message, random)];
    case 2:
      return [frame(1, message, random, { masked: false })];
    case 3:
      return [frame(1, message, random, { rsv: random.pick([1, 2, 4, 7]) })];
    case 4:
      return [
        frame(
          8,
          random.pick([
            Buffer.alloc(0),
            Buffer.of(3),
            Buffer.of(0x03, 0xe8),
            Buffer.of(0, 0),
            Buffer.alloc(130, 65),
            Buffer.from([0x03, 0xe8, 0xff, 0xfe]),
          ]),
          random,
        ),
      ];
    case 5:
      return Array.from({ length: random.pick([20, 200]) }, () =>
        frame(random.pick([9, 10, 1]), Buffer.from('x'), random),
      );
    case 6:
      return [frame(1, Buffer.from([0xff, 0xfe, 0xc0, 0x80]), random)];
    case 7:
      return [frame(1, Buffer.alloc(random.pick([70_000, 520_000, 530_000]), 0x20), random)];
    default:
      return [frame(1, message, random)];
  }
}

/** What is sent to `GET /live`: a handshake, right or not, and frames. */
export function liveAttack(jwt: string, random: Random): Buffer[] {
  const lines = [
    `GET /live${random.next() < 0.05 ? '?jwt=x' : ''} HTTP/1.1`,
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const authorization = random.next();
  if (authorization < 0.6) lines.push(`Authorization: JWT ${jwt}`);
  else if (authorization < 0.7)
    lines.push(
      random.pick([
        'Authorization: JWT',
        'Authorization: JWT a.b.c',
        'Cookie: outrider_session=x',
        'Origin: https://elsewhere.invalid',
      ]),
    );
  if (random.next() < 0.2) {
    const at = Math.floor(random.next() * lines.length);
    lines.splice(
      at,
      1,
      ...random.pick([
        [],
        ['Sec-WebSocket-Key: short'],
        ['Sec-WebSocket-Version: 99'],
        ['Upgrade: h2c'],
        ['Sec-WebSocket-Protocol: a,,b'],
        ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99'],
        ['Content-Length: 10'],
        [lines[at] ?? '', lines[at] ?? ''],
      ]),
    );
  }
  let handshake: Buffer = Buffer.from(`${lines.join(CRLF)}${CRLF}${CRLF}`, 'latin1');
  if (random.next() < 0.1) handshake = mutate(handshake, handshake, { words: WORDS, maxBytes: 32 * 1024 }, random);
  const frames = Array.from({ length: Math.floor(random.next() * 5) }, () => someFrames(jwt, random)).flat();
  // The first frames may come along with the handshake.
  if (random.next() < 0.3) return [Buffer.concat([handshake, ...frames])];
  const rest = Buffer.concat(frames);
  const said = random.next() < 0.25 ? mutate(rest, rest, { words: WORDS, maxBytes: 700_000 }, random) : rest;
  return said.length === 0 ? [handshake] : [handshake, said];
}

import type { Random } from '@outrider/simulator';
import { mutate } from '../mutate.ts';
import type { DescribedRequest } from './described-requests.ts';

const CRLF = '\r\n';
const WORDS = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  ' ',
  '\t',
  '\0',
  ':',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 5, 5',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: chunked, identity',
  '0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '5;ext="\n',
  '-1\r\n',
  'Expect: 100-continue',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Host: a b',
  'HTTP/1.0',
  'HTTP/2.0',
  'Range: bytes=0-',
  'If-Match: "1"',
  'Cookie: outrider=',
  'Authorization: JWT ',
  '%2e%2e/',
  '//',
  '?',
  '#',
  '*',
].map((word) => Buffer.from(word, 'latin1'));

/** A request as bytes; its body with its length, in chunks, or without a word about it. */
export function requestBytes({ method, path, headers, body }: DescribedRequest, random: Random): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  if (body === null) return Buffer.from(`${lines.join(CRLF)}${CRLF}${CRLF}`, 'latin1');
  if (random.next() < 0.2) {
    const half = body.length >> 1;
    const chunks = [body.subarray(0, half), body.subarray(half)].filter((chunk) => chunk.length > 0);
    const coded = chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}${CRLF}`),
      chunk,
      Buffer.from(CRLF),
    ]);
    lines.push('Transfer-Encoding: chunked');
    return Buffer.concat([
      Buffer.from(`${lines.join(CRLF)}${CRLF}${CRLF}`, 'latin1'),
      ...coded,
      Buffer.from(`0${CRLF}${CRLF}`),
    ]);
  }
  lines.push(`Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join(CRLF)}${CRLF}${CRLF}`, 'latin1'), body]);
}

/** Shapes that servers and proxies have been known to read in two ways, or to be kept busy by. */
const SHAPES: readonly ((plain: Buffer, authorization: string, random: Random) => Buffer)[] = [
  // Two lengths, or a length and chunks: what is behind may be taken for another request.
  (_, authorization) =>
    head(
      [
        'POST /api/v1/vehicles HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/json',
        'Content-Length: 6',
        'Transfer-Encoding: chunked',
      ],
      `0${CRLF}${CRLF}GET /api/v1/me HTTP/1.1${CRLF}Host: a${CRLF}${CRLF}`,
    ),
  (_, authorization) =>
    head(
      [
        'POST /api/v1/vehicles HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/json',
        'Content-Length: 2',
        'Content-Length: 30',
      ],
      `{}GET /api/v1/me HTTP/1.1${CRLF}${CRLF}`,
    ),
  (_, __, random) =>
    head(
      [
        'GET /health/live HTTP/1.1',
        'Host: a',
        `Transfer-Encoding${random.pick([' :', ':', ':\t', '\r\n:'])} ${random.pick(['chunked', 'Chunked', 'chunked,chunked', 'identity', '"chunked"', 'chun\rked'])}`,
      ],
      `${random.pick(['0', '5', '-1', 'g', '0x5', '5 ', '00000000000000000005', 'fffffffff'])}${random.pick([CRLF, '\n', '\r'])}hello${CRLF}0${CRLF}${CRLF}`,
    ),
  // Long and many headers, long targets.
  (_, __, random) =>
    head(['GET /health/live HTTP/1.1', 'Host: a', `X: ${'x'.repeat(random.pick([1000, 8000, 17_000, 70_000]))}`], ''),
  (_, __, random) =>
    head(
      ['GET /health/live HTTP/1.1', ...Array.from({ length: random.pick([100, 2500]) }, (_, n) => `X${n}: ${n}`)],
      '',
    ),
  (_, __, random) =>
    head(
      [
        `GET /${random.pick(['a', '%', '../', '%c0%ae', '?a=', '\xff', '//'])}${'%41'.repeat(random.pick([1, 100, 4000]))} HTTP/1.1`,
        'Host: a',
      ],
      '',
    ),
  // What is promised and does not come.
  (_, authorization, random) =>
    head(
      [
        'POST /api/v1/vehicles HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/json',
        `Content-Length: ${random.pick([10, 1e6, 1e12])}`,
        ...(random.next() < 0.3 ? ['Expect: 100-continue'] : []),
      ],
      '{"name":',
    ),
  (_, authorization) =>
    head(
      [
        'POST /api/v1/geozones/import HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/geo+json',
        'Transfer-Encoding: chunked',
      ],
      `ffff${CRLF}{"type":`,
    ),
  (plain) => plain.subarray(0, plain.length >> 1),
  // Many at once, without waiting for an answer.
  (plain, _, random) => Buffer.concat(Array.from({ length: random.pick([2, 5, 50]) }, () => plain)),
  // Other protocols, other forms.
  () => Buffer.from(`PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}\0\0\x12\x04\0\0\0\0\0`, 'latin1'),
  () => Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'latin1'),
  (_, __, random) =>
    head(
      [
        `${random.pick(['CONNECT 127.0.0.1:1', 'OPTIONS *', 'GET http://127.0.0.1:1/x', 'GET https://[::1', 'TRACE /', 'get /', 'GET  /', 'M-SEARCH *', 'PROPFIND /'])} HTTP/1.1`,
        'Host: a',
      ],
      '',
    ),
  (_, __, random) =>
    head(
      [
        `GET ${random.pick(['/live', '/', '/api/v1/me', '/live?x', '/live/', '//live', '*'])} HTTP/1.1`,
        'Host: a',
        'Connection: Upgrade',
        `Upgrade: ${random.pick(['websocket', 'h2c', 'WebSocket, h2c', ''])}`,
      ],
      'after it',
    ),
  (_, __, random) =>
    head(
      [
        'GET / HTTP/1.1',
        random.pick([
          'Host: a\r\nHost: b',
          'Host:',
          'NoColon',
          ': nothing',
          ' folded: x',
          'A: b\r\n c',
          'A\0: b',
          'Host: \xff',
        ]),
      ],
      '',
    ),
  (_, authorization, random) =>
    head(
      [
        `GET /api/v1/vehicles?${random.pick(['limit=1&limit=2', 'limit[]=1', 'limit=%', 'limit=%ff', '&&&&', '='.repeat(2000), `cursor=${'A'.repeat(499)}`, '__proto__=1', 'from=1e400'])} HTTP/1.1`,
        'Host: a',
        authorization,
      ],
      '',
    ),
  (_, authorization, random) =>
    head(
      [
        'POST /api/v1/vehicles HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/json',
        'Content-Encoding: gzip',
        'Content-Length: 4',
      ],
      random.pick(['\x1f\x8b\x08\x00', '{}{}']),
    ),
  (_, authorization, random) => {
    const deep = random.pick([
      `${'['.repeat(50_000)}`,
      `${'{"a":'.repeat(20_000)}1`,
      `"${'\\u0000'.repeat(9000)}"`,
      `${'9'.repeat(50_000)}`,
      '{"__proto__":{"x":1}}',
      '{"name":"a","name":"b"}',
      '\ufeff{}',
      'null',
      '',
    ]);
    return head(
      [
        'POST /api/v1/vehicles HTTP/1.1',
        'Host: a',
        authorization,
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(deep)}`,
      ],
      deep,
    );
  },
  (_, __, random) =>
    head(
      [
        'GET /api/v1/me HTTP/1.1',
        'Host: a',
        `Authorization: ${random.pick(['JWT', 'JWT ', 'JWT a.b.c', 'JWT eyJhbGciOiJub25lIn0.e30.', `JWT ${'a'.repeat(9000)}`, 'Bearer x', 'Basic Og==', 'JWT \xff', 'JWT a b c'])}`,
      ],
      '',
    ),
  (_, __, random) =>
    head(
      [
        'POST /auth/login HTTP/1.1',
        'Host: a',
        'Content-Type: application/json',
        `Cookie: ${random.pick(['session=', 'a=b; a=c', ';;;=', `outrider_session=${'x'.repeat(4000)}`])}`,
        'Content-Length: 34',
      ],
      '{"login":"admin","password":"xxx"}',
    ),
];

/** A request that is wrong as a whole, or a plain one with some of its bytes changed. */
export function hostileRequest(plain: Buffer, other: Buffer, authorization: string, random: Random): Buffer {
  const made = random.next() < 0.5 ? random.pick(SHAPES)(plain, authorization, random) : plain;
  return random.next() < 0.6 ? mutate(made, other, { words: WORDS, maxBytes: 256 * 1024 }, random) : made;
}

function head(lines: readonly string[], body: string): Buffer {
  return Buffer.concat([
    Buffer.from(`${lines.join(CRLF)}${CRLF}${CRLF}`, 'latin1'),
    Buffer.from(body, body.includes('\ufeff') ? 'utf8' : 'latin1'),
  ]);
}

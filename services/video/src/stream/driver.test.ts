import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleId, VideoProfileId, VideoTaskId } from '@outrider/domain';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { DriverOutcome, Fetched, FetchPhase, Fragment } from '../driver.ts';
import type { Lookup } from './checked-host.ts';
import { createStreamDriver } from './driver.ts';
import { ffmpegArguments } from './ffmpeg.ts';

const FAKE = new URL('./ffmpeg.fixture.mjs', import.meta.url).pathname;
const START = Date.UTC(2026, 0, 15, 12);

let folder: string;
let path: string;
const servers: (Server | HttpServer)[] = [];
const sockets = new Set<Socket>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stream-'));
  path = join(folder, 'video.mp4');
  // The fixture goes wrong where it is reported.
  process.env.SECRET_OF_THE_SERVICE = 'the password of everything';
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close').catch(() => {});
  }
  rmSync(folder, { recursive: true });
});

async function listen<S extends Server | HttpServer>(server: S): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
const http = (listener: RequestListener) => listen(createHttpServer(listener));
/** An RTSP server of one answer. */
const rtsp = (answer: string, received: string[] = []) =>
  listen(
    createServer((socket) => {
      socket.once('data', (bytes: Buffer) => {
        received.push(bytes.toString());
        socket.end(answer);
      });
    }),
  );

interface Options {
  allowPrivate?: boolean;
  lookup?: Lookup;
  ffmpeg?: string;
  stallMs?: number;
  signal?: AbortSignal;
  maxBytes?: number;
  audio?: boolean;
}
async function fetchFrom(address: string, options: Options = {}) {
  const { allowPrivate = true, lookup, ffmpeg = FAKE, stallMs = 20_000 } = options;
  const driver = createStreamDriver({ ffmpeg, allowPrivate, stallMs, ...(lookup ? { lookup } : {}) });
  const fragment: Fragment = {
    source: {
      profileId: 'p' as VideoProfileId,
      vehicleId: 'v' as VehicleId,
      protocol: 'stream',
      address,
      timeZone: 'Etc/UTC',
    },
    taskId: 't' as VideoTaskId,
    channel: 2,
    startMs: START,
    endMs: START + 30_000,
    stream: 'main',
    audio: options.audio ?? true,
  };
  const phases: FetchPhase[] = [];
  const outcome = await driver.fetch(fragment, {
    path,
    signal: options.signal ?? new AbortController().signal,
    maxBytes: options.maxBytes ?? 1e9,
    onPhase: (phase) => phases.at(-1) !== phase && phases.push(phase),
    onProgress: () => {},
  });
  return { outcome, phases };
}
const failure = (outcome: DriverOutcome<Fetched>) => (outcome.ok ? 'none' : outcome.reason);

describe('what ffmpeg is given', () => {
  test('is to copy, and to open nothing but what it is given', () => {
    const args = ffmpegArguments({
      input: { url: 'rtsp://127.0.0.1:1/a' },
      path,
      seconds: 30,
      audio: false,
      maxBytes: 5,
    });
    expect(args.join(' ')).toContain(
      '-protocol_whitelist rtsp,rtp,tcp -i rtsp://127.0.0.1:1/a -t 30 -map 0:v:0 -an -c copy',
    );
    expect(args.at(-1)).toBe(path);
    expect(args).not.toContain('-y');
  });
});

describe('an HTTP source', () => {
  test('is copied, with the fragment in its URL', async () => {
    const asked: string[] = [];
    const port = await http((request, response) => {
      asked.push(`${request.headers.authorization} ${request.url}`);
      response.end('a video');
    });
    const { outcome, phases } = await fetchFrom(`http://me:se%40cret@127.0.0.1:${port}/{channel}/{start}?s={seconds}`);
    expect(outcome).toEqual({
      ok: true,
      value: {
        bytes: 7,
        durationMs: 7,
        videoCodec: 'h264',
        audioCodec: 'aac',
        frames: 7,
        packetsLost: 0,
        packetsReordered: 0,
      },
    });
    expect(phases).toEqual(['requested', 'downloading', 'processing']);
    expect(readFileSync(path, 'utf8')).toBe('a video');
    expect(asked).toEqual([`Basic ${btoa('me:se@cret')} /2/20260115T120000Z?s=30`]);
    // Nothing of the source is on ffmpeg's command line.
    expect(readFileSync(`${path}.args`, 'utf8')).not.toMatch(/secret|127\.0\.0\.1/);
  });

  test.each([
    [404, 'no-recording'],
    [401, 'refused'],
    [503, 'busy'],
    [500, 'source-failed'],
    [302, 'source-failed'],
  ])('that answers %d is %s, and is not followed elsewhere', async (status, reason) => {
    let elsewhere = 0;
    const other = await http((_, response) => {
      elsewhere += 1;
      response.end('secret');
    });
    const port = await http((_, response) =>
      response.writeHead(status, { location: `http://127.0.0.1:${other}/` }).end('moved'),
    );
    expect(failure((await fetchFrom(`http://127.0.0.1:${port}/{start}`)).outcome)).toBe(reason);
    expect(elsewhere).toBe(0);
  });

  test('that is not there is unreachable; one that plays nonsense is reported as such', async () => {
    const gone = await http(() => {});
    servers.splice(0).forEach((server) => {
      server.close();
    });
    expect(failure((await fetchFrom(`http://127.0.0.1:${gone}/{start}`)).outcome)).toBe('unreachable');
    const port = await http((_, response) => response.end('fail pipe:0: Invalid data found when processing input'));
    expect(failure((await fetchFrom(`http://127.0.0.1:${port}/{start}`)).outcome)).toBe('bad-stream');
    const codec = await http((_, response) => response.end('fail Could not find tag for codec pcm_alaw in stream'));
    expect(failure((await fetchFrom(`http://127.0.0.1:${codec}/{start}`)).outcome)).toBe('unsupported-codec');
  });

  test('that breaks off, falls silent, or is not wanted any more is given up', async () => {
    const cut = await http((_, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('half');
      setTimeout(() => response.destroy(), 50);
    });
    expect(failure((await fetchFrom(`http://127.0.0.1:${cut}/{start}`)).outcome)).toBe('connection-lost');
    rmSync(path, { force: true });
    const silent = await http((_, response) => response.end('hang'));
    expect(failure((await fetchFrom(`http://127.0.0.1:${silent}/{start}`, { stallMs: 2000 })).outcome)).toBe('stalled');
    const abort = new AbortController();
    const fetching = fetchFrom(`http://127.0.0.1:${silent}/{start}`, { signal: abort.signal });
    abort.abort();
    expect(failure((await fetching).outcome)).toBe('aborted');
  });

  test('that is larger than there is space for is stopped', async () => {
    const port = await http((_, response) => response.end('a'.repeat(1000)));
    expect(failure((await fetchFrom(`http://127.0.0.1:${port}/{start}`, { maxBytes: 999 })).outcome)).toBe('too-large');
  });

  test('without ffmpeg is reported so', async () => {
    const port = await http((_, response) => response.end('a video'));
    const { outcome } = await fetchFrom(`http://127.0.0.1:${port}/{start}`, { ffmpeg: join(folder, 'none') });
    expect(outcome).toMatchObject({ ok: false, reason: 'unreachable', detail: 'ffmpeg is not installed' });
  });
});

describe('an RTSP source', () => {
  test('is read through a port of this machine, at the address that was checked', async () => {
    const received: string[] = [];
    const port = await rtsp('RTSP/1.0 200 OK\r\n\r\npictures', received);
    const lookup: Lookup = async (name) => (name === 'nvr.test' ? [{ address: '127.0.0.1', family: 4 }] : []);
    const { outcome, phases } = await fetchFrom(`rtsp://nvr.test:${port}/{channel}01?from={start}`, { lookup });
    expect(outcome).toMatchObject({ ok: true, value: { videoCodec: 'h264' } });
    expect(phases).toEqual(['requested', 'downloading', 'processing']);
    expect(received[0]).toContain('DESCRIBE /201?from=20260115T120000Z');
    const [, reported] = /"(rtsp:[^"]+)"/.exec(readFileSync(`${path}.args`, 'utf8')) ?? [];
    expect(new URL(reported ?? '').hostname).toBe('127.0.0.1');
    expect(new URL(reported ?? '').port).not.toBe(String(port));
  });

  test('that answers a redirect is not followed', async () => {
    for (const answer of ['RTSP/1.0 302 Moved\r\nLocation: rtsp://10.0.0.1/\r\n\r\n', 'xRTSP/1.0 301 Moved\r\n\r\n']) {
      const port = await rtsp(answer);
      const { outcome } = await fetchFrom(`rtsp://127.0.0.1:${port}/{start}`);
      expect(outcome).toMatchObject({
        ok: false,
        reason: 'source-failed',
        detail: expect.stringContaining('redirect'),
      });
      rmSync(path, { force: true });
    }
  });

  test('that is not there is unreachable', async () => {
    const port = await rtsp('');
    servers.splice(0).forEach((server) => {
      server.close();
    });
    expect(failure((await fetchFrom(`rtsp://127.0.0.1:${port}/{start}`)).outcome)).toBe('unreachable');
  });
});

describe('an address inside the own network', () => {
  test('is not reached unless that is allowed, by whatever name', async () => {
    let asked = 0;
    const port = await http((_, response) => {
      asked += 1;
      response.end('secret');
    });
    const inside: Lookup = async () => [{ address: '127.0.0.1', family: 4 }];
    const both: Lookup = async () => [
      { address: '8.8.8.8', family: 4 },
      { address: 'fd00::1', family: 6 },
    ];
    for (const [host, lookup] of [
      ['127.0.0.1', inside],
      ['[::1]', inside],
      ['[::ffff:127.0.0.1]', inside],
      ['2130706433', inside],
      ['0x7f.1', inside],
      ['localhost', inside],
      ['rebinding.example.net', both],
      ['169.254.169.254', inside],
    ] as const)
      for (const scheme of ['http', 'https', 'rtsp', 'rtsps']) {
        const { outcome } = await fetchFrom(`${scheme}://${host}:${port}/{start}`, { allowPrivate: false, lookup });
        expect(failure(outcome), `${scheme} ${host}`).toBe('address-not-allowed');
      }
    expect(asked).toBe(0);
    expect(
      failure(
        (await fetchFrom(`http://nowhere:${port}/{start}`, { allowPrivate: false, lookup: async () => [] })).outcome,
      ),
    ).toBe('unreachable');
  });
});

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
describe.skipIf(!hasFfmpeg)('the ffmpeg of this machine', () => {
  test('copies a recording as it is', async () => {
    const recorded = join(folder, 'recorded.ts');
    const made = spawnSync('ffmpeg', [
      ...['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc=size=160x96:rate=25:duration=3'],
      ...['-c:v', 'libx264', '-f', 'mpegts', recorded],
    ]);
    expect(made.status, made.stderr.toString()).toBe(0);
    const port = await http((_, response) => response.end(readFileSync(recorded)));
    const { outcome } = await fetchFrom(`http://127.0.0.1:${port}/{start}`, { ffmpeg: 'ffmpeg' });
    expect(outcome).toMatchObject({ ok: true, value: { videoCodec: 'h264', audioCodec: null, frames: 75 } });
    expect(readFileSync(path).subarray(4, 8).toString()).toBe('ftyp');
  });
});

import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  counterAt,
  PICTURE_MS,
  PlainH264Decoder,
  readCounter,
  recordedFrames,
  startVideoTerminal,
  unitsOfMp4Packet,
  type VideoTerminal,
} from '@outrider/simulator';
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { example, ROOT } from './readme.fixture.ts';
import { LiveRecorder, type RunningService, startService } from './service.fixture.ts';

const PHONE = '13800000007';
const OVMS = '/service/ovms/api';
const WAIT = { timeout: 100_000, interval: 100 };

interface Task {
  id: string;
  profileId: string;
  status: string;
  reason: string | null;
  attempts: number;
  file: { bytes: number; durationSeconds: number; frames: number; videoCodec: string } | null;
  start: string;
  end: string;
  history: { status: string }[];
}

const hasFfprobe = spawnSync('ffprobe', ['-version']).status === 0;
let folder: string;
let service: RunningService | null = null;
const terminals: VideoTerminal[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-video-'));
});
afterEach(async () => {
  await service?.kill();
  service = null;
  for (const terminal of terminals.splice(0)) await terminal.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What an H.264 picture is made of, but for what an MP4 keeps elsewhere: parameter sets and delimiters. */
const KEPT_ELSEWHERE: ReadonlySet<number> = new Set([7, 8, 9]);
const isKept = (unit: Uint8Array) => !KEPT_ELSEWHERE.has((unit[0] ?? 0) & 0x1f);

function unitsOfByteStream(data: Buffer): Buffer[] {
  const units: Buffer[] = [];
  let from = -1;
  for (let at = 0; at + 2 < data.length; at++) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue;
    if (from >= 0) units.push(data.subarray(from, data[at - 1] === 0 ? at - 1 : at));
    from = at + 3;
  }
  if (from >= 0) units.push(data.subarray(from));
  return units.filter(isKept);
}

/**
 * Reads a file with a reader that had no part in its writing, and holds its pictures against those that were recorded.
 */
async function holdAgainstRecording(path: string, { start, end }: Pick<Task, 'start' | 'end'>): Promise<void> {
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error('the file has no picture');
  expect(await track.getCodec()).toBe('avc');
  const wanted = [...recordedFrames(1, Date.parse(start), Date.parse(end))].filter(({ kind }) => kind !== 'audio');
  const decoder = new PlainH264Decoder();
  let nth = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const frame = wanted[nth];
    if (frame === undefined) throw new Error(`there are more than ${wanted.length} pictures`);
    const units = unitsOfMp4Packet(packet.data);
    const kept = Buffer.concat(units.filter(isKept));
    expect(kept.equals(Buffer.concat(unitsOfByteStream(frame.data)))).toBe(true);
    expect(packet.type).toBe(frame.kind === 'key' ? 'key' : 'delta');
    // Decoded, the picture shows when it was taken.
    const picture = decoder.decode(units);
    expect(readCounter(picture?.luma ?? new Uint8Array())).toBe(counterAt(frame.timestampMs));
    nth += 1;
  }
  expect(nth).toBe(wanted.length);
  const seconds = (Date.parse(end) - Date.parse(start)) / 1000;
  expect(Math.abs((await track.computeDuration()) - seconds)).toBeLessThanOrEqual(1.1);
  expect(await input.getPrimaryAudioTrack()).not.toBeNull();
  if (!hasFfprobe) return;
  const asked = ['-v', 'error', '-count_frames', '-select_streams', 'v', '-show_streams', '-of', 'json', path];
  const probed = spawnSync('ffprobe', asked);
  expect(probed.stderr.toString()).toBe('');
  expect(JSON.parse(probed.stdout.toString()).streams).toMatchObject([
    { codec_name: 'h264', nb_read_frames: String(wanted.length), avg_frame_rate: `${1000 / PICTURE_MS}/1` },
  ]);
}

/** A vehicle with a video profile, and a terminal that plays at the given speed. */
async function fit(running: RunningService, options: Partial<Parameters<typeof startVideoTerminal>[0]> = {}) {
  const vehicle = await running.call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Bus 1', terminalId: PHONE });
  const profile = await running.call<{ id: string }>('POST', `${OVMS}/profiles`, { vehicleId: vehicle.id });
  const terminal = startVideoTerminal({ host: '127.0.0.1', port: running.ports.jt808, phone: PHONE, ...options });
  terminals.push(terminal);
  return { profileId: profile.id, terminal };
}

async function ask(running: RunningService, profileId: string, seconds: number, agoSeconds = 120): Promise<Task> {
  const startMs = Math.floor(Date.now() / 1000 - agoSeconds) * 1000;
  return running.call<Task>('POST', `${OVMS}/tasks`, {
    profileId,
    channel: 1,
    start: new Date(startMs).toISOString(),
    end: new Date(startMs + seconds * 1000).toISOString(),
  });
}

async function until(running: RunningService, id: string, ...states: string[]): Promise<Task> {
  let task: Task | null = null;
  await vi.waitFor(async () => {
    task = await running.call<Task>('GET', `${OVMS}/tasks/${id}`);
    expect(states, JSON.stringify(task)).toContain(task.status);
  }, WAIT);
  return task as unknown as Task;
}

async function fetchFile({ ports, jwt }: RunningService, id: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${ports.http}${OVMS}/tasks/file/${id}`, {
    headers: { Authorization: `JWT ${jwt}`, ...headers },
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

test('the commands of the guide, from the login to a file that plays, work as pasted', {
  timeout: 120_000,
}, async () => {
  const [, password = ''] = /ADMIN_PASSWORD='([^']*)'/.exec(example('start')) ?? [];
  service = await startService(join(folder, 'data'), undefined, { ADMIN_PASSWORD: password });
  const [script = '', ...options] = example('video-terminal')
    .trim()
    .replace('npm run ', '')
    .replace(' --', '')
    .split(' ');
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [, ...command] = (scripts[script] ?? '').split(' ');
  const terminal = spawn(process.execPath, [...command, ...options, '--port', String(service.ports.jt808)], {
    cwd: ROOT,
    stdio: 'ignore',
  });
  try {
    const flow = [
      'set -euo pipefail',
      example('login').replace('http://localhost:8080', `http://127.0.0.1:${service.ports.http}`),
      example('video-profile'),
      example('video-task').replaceAll('road.mp4', join(folder, 'road.mp4')),
      `curl -s "$BASE${OVMS}/tasks/$TASK" -H "Authorization: JWT $JWT"; echo`,
      `curl -s "$BASE${OVMS}/profiles?terminalId=${PHONE}" -H "Authorization: JWT $JWT"`,
    ].join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', flow], { cwd: ROOT, timeout: 100_000 });
    const [asked = '', found = ''] = stdout.trim().split('\n').slice(-2);
    const task = JSON.parse(asked) as Task;
    expect(task.history.at(-1)?.status).toBe('done');
    expect(task.file).toMatchObject({ videoCodec: 'h264', bytes: readFileSync(join(folder, 'road.mp4')).length });
    await holdAgainstRecording(join(folder, 'road.mp4'), task);
    expect(JSON.parse(found).items).toMatchObject([{ id: task.profileId, online: true }]);
  } finally {
    terminal.kill('SIGKILL');
  }
});

test('a task waits for its terminal, its progress is published, and the file is served in ranges', {
  timeout: 120_000,
}, async () => {
  service = await startService(join(folder, 'data'));
  const { profileId, terminal } = await fit(service, { online: false });
  const live = new LiveRecorder();
  await live.connect(service);
  const task = await ask(service, profileId, 5);
  expect(await until(service, task.id, 'waiting')).toMatchObject({ reason: 'terminal-offline', attempts: 0 });
  terminal.connect();
  const done = await until(service, task.id, 'done');
  expect(done.history.map(({ status }) => status)).toEqual([
    ...['new', 'waiting', 'requested', 'downloading', 'processing', 'done'],
  ]);
  await vi.waitFor(() => expect(live.of('video-task').at(-1)).toMatchObject({ id: task.id, status: 'done' }), WAIT);
  live.close();
  const whole = await fetchFile(service, task.id);
  expect(whole.status).toBe(200);
  expect(whole.headers.get('content-type')).toBe('video/mp4');
  expect(whole.headers.get('content-length')).toBe(String(done.file?.bytes));
  expect(whole.bytes).toHaveLength(done.file?.bytes ?? -1);
  const part = await fetchFile(service, task.id, { range: 'bytes=100-199' });
  expect(part).toMatchObject({ status: 206 });
  expect(part.bytes.equals(whole.bytes.subarray(100, 200))).toBe(true);
  const etag = whole.headers.get('etag') ?? '';
  expect((await fetchFile(service, task.id, { 'if-none-match': etag })).status).toBe(304);
  const head = await fetch(`http://127.0.0.1:${service.ports.http}${OVMS}/tasks/file/${task.id}`, {
    method: 'HEAD',
    headers: { Authorization: `JWT ${service.jwt}` },
  });
  expect(head.headers.get('content-length')).toBe(String(whole.bytes.length));
  // A recording that does not exist is reported as such, once.
  const none = await ask(service, profileId, 5, 30 * 86_400);
  expect(await until(service, none.id, 'failed')).toMatchObject({ reason: 'no-recording', attempts: 1 });
});

test.each(['waiting', 'requested', 'downloading', 'done'])(
  'killed while a task is %s, the service ends it after the next start: one whole file',
  { timeout: 180_000 },
  async (state) => {
    const data = join(folder, 'data');
    service = await startService(data);
    // As slow as it needs to be caught in the act, once.
    const faults = state === 'requested' ? { mute: true } : {};
    const slow = state === 'downloading' ? { speed: 2 } : {};
    const { profileId, terminal } = await fit(service, { online: state !== 'waiting', faults, ...slow });
    const task = await ask(service, profileId, 8);
    // A terminal that does not answer gets no command to play: the task keeps its state.
    const reached = state === 'requested' ? ['new', 'requested', 'waiting'] : [state];
    const before = await until(service, task.id, ...reached);
    const { ports } = service;
    await service.kill();
    // One that stays mute would be asked in place of the one that answers.
    if (state === 'requested') await terminal.stop();
    service = await startService(data, ports);
    if (state === 'requested')
      terminals.push(startVideoTerminal({ host: '127.0.0.1', port: ports.jt808, phone: PHONE }));
    else terminal.connect();
    const done = await until(service, task.id, 'done');
    expect(done.history.slice(0, before.history.length)).toEqual(before.history);
    expect(done.history.filter(({ status }) => status === 'done')).toHaveLength(1);
    const { bytes } = await fetchFile(service, task.id);
    expect(bytes).toHaveLength(done.file?.bytes ?? -1);
    const stored = readdirSync(join(data, 'video')).filter((name) => !name.startsWith('.'));
    expect(stored).toEqual([`${task.id}.mp4`]);
    const path = join(data, 'video', `${task.id}.mp4`);
    expect(sha256(readFileSync(path))).toBe(sha256(bytes));
    await holdAgainstRecording(path, done);
    await vi.waitFor(() => expect(readdirSync(join(data, 'video-spool'))).toEqual([]), WAIT);
  },
);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

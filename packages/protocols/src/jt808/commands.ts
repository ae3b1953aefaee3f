import type { MediaCommand, RecordedMedia, StoredRecording, VideoStorage, VideoStream } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { readTime, TIME_BYTES, timeBytes } from './bcd.ts';
import { MESSAGE } from './message-ids.ts';

const MEDIA: readonly RecordedMedia[] = ['video-and-audio', 'audio', 'video'];
const STREAMS: readonly VideoStream[] = ['any', 'main', 'sub'];
const STORAGES: readonly VideoStorage[] = ['any', 'main', 'backup'];
const ACTIONS = { 'go-on': 0, pause: 1, end: 2, seek: 5 } as const;
/** Playback mode and speed factor of the request for playback: forward at normal speed. */
const NORMAL_PLAYBACK = 0;
const NO_FACTOR = 0;
const MAX_HOST_BYTES = 255;

/** Channel, start, end, alarms, media, stream, storage, size. */
const RECORDING_BYTES = 1 + 2 * TIME_BYTES + 8 + 1 + 1 + 1 + 4;

/**
 * Encodes a command as a message of JT/T 1078 (2016): id and body.
 *
 * @returns null where it cannot be encoded: a time before 2000 or after 2099, too long an address, numbers out of range
 */
export function encodeCommand(command: MediaCommand): { id: number; body: Buffer } | null {
  const out = new ByteWriter();
  if (!isByte(command.channel)) return null;
  switch (command.type) {
    case 'list-recordings': {
      const period = periodOf(command);
      if (period === null) return null;
      out.u8(command.channel).append(period).u64be(0);
      out.u8(MEDIA.indexOf(command.media)).u8(STREAMS.indexOf(command.stream)).u8(STORAGES.indexOf('any'));
      return { id: MESSAGE.listRecordings, body: out.toBuffer() };
    }
    case 'play-recording': {
      const { server } = command;
      const host = Buffer.from(server.host, 'latin1');
      const period = periodOf(command);
      if (period === null || host.length === 0 || host.length > MAX_HOST_BYTES) return null;
      if (!isPort(server.tcpPort) || !isPort(server.udpPort)) return null;
      out.u8(host.length).append(host).u16be(server.tcpPort).u16be(server.udpPort).u8(command.channel);
      out.u8(MEDIA.indexOf(command.media)).u8(STREAMS.indexOf(command.stream)).u8(STORAGES.indexOf('any'));
      out.u8(NORMAL_PLAYBACK).u8(NO_FACTOR).append(period);
      return { id: MESSAGE.playRecording, body: out.toBuffer() };
    }
    case 'control-playback': {
      const seekTo = command.action === 'seek' ? timeOrNull(command.seekToMs) : timeBytes(null);
      if (seekTo === null) return null;
      out.u8(command.channel).u8(ACTIONS[command.action]).u8(NO_FACTOR).append(seekTo);
      return { id: MESSAGE.controlPlayback, body: out.toBuffer() };
    }
  }
}

/**
 * Reads a command as a terminal does.
 *
 * @returns null where the message is no command that this codec knows
 */
export function decodeCommand(id: number, body: Buffer): MediaCommand | null {
  if (id === MESSAGE.listRecordings) {
    if (body.length < 24) return null;
    const period = readPeriod(body, 1);
    const media = MEDIA[body[21] === 3 ? 0 : (body[21] as number)];
    const stream = STREAMS[body[22] as number];
    if (period === null || media === undefined || stream === undefined) return null;
    return { type: 'list-recordings', channel: body[0] as number, ...period, media, stream };
  }
  if (id === MESSAGE.playRecording) {
    const hostBytes = body[0] ?? 0;
    const at = 1 + hostBytes;
    if (body.length < at + 22) return null;
    const period = readPeriod(body, at + 10);
    const media = MEDIA[body[at + 5] === 3 ? 0 : (body[at + 5] as number)];
    const stream = STREAMS[body[at + 6] as number];
    if (period === null || media === undefined || stream === undefined) return null;
    return {
      type: 'play-recording',
      server: {
        host: body.toString('latin1', 1, at),
        tcpPort: body.readUInt16BE(at),
        udpPort: body.readUInt16BE(at + 2),
      },
      channel: body[at + 4] as number,
      ...period,
      media,
      stream,
    };
  }
  if (id === MESSAGE.controlPlayback) {
    if (body.length < 9) return null;
    const action = (Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).find((name) => ACTIONS[name] === body[1]);
    if (action === undefined) return null;
    const seekToMs = action === 'seek' ? readTime(body, 3) : null;
    return { type: 'control-playback', channel: body[0] as number, action, seekToMs };
  }
  return null;
}

/**
 * Reads a list of recordings (0x1205).
 *
 * @returns the serial of the message that it answers, and the recordings with valid times; null where it is cut off
 */
export function readRecordings(body: Buffer): { answers: number; recordings: StoredRecording[] } | null {
  if (body.length < 6) return null;
  const count = body.readUInt32BE(2);
  if (count * RECORDING_BYTES > body.length - 6) return null;
  const recordings: StoredRecording[] = [];
  for (let i = 0; i < count; i++) {
    const at = 6 + i * RECORDING_BYTES;
    const period = readPeriod(body, at + 1);
    if (period === null) continue;
    recordings.push({
      channel: body[at] as number,
      ...period,
      alarmFlags: body.toString('hex', at + 13, at + 21),
      media: MEDIA[body[at + 21] as number] ?? 'video-and-audio',
      stream: STREAMS[body[at + 22] as number] ?? 'any',
      storage: STORAGES[body[at + 23] as number] ?? 'any',
      sizeBytes: body.readUInt32BE(at + 24),
    });
  }
  return { answers: body.readUInt16BE(0), recordings };
}

/** Encodes a list of recordings: the terminal's answer to a request by {@link encodeCommand}. */
export function encodeRecordings(answers: number, recordings: readonly StoredRecording[]): Buffer {
  const out = new ByteWriter().u16be(answers).u32be(recordings.length);
  for (const recording of recordings) {
    out.u8(recording.channel).append(timeBytes(recording.startMs)).append(timeBytes(recording.endMs));
    out.append(Buffer.from(recording.alarmFlags.padStart(16, '0'), 'hex'));
    out.u8(MEDIA.indexOf(recording.media)).u8(STREAMS.indexOf(recording.stream));
    out.u8(STORAGES.indexOf(recording.storage)).u32be(recording.sizeBytes);
  }
  return out.toBuffer();
}

function periodOf({ startMs, endMs }: { startMs: number; endMs: number }): Buffer | null {
  const start = timeOrNull(startMs);
  const end = timeOrNull(endMs);
  return start === null || end === null ? null : Buffer.concat([start, end]);
}

function readPeriod(bytes: Buffer, at: number): { startMs: number; endMs: number } | null {
  const startMs = readTime(bytes, at);
  const endMs = readTime(bytes, at + TIME_BYTES);
  return startMs === null || endMs === null ? null : { startMs, endMs };
}

function timeOrNull(timeMs: number | null): Buffer | null {
  try {
    return timeMs === null ? null : timeBytes(timeMs);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function isByte(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 0xff;
}

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 0xffff;
}

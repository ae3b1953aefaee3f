import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { DriverFailure } from '../driver.ts';

/** Input that ffmpeg copies: a URL on this machine, or bytes. */
export type FfmpegInput = { url: string } | { body: Readable };

export interface FfmpegJob {
  /** The program, as found in the path. */
  program: string;
  input: FfmpegInput;
  /** Output of ffmpeg; does not exist yet. */
  path: string;
  seconds: number;
  audio: boolean;
  maxBytes: number;
  /** Without progress for this long, ffmpeg is killed. */
  stallMs: number;
  signal: AbortSignal;
  onProgress(progress: { bytes: number; mediaMs: number; frames: number; ended: boolean }): void;
}

export type FfmpegOutcome =
  | { ok: true; frames: number; mediaMs: number; videoCodec: string; audioCodec: string | null }
  | { ok: false; reason: DriverFailure; detail: string };

/** Only the end of ffmpeg's output is kept, up to this size. */
const MAX_SAID = 32 * 1024;

/**
 * The arguments of ffmpeg: copy the first video stream, and the first audio stream if wanted, into an MP4 whose index
 * comes first. ffmpeg may open its input only, and nothing that the stream refers to.
 */
export function ffmpegArguments(job: Pick<FfmpegJob, 'input' | 'path' | 'seconds' | 'audio' | 'maxBytes'>): string[] {
  const { input, path, seconds, audio, maxBytes } = job;
  const from =
    'url' in input
      ? ['-rtsp_transport', 'tcp', '-protocol_whitelist', 'rtsp,rtp,tcp', '-i', input.url]
      : ['-protocol_whitelist', 'pipe', '-i', 'pipe:0'];
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'info', '-progress', 'pipe:1', '-n'],
    ...from,
    ...['-t', String(seconds), '-map', '0:v:0', ...(audio ? ['-map', '0:a:0?'] : ['-an'])],
    // One byte more than allowed: a file of that size is too large rather than complete.
    ...['-c', 'copy', '-movflags', '+faststart', '-fs', String(maxBytes + 1), '-f', 'mp4', path],
  ];
}

/** Runs ffmpeg, without a shell, and waits for its end. */
export function runFfmpeg(job: FfmpegJob): Promise<FfmpegOutcome> {
  const { input, signal, stallMs } = job;
  return new Promise((resolve) => {
    let said = '';
    let line = '';
    let end: { reason: DriverFailure; detail: string } | null = null;
    const last = { bytes: 0, mediaMs: 0, frames: 0, ended: false };
    const child = spawn(job.program, ffmpegArguments(job), {
      stdio: ['pipe', 'pipe', 'pipe'],
      // No secrets of this process, and no proxy.
      env: { PATH: process.env.PATH },
      windowsHide: true,
    });
    const stop = (reason: DriverFailure, detail: string) => {
      end ??= { reason, detail };
      child.kill('SIGKILL');
    };
    let stalled: Timer | null = null;
    const alive = () => {
      stalled?.cancel();
      stalled = SYSTEM_CLOCK.after(stallMs, () => stop('stalled', `no data for ${stallMs / 1000} s`));
    };
    const abort = () => stop('aborted', 'it was cancelled');
    alive();
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();

    child.stdin.on('error', () => {});
    if ('body' in input) {
      input.body.on('error', () => stop('connection-lost', 'the source closed the connection early'));
      input.body.on('data', alive);
      input.body.pipe(child.stdin);
    } else child.stdin.end();

    child.stderr.on('data', (bytes: Buffer) => {
      said = (said + bytes.toString('utf8')).slice(-MAX_SAID);
    });
    child.stdout.on('data', (bytes: Buffer) => {
      line = (line + bytes.toString('utf8')).slice(-MAX_SAID);
      const lines = line.split('\n');
      line = lines.pop() ?? '';
      const before = last.bytes + last.mediaMs;
      for (const each of lines) {
        const [name = '', value = ''] = each.trim().split('=');
        const number = Number(value);
        if (name === 'frame' && number >= 0) last.frames = number;
        if (name === 'total_size' && number >= 0) last.bytes = number;
        if (name === 'out_time_us' && number >= 0) last.mediaMs = number / 1000;
        if (name === 'progress' && value === 'end') last.ended = true;
      }
      if (last.bytes + last.mediaMs !== before || last.ended) alive();
      if (last.bytes > job.maxBytes) stop('too-large', 'it exceeds the available space');
      job.onProgress({ ...last });
    });
    child.on('error', (error) => {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      end ??= { reason: 'unreachable', detail: isMissing ? 'ffmpeg is not installed' : 'ffmpeg could not be started' };
    });
    child.on('close', (code) => {
      stalled?.cancel();
      signal.removeEventListener('abort', abort);
      if ('body' in input) input.body.destroy();
      const [, videoCodec] = /Stream #0:\d+.*: Video: (\w+)/.exec(said) ?? [];
      const [, audioCodec] = /Stream #0:\d+.*: Audio: (\w+)/.exec(said) ?? [];
      if (end) return resolve({ ok: false, ...end });
      if (code !== 0) return resolve({ ok: false, ...reasonOf(said) });
      if (last.frames === 0)
        return resolve({ ok: false, reason: 'no-recording', detail: 'the source sent no picture' });
      const { frames, mediaMs } = last;
      resolve({
        ok: true,
        frames,
        mediaMs,
        videoCodec: videoCodec ?? 'unknown',
        audioCodec: job.audio ? (audioCodec ?? null) : null,
      });
    });
  });
}

/** Interprets the last output of ffmpeg. */
function reasonOf(said: string): { reason: DriverFailure; detail: string } {
  if (/404 (Not Found|Stream Not Found)|454 Session/i.test(said))
    return { reason: 'no-recording', detail: 'the source has no such recording' };
  if (/40[13] (Unauthorized|Forbidden)/i.test(said))
    return { reason: 'refused', detail: 'the source rejected the login' };
  if (/453 Not Enough Bandwidth|503 Service Unavailable/i.test(said))
    return { reason: 'busy', detail: 'the source is busy with other clients' };
  if (/Could not find tag for codec|codec not currently supported in container/i.test(said))
    return { reason: 'unsupported-codec', detail: 'an MP4 file cannot contain the stream of the source' };
  if (/Invalid data found|moov atom not found/i.test(said))
    return { reason: 'bad-stream', detail: 'the source did not send a video' };
  return { reason: 'source-failed', detail: 'cannot read the source' };
}

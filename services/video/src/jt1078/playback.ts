import { createMp4Writer, FootageError, type FootageFacts, type Mp4Writer } from '@outrider/footage';
import type { StreamLosses, StreamMessage } from '@outrider/protocols';
import type { DriverOutcome } from '../driver.ts';
import type { MediaConnection } from './media-port.ts';
import { readChunk } from './stream-reader.ts';

/** A playback and how to receive it. */
export interface PlaybackPlan {
  path: string;
  audio: boolean;
  /** Total length of the terminal's recordings within the fragment. */
  expectedMs: number;
  /** Length of the requested interval. */
  wantedMs: number;
  maxBytes: number;
  stallTimeoutMs: number;
  signal: AbortSignal;
  onProgress(progress: { bytes: number; mediaMs: number }): void;
  /** Called when everything was received. */
  onComplete(): void;
}

/** Result of a playback: facts about the file, and the losses of the stream. */
export interface Played {
  facts: FootageFacts;
  losses: StreamLosses;
}

/** A complete stream may be shorter than expected by this much, because terminals cut between key frames. */
const TOLERANCE_MS = 2000;
/** Idle time after which a complete stream is finished, for terminals that keep the connection open. */
const QUIET_MS = 2000;
/** Overrun after which a terminal that keeps playing is stopped. */
const OVERRUN_MS = 15_000;

/** Reads a stream to its end into a file. Reading waits for writing, so a fast terminal does not fill the memory. */
export async function takePlayback(connection: MediaConnection, plan: PlaybackPlan): Promise<DriverOutcome<Played>> {
  const writer = createMp4Writer({ path: plan.path, audio: plan.audio });
  let outcome: DriverOutcome<Played> | null = null;
  try {
    outcome = (await takeFrames(connection, writer, plan)) ?? (await finish(connection, writer, plan));
    return outcome;
  } catch (error) {
    if (error instanceof FootageError) {
      const reason = error.fault === 'unsupported-codec' ? 'unsupported-codec' : 'bad-stream';
      return { ok: false, reason, detail: error.message };
    }
    throw error;
  } finally {
    if (!outcome?.ok) await writer.abandon();
  }
}

async function finish(
  { reassembler }: MediaConnection,
  writer: Mp4Writer,
  plan: PlaybackPlan,
): Promise<DriverOutcome<Played>> {
  plan.onComplete();
  const facts = await writer.finish();
  if (plan.signal.aborted) return aborted();
  return { ok: true, value: { facts, losses: reassembler.losses() } };
}

/** @returns null when everything was received, otherwise the failure */
async function takeFrames(
  { socket, reassembler, messages }: MediaConnection,
  writer: Mp4Writer,
  plan: PlaybackPlan,
): Promise<DriverOutcome<never> | null> {
  const { signal, expectedMs } = plan;
  const isWhole = () => writer.facts.durationMs + TOLERANCE_MS >= expectedMs;
  const hangUp = () => socket.destroy();
  signal.addEventListener('abort', hangUp, { once: true });
  try {
    let idleMs = 0;
    let reported: StreamMessage[] = messages;
    for (;;) {
      for (const message of reported) {
        if (signal.aborted) return aborted();
        if (message.type === 'refuse') return failed('bad-stream', message.detail);
        if (message.type !== 'frame') continue;
        await writer.add(message.frame);
        const { bytes, durationMs } = writer.facts;
        if (bytes > plan.maxBytes) return failed('too-large', `more than ${plan.maxBytes} bytes`);
        if (durationMs > plan.wantedMs + OVERRUN_MS) return null;
      }
      if (reported.length > 0) plan.onProgress({ bytes: writer.facts.bytes, mediaMs: writer.facts.durationMs });

      const quietMs = Math.min(QUIET_MS, plan.stallTimeoutMs);
      const chunk = await readChunk(socket, quietMs);
      if (signal.aborted) return aborted();
      if (typeof chunk !== 'string') {
        idleMs = 0;
        reported = reassembler.push(chunk);
        continue;
      }
      reported = [];
      if (chunk === 'idle') {
        idleMs += quietMs;
        if (!isWhole() && idleMs < plan.stallTimeoutMs) continue;
        if (!isWhole()) return failed('stalled', `no data for ${idleMs / 1000} s, at ${positionOf(writer, plan)}`);
      }
      for (const message of reassembler.end()) if (message.type === 'frame') await writer.add(message.frame);
      return isWhole()
        ? null
        : failed('connection-lost', `the stream ended at ${positionOf(writer, plan)}${lossOf(reassembler.losses())}`);
    }
  } finally {
    signal.removeEventListener('abort', hangUp);
    socket.destroy();
  }
}

function positionOf({ facts }: Mp4Writer, { expectedMs }: PlaybackPlan): string {
  return `${(facts.durationMs / 1000).toFixed(1)} of ${(expectedMs / 1000).toFixed(1)} s`;
}

function lossOf({ packetsLost, framesLost }: StreamLosses): string {
  return packetsLost + framesLost === 0 ? '' : `; ${packetsLost} packets and ${framesLost} frames were lost`;
}

function aborted(): DriverOutcome<never> {
  return { ok: false, reason: 'aborted', detail: 'it was given up' };
}

function failed(
  reason: 'bad-stream' | 'too-large' | 'stalled' | 'connection-lost',
  detail: string,
): DriverOutcome<never> {
  return { ok: false, reason, detail };
}

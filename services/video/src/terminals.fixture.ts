import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { VideoProtocol } from '@outrider/domain';
import type {
  DriverFailure,
  DriverOutcome,
  Fetched,
  FetchOptions,
  FetchPhase,
  Fragment,
  StoredRecording,
  VideoDriver,
  VideoSource,
} from './driver.ts';

const BYTES_PER_SECOND = 100_000;
const PART = 10_000;

/** What a fragment's file holds: bytes that say which fragment they are of. */
export function contentOf({ channel, startMs, endMs }: Pick<Fragment, 'channel' | 'startMs' | 'endMs'>): Buffer {
  const line = `channel ${channel} from ${startMs} to ${endMs}\n`;
  return Buffer.alloc(Math.round(((endMs - startMs) / 1000) * BYTES_PER_SECOND), line);
}

/** Terminals without a network: they play what is asked for, unless they are reported otherwise. */
export class FakeTerminals implements VideoDriver {
  readonly protocol: VideoProtocol = 'jt1078';
  /** Addresses that are away. */
  readonly away = new Set<string>();
  /** What the next fetches end with, one each. */
  readonly failures: Exclude<DriverFailure, 'aborted'>[] = [];
  /** What the next fetches end with before the terminal is reported to play, one each. */
  readonly earlyFailures: Exclude<DriverFailure, 'aborted'>[] = [];
  /** Throws out of the next fetches. */
  readonly bugs: Error[] = [];
  /** Fetches as they began, and as they ended. */
  readonly log: string[] = [];
  readonly fetches: Fragment[] = [];
  /** Fetches stop at this phase until {@link release}. */
  holdAt: FetchPhase | null = null;
  /** Between two parts of a file. */
  partMs = 0;
  atOnce = 0;
  mostAtOnce = 0;
  closed = false;
  readonly #listeners = new Set<(address: string, online: boolean) => void>();
  #held: (() => void)[] = [];

  connect(address: string): void {
    this.away.delete(address);
    for (const listener of this.#listeners) listener(address, true);
  }

  leave(address: string): void {
    this.away.add(address);
    for (const listener of this.#listeners) listener(address, false);
  }

  release(): void {
    this.holdAt = null;
    for (const go of this.#held.splice(0)) go();
  }

  async online({ address }: VideoSource): Promise<boolean> {
    return !this.away.has(address);
  }

  onPresence(listener: (address: string, online: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async recordings(): Promise<DriverOutcome<StoredRecording[]>> {
    return { ok: true, value: [] };
  }

  async fetch(fragment: Fragment, options: FetchOptions): Promise<DriverOutcome<Fetched>> {
    this.fetches.push(fragment);
    this.log.push(`begin ${fragment.taskId}`);
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    try {
      return await this.#fetch(fragment, options);
    } finally {
      this.atOnce -= 1;
      this.log.push(`end ${fragment.taskId}`);
    }
  }

  async #fetch(
    fragment: Fragment,
    { path, signal, onPhase, onProgress }: FetchOptions,
  ): Promise<DriverOutcome<Fetched>> {
    const aborted = { ok: false, reason: 'aborted', detail: 'it was told to stop' } as const;
    const pass = async (phase: FetchPhase) => {
      onPhase(phase);
      if (this.holdAt !== phase) return;
      await Promise.race([new Promise<void>((go) => this.#held.push(go)), once(signal, 'abort')]);
    };
    const early = this.earlyFailures.shift();
    if (early) return { ok: false, reason: early, detail: `it was ${early}` };
    await pass('requested');
    const bug = this.bugs.shift();
    if (bug) throw bug;
    const failure = this.failures.shift();
    if (failure) return { ok: false, reason: failure, detail: `it was ${failure}` };
    if (signal.aborted) return aborted;
    const content = contentOf(fragment);
    const file = createWriteStream(path, { flags: 'wx' });
    await once(file, 'open');
    for (let at = 0; at < content.length; at += PART) {
      if (signal.aborted) break;
      file.write(content.subarray(at, at + PART));
      if (at === 0) await pass('downloading');
      const bytes = Math.min(at + PART, content.length);
      onProgress({ bytes, mediaMs: ((fragment.endMs - fragment.startMs) * bytes) / content.length });
      if (this.partMs > 0) await delay(this.partMs);
    }
    if (!signal.aborted) await pass('processing');
    file.end();
    await once(file, 'close');
    if (signal.aborted) return aborted;
    const durationMs = fragment.endMs - fragment.startMs;
    const facts = {
      videoCodec: 'h264',
      audioCodec: null,
      frames: durationMs / 40,
      packetsLost: 0,
      packetsReordered: 0,
    };
    return { ok: true, value: { bytes: content.length, durationMs, ...facts } };
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

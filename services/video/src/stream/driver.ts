import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { fillStreamAddress } from '@outrider/domain';
import type { DriverOutcome, Fetched, FetchOptions, Fragment, StoredRecording, VideoDriver } from '../driver.ts';
import { checkHost, type Lookup } from './checked-host.ts';
import { type FfmpegInput, runFfmpeg } from './ffmpeg.ts';
import { openHttp } from './http-source.ts';
import { openRelay, type Relay } from './relay.ts';

export interface StreamDriverOptions {
  /** The ffmpeg program, as found in the path. */
  ffmpeg: string;
  /** Whether sources may be in the internal network. */
  allowPrivate: boolean;
  /** A source without new data for this long is given up. */
  stallMs: number;
  /** Resolves all addresses of a name. Default: the system's resolver. */
  lookup?: Lookup;
}

const RTSP_PORT = 554;
const RTSPS_PORT = 322;

/**
 * Fetches recordings by URL: an RTSP or HTTP source, copied into an MP4 by ffmpeg if installed. This process makes the
 * connections, to checked addresses only; ffmpeg connects to nothing but this process.
 */
export function createStreamDriver(options: StreamDriverOptions): VideoDriver {
  const { allowPrivate, lookup } = options;

  async function fetch(fragment: Fragment, { signal, ...rest }: FetchOptions): Promise<DriverOutcome<Fetched>> {
    const { source, channel, startMs, endMs, stream: quality } = fragment;
    const filled = fillStreamAddress(source.address, { channel, quality, startMs, endMs, timeZone: source.timeZone });
    if (!URL.canParse(filled)) return { ok: false, reason: 'unreachable', detail: 'the address is not a URL' };
    const url = new URL(filled);
    const host = await checkHost(url.hostname.replace(/^\[|\]$/g, ''), allowPrivate, lookup);
    if (!host.ok) return host;
    if (signal.aborted) return { ok: false, reason: 'aborted', detail: 'it was cancelled' };

    if (url.protocol === 'http:' || url.protocol === 'https:') {
      rest.onPhase('requested');
      const answer = await openHttp(url, host.address, signal);
      if (signal.aborted) return { ok: false, reason: 'aborted', detail: 'it was cancelled' };
      return answer.ok ? copy(fragment, { body: answer.body }, { signal, ...rest }, null) : answer;
    }
    if (url.protocol !== 'rtsp:' && url.protocol !== 'rtsps:')
      return { ok: false, reason: 'address-not-allowed', detail: `${url.protocol} is not fetched` };
    const isSecure = url.protocol === 'rtsps:';
    const port = url.port === '' ? (isSecure ? RTSPS_PORT : RTSP_PORT) : Number(url.port);
    const relay = await openRelay(host.address, port, isSecure ? url.hostname : null);
    try {
      rest.onPhase('requested');
      return await copy(fragment, { url: throughRelay(url, relay) }, { signal, ...rest }, relay);
    } finally {
      relay.close();
    }
  }

  async function copy(
    { startMs, endMs, audio }: Fragment,
    input: FfmpegInput | { body: Readable },
    { path, signal, maxBytes, onPhase, onProgress }: FetchOptions,
    relay: Relay | null,
  ): Promise<DriverOutcome<Fetched>> {
    const outcome = await runFfmpeg({
      program: options.ffmpeg,
      input,
      path,
      seconds: (endMs - startMs) / 1000,
      audio,
      maxBytes,
      stallMs: options.stallMs,
      signal,
      onProgress({ bytes, mediaMs, ended }) {
        if (bytes > 0 || mediaMs > 0) onPhase('downloading');
        if (ended) onPhase('processing');
        onProgress({ bytes, mediaMs });
      },
    });
    if (!outcome.ok) {
      if (outcome.reason === 'aborted' || relay === null) return outcome;
      if (relay.redirected)
        return { ok: false, reason: 'source-failed', detail: 'the source returned a redirect, which is not followed' };
      return relay.unreachable === null ? outcome : { ok: false, reason: 'unreachable', detail: relay.unreachable };
    }
    const { size: bytes } = await stat(path);
    if (bytes > maxBytes) return { ok: false, reason: 'too-large', detail: 'it exceeds the available space' };
    const { frames, mediaMs, videoCodec, audioCodec } = outcome;
    const durationMs = Math.round(mediaMs);
    return {
      ok: true,
      value: { bytes, durationMs, videoCodec, audioCodec, frames, packetsLost: 0, packetsReordered: 0 },
    };
  }

  return {
    protocol: 'stream',
    // Only known by trying.
    online: async () => true,
    onPresence: () => () => {},
    recordings: async (): Promise<DriverOutcome<StoredRecording[]>> => ({
      ok: false,
      reason: 'refused',
      detail: 'a URL source cannot list its recordings',
    }),
    fetch,
    close: async () => {},
  };
}

/** The URL with the same path, query and login, through the relay. */
function throughRelay(url: URL, relay: Relay): string {
  const local = new URL(url.href.replace(/^rtsps?:/i, 'rtsp:'));
  local.hostname = '127.0.0.1';
  local.port = String(relay.port);
  return local.href;
}

import {
  type CommandOutcome,
  SYSTEM_CLOCK,
  type TerminalAnswer,
  type TerminalCommand,
  type TerminalId,
  type VideoQuality,
} from '@outrider/domain';
import { type Hub, openTerminalCommands, type TerminalCommands } from '@outrider/hub';
import { Counter, type Logger, type Metrics } from '@outrider/runtime';
import type {
  DriverOutcome,
  Fetched,
  FetchOptions,
  Fragment,
  StoredRecording,
  VideoDriver,
  VideoSource,
} from '../driver.ts';
import { type MediaConnection, MediaPort, type TurnedAway } from './media-port.ts';
import { takePlayback } from './playback.ts';
import { fromTerminalMs, toTerminalMs } from './terminal-clock.ts';

export interface Jt1078DriverParts {
  hub: Hub;
  /** Host name or address of the media port for terminals. */
  mediaHost: string;
  /** 0 selects a free port. */
  mediaPort: number;
  /** The address that the media port listens on. */
  host: string;
  metrics?: Metrics;
  logger?: Logger;
  /** Timeout for a terminal's response to a command, and for its connection after one. */
  answerTimeoutMs: number;
  /** Timeout for a stream without data. */
  stallTimeoutMs: number;
}

export interface Jt1078Driver extends VideoDriver {
  /** The port that terminals send their streams to. */
  readonly mediaPort: number;
}

/** A recording as listed by the terminal, in Unix time. */
interface Listed extends StoredRecording {
  anyStream: boolean;
}

/** Timeout for the terminal's response to a stop command; nothing waits for it. */
const STOP_TIMEOUT_MS = 5000;

/**
 * Fetches recordings of terminals that speak JT/T 808 and 1078: queries the recordings, starts the playback and
 * receives the stream.
 */
export async function createJt1078Driver(parts: Jt1078DriverParts): Promise<Jt1078Driver> {
  const { hub, logger } = parts;
  const count = driverMetrics(parts.metrics);
  const commands = await openTerminalCommands(hub, {
    onError: (error) => logger?.warn({ err: error }, 'cannot publish commands to terminals'),
  });
  const onTurnedAway = (reason: TurnedAway, address: string) => {
    count.turnedAway(reason);
    logger?.debug({ reason, address }, 'media connection refused');
  };
  const media = await MediaPort.open(parts.host, parts.mediaPort, onTurnedAway, logger);
  return new Driver(parts, commands, media, count);
}

class Driver implements Jt1078Driver {
  readonly protocol = 'jt1078';
  readonly #parts: Jt1078DriverParts;
  readonly #commands: TerminalCommands;
  readonly #media: MediaPort;
  readonly #count: ReturnType<typeof driverMetrics>;

  constructor(
    parts: Jt1078DriverParts,
    commands: TerminalCommands,
    media: MediaPort,
    count: ReturnType<typeof driverMetrics>,
  ) {
    this.#parts = parts;
    this.#commands = commands;
    this.#media = media;
    this.#count = count;
  }

  get mediaPort(): number {
    return this.#media.port;
  }

  async online(source: VideoSource): Promise<boolean> {
    return this.#commands.isOnline(terminalOf(source));
  }

  onPresence(listener: (address: string, online: boolean) => void): () => void {
    return this.#commands.onPresence(listener);
  }

  async recordings(
    source: VideoSource,
    channel: number,
    startMs: number,
    endMs: number,
    signal: AbortSignal,
  ): Promise<DriverOutcome<StoredRecording[]>> {
    const listed = await this.#list(source, channel, startMs, endMs, true, signal);
    if (!listed.ok) return listed;
    return { ok: true, value: listed.value.map(({ anyStream: _, ...recording }) => recording) };
  }

  async fetch(fragment: Fragment, options: FetchOptions): Promise<DriverOutcome<Fetched>> {
    const { source, channel, startMs, endMs, audio } = fragment;
    const { signal } = options;
    const listed = await this.#list(source, channel, startMs, endMs, audio, signal);
    if (!listed.ok) return listed;
    const chosen = chooseStream(listed.value, fragment.stream);
    if (chosen.recordings.length === 0)
      return { ok: false, reason: 'no-recording', detail: `channel ${channel} has no recording of that time` };
    if (signal.aborted) return aborted();

    const terminalId = terminalOf(source);
    const expectation = this.#media.expect(terminalId, channel);
    let connection: MediaConnection | null = null;
    let requested = false;
    const noteRequested = () => {
      if (!requested) options.onPhase('requested');
      requested = true;
    };
    let playing = false;
    try {
      const reported = this.#send(
        source,
        {
          type: 'play-recording',
          server: { host: this.#parts.mediaHost, tcpPort: this.#media.port, udpPort: 0 },
          channel,
          startMs: toTerminalMs(startMs, source.timeZone),
          endMs: toTerminalMs(endMs, source.timeZone),
          media: audio ? 'video-and-audio' : 'video',
          stream: chosen.stream,
        },
        signal,
      );
      // A terminal may connect before its response, after it, or without any.
      const first = await Promise.race([reported, expectation.connected.then(() => 'connected' as const)]);
      if (first !== 'connected') {
        const refused = refusalOf(first);
        if (refused !== null && refused.reason !== 'no-answer') return refused;
      }
      noteRequested();
      playing = true;
      connection = await within(expectation.connected, this.#parts.answerTimeoutMs, signal);
      if (signal.aborted) return aborted();
      if (connection === null)
        return { ok: false, reason: 'no-answer', detail: 'the terminal did not connect for the playback' };
      options.onPhase('downloading');

      const played = await takePlayback(connection, {
        path: options.path,
        audio,
        expectedMs: coveredMs(chosen.recordings, startMs, endMs),
        wantedMs: endMs - startMs,
        maxBytes: options.maxBytes,
        stallTimeoutMs: this.#parts.stallTimeoutMs,
        signal,
        onProgress: (progress) => options.onProgress(progress),
        onComplete: () => options.onPhase('processing'),
      });
      const losses = connection.reassembler.losses();
      this.#count.packets(losses);
      if (!played.ok) return played;
      const { facts } = played.value;
      this.#parts.logger?.debug({ taskId: fragment.taskId, ...facts, ...losses }, 'playback recorded');
      return {
        ok: true,
        value: {
          bytes: facts.bytes,
          durationMs: facts.durationMs,
          videoCodec: facts.videoCodec ?? 'unknown',
          audioCodec: facts.audioCodec,
          frames: facts.videoFrames,
          packetsLost: losses.packetsLost,
          packetsReordered: losses.packetsReordered,
        },
      };
    } finally {
      expectation.cancel();
      connection?.socket.destroy();
      if (playing) this.#stop(terminalId, channel);
    }
  }

  async close(): Promise<void> {
    await this.#media.close();
    await this.#commands.close();
  }

  async #list(
    source: VideoSource,
    channel: number,
    startMs: number,
    endMs: number,
    audio: boolean,
    signal: AbortSignal,
  ): Promise<DriverOutcome<Listed[]>> {
    const outcome = await this.#send(
      source,
      {
        type: 'list-recordings',
        channel,
        startMs: toTerminalMs(startMs, source.timeZone),
        endMs: toTerminalMs(endMs, source.timeZone),
        media: audio ? 'video-and-audio' : 'video',
        stream: 'any',
      },
      signal,
    );
    const refused = refusalOf(outcome);
    if (refused !== null) return refused;
    if (outcome.outcome !== 'answered' || outcome.answer.type !== 'recordings')
      return { ok: false, reason: 'no-answer', detail: 'the terminal acknowledged the query but sent no list' };
    const listed = outcome.answer.recordings
      .filter((recording) => recording.channel === channel && recording.media !== 'audio')
      .map((recording) => ({
        channel,
        startMs: fromTerminalMs(recording.startMs, source.timeZone),
        endMs: fromTerminalMs(recording.endMs, source.timeZone),
        stream: recording.stream === 'sub' ? ('sub' as const) : ('main' as const),
        anyStream: recording.stream === 'any',
        bytes: recording.sizeBytes === 0 ? null : recording.sizeBytes,
      }))
      .filter((recording) => recording.startMs < endMs && recording.endMs > startMs);
    return { ok: true, value: listed };
  }

  #send(source: VideoSource, command: TerminalCommand, signal: AbortSignal): Promise<CommandOutcome> {
    return this.#commands.send(terminalOf(source), command, { timeoutMs: this.#parts.answerTimeoutMs, signal });
  }

  /** Makes the terminal stop a playback, whatever its outcome. */
  #stop(terminalId: TerminalId, channel: number): void {
    const end: TerminalCommand = { type: 'control-playback', channel, action: 'end', seekToMs: null };
    void this.#commands.send(terminalId, end, { timeoutMs: STOP_TIMEOUT_MS });
  }
}

/** Profiles contain phone numbers, which are the terminal ids of the gateway. */
function terminalOf({ address }: VideoSource): TerminalId {
  return address as TerminalId;
}

/** The recordings of the wanted stream; if it has none, those of the other stream. */
function chooseStream(
  recordings: readonly Listed[],
  wanted: VideoQuality,
): { recordings: readonly Listed[]; stream: VideoQuality } {
  const fitting = recordings.filter((recording) => recording.anyStream || recording.stream === wanted);
  if (fitting.length > 0) return { recordings: fitting, stream: wanted };
  return { recordings, stream: wanted === 'main' ? 'sub' : 'main' };
}

/** Length of the part of an interval that is covered by recordings, which may overlap. */
function coveredMs(recordings: readonly StoredRecording[], startMs: number, endMs: number): number {
  let covered = 0;
  let reachedMs = startMs;
  for (const recording of recordings.toSorted((one, other) => one.startMs - other.startMs)) {
    const from = Math.max(reachedMs, recording.startMs);
    const to = Math.min(endMs, recording.endMs);
    covered += Math.max(0, to - from);
    reachedMs = Math.max(reachedMs, to);
  }
  return covered;
}

/** The failure of a command; null if the command may still succeed. */
function refusalOf(outcome: CommandOutcome): Extract<DriverOutcome<never>, { ok: false }> | null {
  switch (outcome.outcome) {
    case 'answered':
      return refusedBy(outcome.answer);
    case 'offline':
      return { ok: false, reason: 'terminal-offline', detail: 'the terminal is not connected' };
    case 'unanswered':
      return { ok: false, reason: 'no-answer', detail: 'the terminal did not answer in time' };
    case 'unsupported':
      return { ok: false, reason: 'refused', detail: 'the command cannot be sent to the terminal' };
    case 'overloaded':
      return { ok: false, reason: 'busy', detail: 'too many commands are in progress' };
    case 'aborted':
      return aborted();
  }
}

function refusedBy(answer: TerminalAnswer): Extract<DriverOutcome<never>, { ok: false }> | null {
  if (answer.type === 'recordings' || answer.result === 'done') return null;
  const words = {
    failed: 'the terminal reported a failure',
    wrong: 'the terminal reported an invalid message',
    unsupported: 'the terminal reported an unsupported message',
  };
  return { ok: false, reason: 'refused', detail: words[answer.result] };
}

function aborted(): Extract<DriverOutcome<never>, { ok: false }> {
  return { ok: false, reason: 'aborted', detail: 'it was given up' };
}

/** Null on timeout or abort. */
function within<T>(promise: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const giveUp = () => done(() => resolve(null));
    const timer = SYSTEM_CLOCK.after(timeoutMs, giveUp);
    const done = (settle: () => void) => {
      timer.cancel();
      signal.removeEventListener('abort', giveUp);
      settle();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    promise.then(
      (value) => done(() => resolve(value)),
      (error) => done(() => reject(error)),
    );
  });
}

function driverMetrics(registry: Metrics | undefined) {
  const registers = registry === undefined ? [] : [registry];
  const packets = new Counter({
    name: 'outrider_video_packets_total',
    help: 'Packets of video streams, by result: received, lost, or reordered',
    labelNames: ['fate'],
    registers,
  });
  const turnedAway = new Counter({
    name: 'outrider_video_connections_turned_away_total',
    help: 'Connections to the media port refused because no stream was expected from them, by reason',
    labelNames: ['reason'],
    registers,
  });
  return {
    packets(losses: { packets: number; packetsLost: number; packetsReordered: number }) {
      packets.labels('received').inc(losses.packets);
      packets.labels('lost').inc(losses.packetsLost);
      packets.labels('reordered').inc(losses.packetsReordered);
    },
    turnedAway: (reason: string) => turnedAway.labels(reason).inc(),
  };
}

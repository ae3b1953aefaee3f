import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type MediaCommand, type Position, type StoredRecording, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import {
  decodeCommand,
  encodeLocation,
  encodeRecordings,
  JT808_MESSAGE,
  JT808_RESULT,
  type Jt808Edition,
  type Jt808Message,
  Jt808TerminalSide,
  type StreamFrame,
  StreamWriter,
} from '@outrider/protocols';
import { type VideoFaults, withFaults } from './faults.ts';
import { recordedFrames } from './test-video.ts';

/** A time range, Unix milliseconds. */
export interface Recorded {
  startMs: number;
  endMs: number;
}

export interface VideoTerminalOptions {
  /** Address of the gateway for JT/T 808. */
  host: string;
  port: number;
  /** Phone number: decimal digits. */
  phone: string;
  /** Default 2019. */
  edition?: Jt808Edition;
  /** Default 1 and 2. */
  channels?: readonly number[];
  /** Stored time ranges, for every channel; default: the week before now. */
  recorded?: readonly Recorded[];
  /** Speed of a playback: 1 as recorded, 10 ten times as fast; default: as fast as the connection accepts it. */
  speed?: number;
  /** Default true. */
  sound?: boolean;
  /** Length of a phone number in the stream's packets in bytes; default: that of the edition. */
  phoneForm?: 6 | 10;
  /** Difference of the terminal's clock from the UTC+8 that JT/T 808 requires; default 0. */
  clockErrorMs?: number;
  faults?: VideoFaults;
  /** Default true; see {@link VideoTerminal.connect}. */
  online?: boolean;
  /** Delay between attempts; default 500 ms. */
  retryMs?: number;
  /** Default 20 s. */
  heartbeatMs?: number;
  /** Frames recorded by the cameras; default {@link recordedFrames}. */
  frames?: (channel: number, startMs: number, endMs: number) => Iterable<StreamFrame>;
}

export interface VideoTerminalStats {
  /** Connected, and authorized. */
  online: boolean;
  connections: number;
  /** Number of commands received, by type. */
  commands: Partial<Record<MediaCommand['type'], number>>;
  playbacks: number;
  /** Playbacks sent completely. */
  playedToEnd: number;
  packetsSent: number;
  /** The last refusal of the server or error of the network. */
  lastFailure: string | null;
}

/**
 * A terminal with cameras that uses real connections: JT/T 808 to the gateway, and JT/T 1078 to the address that a
 * playback request names.
 */
export interface VideoTerminal {
  stats(): VideoTerminalStats;
  /** Reports the vehicle's position; does nothing while off-line. */
  report(position: Position): void;
  /** Goes on-line and stays on-line. */
  connect(): void;
  /** Closes all connections, including media connections, and stays off-line. */
  disconnect(): void;
  stop(): Promise<void>;
}

interface Playback {
  socket: Socket;
  channel: number;
  paused: boolean;
  ended: boolean;
  /** Resumes the callers that wait for the playback to continue. */
  wake: () => void;
}

const RECORDED_MS = 7 * 24 * 3600 * 1000;
/** Terminals record in files of this length, and list each file. */
const FILE_MS = 5 * 60_000;
const BYTES_A_SECOND = 60_000;

/** Creates a terminal and connects it, unless configured otherwise. */
export function startVideoTerminal(options: VideoTerminalOptions): VideoTerminal {
  const terminal = new SimulatedVideoTerminal(options);
  if (options.online ?? true) terminal.connect();
  return terminal;
}

class SimulatedVideoTerminal implements VideoTerminal {
  readonly #options: VideoTerminalOptions;
  readonly #faults: VideoFaults;
  #side: Jt808TerminalSide;
  #socket: Socket | null = null;
  #playbacks = new Set<Playback>();
  #running = new Set<Promise<void>>();
  #wantsConnection = false;
  #authorized = false;
  /** Code issued at the first registration and presented from then on. */
  #code: string | null = null;
  #retry: Timer | null = null;
  #heartbeat: Timer | null = null;
  #stats: VideoTerminalStats = {
    online: false,
    connections: 0,
    commands: {},
    playbacks: 0,
    playedToEnd: 0,
    packetsSent: 0,
    lastFailure: null,
  };

  constructor(options: VideoTerminalOptions) {
    this.#options = options;
    this.#faults = options.faults ?? {};
    this.#side = this.#newSide();
  }

  stats(): VideoTerminalStats {
    return { ...this.#stats, commands: { ...this.#stats.commands }, online: this.#authorized };
  }

  report(position: Position): void {
    if (!this.#authorized) return;
    const fixTimeMs = position.fixTimeMs + (this.#options.clockErrorMs ?? 0);
    this.#socket?.write(this.#side.say(JT808_MESSAGE.location, encodeLocation({ ...position, fixTimeMs })).bytes);
  }

  connect(): void {
    this.#wantsConnection = true;
    if (this.#socket === null && this.#retry === null) this.#dial();
  }

  disconnect(): void {
    this.#wantsConnection = false;
    this.#retry?.cancel();
    this.#retry = null;
    this.#socket?.destroy();
    for (const playback of this.#playbacks) this.#end(playback);
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    const gone = socket && !socket.destroyed ? once(socket, 'close') : null;
    this.disconnect();
    await gone;
    await Promise.all(this.#running);
  }

  #newSide(): Jt808TerminalSide {
    return new Jt808TerminalSide(this.#options.phone, this.#options.edition ?? 2019);
  }

  #dial(): void {
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    this.#socket = socket;
    this.#side = this.#newSide();
    socket.on('connect', () => {
      this.#stats.connections++;
      socket.write(this.#code === null ? this.#side.register() : this.#side.authorize(this.#code));
    });
    socket.on('data', (chunk: Buffer) => {
      for (const message of this.#side.receive(chunk)) {
        if (typeof message === 'string') this.#stats.lastFailure = message;
        else this.#receive(message, socket);
      }
    });
    socket.on('error', (error) => {
      this.#stats.lastFailure = error.message;
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#disconnected());
  }

  #disconnected(): void {
    this.#socket = null;
    this.#authorized = false;
    this.#heartbeat?.cancel();
    this.#heartbeat = null;
    if (!this.#wantsConnection) return;
    this.#retry = SYSTEM_CLOCK.after(this.#options.retryMs ?? 500, () => {
      this.#retry = null;
      this.#dial();
    });
  }

  #receive(message: Jt808Message, socket: Socket): void {
    const { id, body } = message;
    if (id === JT808_MESSAGE.registered) {
      if (body[2] !== JT808_RESULT.done) {
        this.#stats.lastFailure = `the registration was answered ${body[2]}`;
        socket.destroy();
        return;
      }
      this.#code = body.toString('latin1', 3);
      socket.write(this.#side.authorize(this.#code));
    } else if (id === JT808_MESSAGE.serverAck) {
      if (body.readUInt16BE(2) !== JT808_MESSAGE.authorize) return;
      if (body[4] === JT808_RESULT.done) this.#welcome(socket);
      else {
        // The code was issued by another server, or is outdated.
        this.#code = null;
        socket.write(this.#side.register());
      }
    } else {
      const command = decodeCommand(id, body);
      if (command === null) socket.write(this.#side.acknowledge(message, JT808_RESULT.unsupported));
      else this.#obey(command, message, socket);
    }
  }

  #welcome(socket: Socket): void {
    this.#authorized = true;
    const everyMs = this.#options.heartbeatMs ?? 20_000;
    this.#heartbeat ??= SYSTEM_CLOCK.every(everyMs, () => void socket.write(this.#side.heartbeat()));
  }

  #obey(command: MediaCommand, message: Jt808Message, socket: Socket): void {
    const { commands } = this.#stats;
    commands[command.type] = (commands[command.type] ?? 0) + 1;
    if (this.#faults.mute) return;
    if (command.type === 'list-recordings') {
      const stored = this.#storedIn(command);
      socket.write(this.#side.say(JT808_MESSAGE.recordings, encodeRecordings(message.serial, stored)).bytes);
      return;
    }
    if (command.type === 'control-playback') {
      for (const playback of this.#playbacks) {
        if (playback.channel !== command.channel) continue;
        if (command.action === 'end') this.#end(playback);
        else playback.paused = command.action === 'pause';
        playback.wake();
      }
      socket.write(this.#side.acknowledge(message));
      return;
    }
    const stored = this.#storedIn(command);
    if (this.#faults.refusesPlayback || stored.length === 0) {
      socket.write(this.#side.acknowledge(message, JT808_RESULT.failed));
      return;
    }
    // The standard answers a playback with the list of the recordings played.
    socket.write(this.#side.say(JT808_MESSAGE.recordings, encodeRecordings(message.serial, stored)).bytes);
    const playing = this.#play(command, stored).finally(() => this.#running.delete(playing));
    this.#running.add(playing);
  }

  /** Stored files in the requested time range, by the terminal's clock. */
  #storedIn(wanted: { channel: number; startMs: number; endMs: number }): StoredRecording[] {
    const { channels = [1, 2], clockErrorMs = 0, sound = true } = this.#options;
    if (!channels.includes(wanted.channel)) return [];
    const nowMs = SYSTEM_CLOCK.now();
    const recorded = this.#options.recorded ?? [{ startMs: nowMs - RECORDED_MS, endMs: nowMs }];
    const files: StoredRecording[] = [];
    for (const { startMs, endMs } of recorded) {
      const from = Math.max(startMs + clockErrorMs, wanted.startMs);
      const to = Math.min(endMs + clockErrorMs, wanted.endMs);
      for (let at = from; at < to; at += FILE_MS) {
        const fileEndMs = Math.min(to, at + FILE_MS);
        files.push({
          channel: wanted.channel,
          startMs: at,
          endMs: fileEndMs,
          alarmFlags: '0'.repeat(16),
          media: sound ? 'video-and-audio' : 'video',
          stream: 'main',
          storage: 'main',
          sizeBytes: Math.round(((fileEndMs - at) / 1000) * BYTES_A_SECOND),
        });
      }
    }
    return files;
  }

  async #play(
    command: Extract<MediaCommand, { type: 'play-recording' }>,
    stored: readonly StoredRecording[],
  ): Promise<void> {
    const { server, channel } = command;
    const socket = connect({ host: server.host, port: server.tcpPort, noDelay: true });
    const playback: Playback = { socket, channel, paused: false, ended: false, wake: () => {} };
    const over = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', (error) => {
      this.#stats.lastFailure = error.message;
    });
    // The server sends nothing here; reading is needed to notice that it closes the connection.
    socket.resume();
    socket.on('close', () => {
      playback.ended = true;
      playback.wake();
    });
    this.#playbacks.add(playback);
    this.#stats.playbacks++;
    const faulty = this.#stats.playbacks <= (this.#faults.playbacks ?? Number.POSITIVE_INFINITY);
    try {
      await Promise.race([once(socket, 'connect'), over]).catch(() => {});
      if (playback.ended || socket.destroyed) return;
      const end = await this.#send(playback, command, stored, faulty ? this.#faults : {});
      if (end === 'cut') socket.resetAndDestroy();
      else if (end === 'stall' || (end === 'done' && this.#faults.keepsOpen)) await over;
      if (end === 'done') this.#stats.playedToEnd++;
    } finally {
      this.#playbacks.delete(playback);
      socket.destroySoon();
    }
  }

  async #send(
    playback: Playback,
    command: Extract<MediaCommand, { type: 'play-recording' }>,
    stored: readonly StoredRecording[],
    faults: VideoFaults,
  ): Promise<'done' | 'cut' | 'stall' | 'ended'> {
    const { phone, edition = 2019, phoneForm, speed, clockErrorMs = 0 } = this.#options;
    const frames = this.#options.frames ?? recordedFrames;
    const writer = new StreamWriter(phone, command.channel, { form: phoneForm ?? (edition === 2019 ? 10 : 6) });
    const withSound = command.media !== 'video' && (this.#options.sound ?? true);
    const beganMs = SYSTEM_CLOCK.steadyMs();
    let firstMs: number | null = null;
    let atMs = 0;
    function* packets(): Generator<Buffer> {
      for (const { startMs, endMs } of stored)
        for (const frame of frames(command.channel, startMs - clockErrorMs, endMs - clockErrorMs)) {
          if (frame.kind === 'audio' && !withSound) continue;
          firstMs ??= frame.timestampMs;
          atMs = frame.timestampMs;
          yield* writer.write(frame);
        }
    }
    const { socket } = playback;
    for (const sending of withFaults(packets(), faults)) {
      if (sending === 'cut' || sending === 'stall') return sending;
      const wait = speed === undefined ? 0 : (atMs - (firstMs ?? atMs)) / speed - (SYSTEM_CLOCK.steadyMs() - beganMs);
      if (wait > 0) await this.#waitOrWake(playback, wait);
      while (playback.paused && !playback.ended) await this.#waitOrWake(playback, 1000);
      if (playback.ended) return 'ended';
      this.#stats.packetsSent++;
      if (!socket.write(sending.send)) await this.#drained(playback);
      if (playback.ended) return 'ended';
    }
    return 'done';
  }

  #waitOrWake(playback: Playback, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = SYSTEM_CLOCK.after(waitMs, resolve);
      playback.wake = () => {
        timer.cancel();
        resolve();
      };
      if (playback.ended) playback.wake();
    });
  }

  #drained(playback: Playback): Promise<void> {
    return new Promise((resolve) => {
      const { socket } = playback;
      const done = () => {
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      };
      socket.once('drain', done);
      socket.once('close', done);
      if (socket.destroyed) done();
    });
  }

  #end(playback: Playback): void {
    playback.ended = true;
    playback.socket.destroySoon();
    playback.wake();
  }
}

import { connect, type Socket } from 'node:net';
import { createTeltonikaSimulator } from '@outrider/protocols';
import { WebSocket } from 'ws';
import { loadDriver, loadTerminalId } from '../drives.ts';
import { percentiles } from '../measure.ts';
import { awaitTask } from './child.ts';
import { type Round, recordRound, timed } from './round.ts';

/** Many terminals that report at a steady rate, and optionally a live client. */
export interface PacerTask {
  host: string;
  port: number;
  terminals: number;
  /** The number of the first of them. Default 0. */
  firstTerminal?: number;
  /** Positions of a packet: a terminal sends a packet when it has so many, not all at the same time. */
  perPacket: number;
  /** Between two fixes of a terminal. Default: one. */
  fixSeconds?: number;
  /**
   * So many drives are recorded before, for terminals to share, and driven there and back: what paces much load must
   * itself be light. Default: each terminal has a drive of its own, made as it goes.
   */
  rounds?: number;
  /** Connections that are opened at a time. */
  connectAtATime: number;
  /** Watches the live API for the newest position of each packet. */
  live: { url: string; jwt: string; vehicleIds: readonly string[] } | null;
}

export interface LatencyMs {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface Paced {
  seconds: number;
  sentPositions: number;
  acknowledgedPositions: number;
  /** From writing a packet to its acknowledgement. */
  ackMs: LatencyMs | null;
  /** From writing a packet to having its newest position from the WebSocket. */
  liveMs: LatencyMs | null;
  /** Packets whose newest position came live. */
  livePackets: number;
  sentPackets: number;
  /** Positions acknowledged from the first packet on, measured or not. */
  acknowledgedInAll: number;
  /** Connections that ended before they should. */
  lost: number;
}

export type PacerMessage =
  /**
   * All terminals are connected and known. It sends at `begin`, forgets what it measured at `measure`, and ends at
   * `end`.
   */
  { type: 'connected'; seconds: number } | { type: 'begun' } | ({ type: 'paced' } & Paced);

const { task, send, awaitCommand } = await awaitTask<PacerTask, PacerMessage>();

type Simulator = ReturnType<typeof createTeltonikaSimulator>;

interface Terminal {
  socket: Socket;
  /** Its next packet: the newest fix is of `nowMs`, the others each `apartMs` before. */
  nextPacket: (nowMs: number, apartMs: number) => Buffer;
  /** Time of the newest fix that was sent. */
  lastFixMs: number;
  /** When the packets under way were written, oldest first. */
  underWay: number[];
}

const fixMs = (task.fixSeconds ?? 1) * 1000;
let lost = 0;
let ending = false;
let measuring = false;
/** What was written before counts for nothing. */
let measuredFrom = Number.POSITIVE_INFINITY;
let sentPositions = 0;
let sentPackets = 0;
let acknowledgedPositions = 0;
let acknowledgedInAll = 0;
let ackMs: number[] = [];
let liveMs: number[] = [];
/** When the newest position of a packet was written, by vehicle and time of its fix. */
const awaited = new Map<string, number>();
/** A live message that does not come within this was conflated, or lost. */
const FORGET_AFTER_MS = 30_000;

/** Packets of a round's way, as many as a few minutes of a drive have. */
const ROUND_PACKETS = 100;
const rounds: readonly Round[] = Array.from({ length: task.rounds ?? 0 }, (_, number) =>
  recordRound((task.firstTerminal ?? 0) + number, ROUND_PACKETS, task.perPacket, fixMs / 1000),
);

const connecting = performance.now();
const terminals = new Array<Terminal>(task.terminals);
let next = 0;
await Promise.all(
  Array.from({ length: task.connectAtATime }, async () => {
    while (next < task.terminals) {
      const index = next++;
      terminals[index] = await openTerminal(index);
    }
  }),
);
const watcher = task.live ? await watch(task.live) : null;
send({ type: 'connected', seconds: (performance.now() - connecting) / 1000 });

await awaitCommand('begin');
let sent = 0;
const begun = performance.now();
const perMs = task.terminals / (task.perPacket * fixMs);
const clock = setInterval(() => {
  const due = Math.floor((performance.now() - begun) * perMs);
  for (; sent < due; sent++) sendFrom(sent % task.terminals);
}, 5);
send({ type: 'begun' });

await awaitCommand('measure');
measuring = true;
sentPositions = 0;
sentPackets = 0;
acknowledgedPositions = 0;
ackMs = [];
liveMs = [];
awaited.clear();
measuredFrom = performance.now();

await awaitCommand('end');
clearInterval(clock);
measuring = false;
const seconds = (performance.now() - measuredFrom) / 1000;
// What is under way may still arrive.
await new Promise((resolve) => setTimeout(resolve, 1500));
ending = true;
send({
  type: 'paced',
  seconds,
  sentPositions,
  acknowledgedPositions,
  ackMs: latencies(ackMs),
  liveMs: latencies(liveMs),
  livePackets: liveMs.length,
  sentPackets,
  acknowledgedInAll,
  lost,
});
watcher?.close();
for (const { socket } of terminals) socket.destroy();

function latencies(times: readonly number[]): LatencyMs | null {
  if (times.length === 0) return null;
  const at = percentiles(times);
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

function openTerminal(index: number): Promise<Terminal> {
  return new Promise((resolve, reject) => {
    const simulator = createTeltonikaSimulator(loadTerminalId((task.firstTerminal ?? 0) + index));
    const socket = connect({ host: task.host, port: task.port, noDelay: true });
    const beganMs = Date.now();
    const terminal: Terminal = {
      socket,
      nextPacket: rounds.length > 0 ? goesRound(index) : drives(index, simulator, beganMs),
      lastFixMs: beganMs,
      underWay: [],
    };
    const fail = (error: Error): void => reject(error);
    socket.once('error', fail);
    socket.once('connect', () => {
      const hello = simulator.hello();
      if (hello) socket.write(hello);
    });
    let isWelcome = false;
    let taken = 0;
    let takenBytes = 0;
    socket.on('data', (chunk: Buffer) => {
      for (const byte of chunk) {
        if (!isWelcome) {
          isWelcome = byte === 1;
          if (!isWelcome) return reject(new Error('a terminal was not accepted'));
          socket.off('error', fail);
          socket.on('error', () => socket.destroy());
          socket.on('close', () => {
            if (!ending) lost++;
          });
          resolve(terminal);
          continue;
        }
        // An acknowledgement is how many positions of a packet were taken, in four bytes.
        taken = taken * 256 + byte;
        if (++takenBytes < 4) continue;
        if (taken === task.perPacket) acknowledged(terminal);
        else socket.destroy();
        taken = 0;
        takenBytes = 0;
      }
    });
  });
}

function acknowledged({ underWay }: Terminal): void {
  const at = underWay.shift() ?? 0;
  acknowledgedInAll += task.perPacket;
  if (at < measuredFrom) return;
  acknowledgedPositions += task.perPacket;
  ackMs.push(performance.now() - at);
}

function sendFrom(index: number): void {
  const terminal = terminals[index];
  if (!terminal || terminal.socket.destroyed) return;
  const { socket, underWay } = terminal;
  const nowMs = Date.now();
  // Where this packet comes soon after one that was late, its fixes are nearer to each other: none is older than what
  // was sent.
  const apartMs = Math.min(Math.round(fixMs), Math.floor((nowMs - terminal.lastFixMs) / task.perPacket));
  const packet = terminal.nextPacket(nowMs, apartMs);
  terminal.lastFixMs = nowMs;
  const written = performance.now();
  underWay.push(written);
  socket.write(packet);
  if (!measuring) return;
  sentPackets++;
  sentPositions += task.perPacket;
  if (!task.live) return;
  awaited.set(`${task.live.vehicleIds[index]} ${nowMs}`, written);
  // The oldest first: what is that late does not come.
  for (const [key, at] of awaited) {
    if (written - at < FORGET_AFTER_MS) break;
    awaited.delete(key);
  }
}

/** Goes a round that it shares with others, each in a place of its own. */
function goesRound(index: number): Terminal['nextPacket'] {
  const { packets } = rounds[index % rounds.length] as Round;
  let next = index * 7;
  return (nowMs, apartMs) => timed(packets[next++ % packets.length] as Round['packets'][number], nowMs, apartMs);
}

/** Has a drive of its own, made as it goes. */
function drives(index: number, simulator: Simulator, beganMs: number): Terminal['nextPacket'] {
  const driver = loadDriver((task.firstTerminal ?? 0) + index, beganMs, fixMs / 1000);
  let drivenMs = beganMs;
  return (nowMs, apartMs) => {
    // The drive goes by its own seconds, as many as have passed since the last packet but for a millisecond or two; the
    // terminal's clock is the one that the server has.
    drivenMs += task.perPacket * fixMs;
    const positions = driver.advanceTo(drivenMs - 1);
    positions.forEach((position, place) => {
      position.fixTimeMs = nowMs - (positions.length - 1 - place) * apartMs;
    });
    return simulator.encode(positions);
  };
}

function watch({ url, jwt }: NonNullable<PacerTask['live']>): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers: { Authorization: `JWT ${jwt}` }, perMessageDeflate: false });
    socket.on('error', reject);
    socket.on('open', () => {
      socket.send(JSON.stringify({ type: 'subscribe', all: true, positions: true, events: true }));
      resolve(socket);
    });
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString()) as { type: string; vehicleId: string; fixTime: string };
      if (message.type !== 'position') return;
      const key = `${message.vehicleId} ${Date.parse(message.fixTime)}`;
      const written = awaited.get(key);
      if (written === undefined) return;
      awaited.delete(key);
      liveMs.push(performance.now() - written);
    });
  });
}

import { connect, type Socket } from 'node:net';
import { createTeltonikaSimulator } from '@outrider/protocols';
import { loadTerminalId } from '../drives.ts';
import { percentiles } from '../measure.ts';
import { awaitTask } from './child.ts';
import { recordRound, timed } from './round.ts';

/** Many terminals that stay connected, each of which reports now and then, from many addresses. */
export interface HolderTask {
  host: string;
  port: number;
  /** Number of the first of them, and how many. */
  firstTerminal: number;
  terminals: number;
  /** Between two packets of a terminal. */
  reportSeconds: number;
  /** Connections that are opened at a time. */
  connectAtATime: number;
}

export type HolderMessage =
  /** All are connected and accepted. They report from the command `begin` on, until `end`. */
  | { type: 'connected'; seconds: number }
  | { type: 'held'; sentPackets: number; acknowledgedPackets: number; lost: number; ackP99Ms: number | null };

const { task, send, awaitCommand } = await awaitTask<HolderTask, HolderMessage>();

/** An address has some 28,000 free ports, and the system searches long for one of the last. */
const TERMINALS_PER_ADDRESS = 2000;
const PACKETS = 100;
const { packets } = recordRound(0, PACKETS, 1, task.reportSeconds);
const sockets = new Array<Socket>(task.terminals);
const writtenAt = new Float64Array(task.terminals);
const ackMs: number[] = [];
let lost = 0;
let sentPackets = 0;
let ending = false;

const began = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: task.connectAtATime }, async () => {
    while (next < task.terminals) {
      const index = next++;
      sockets[index] = await openTerminal(index);
    }
  }),
);
send({ type: 'connected', seconds: (performance.now() - began) / 1000 });
await awaitCommand('begin');
const begun = performance.now();
const perMs = task.terminals / (task.reportSeconds * 1000);
const clock = setInterval(() => {
  const due = Math.floor((performance.now() - begun) * perMs);
  for (; sentPackets < due; sentPackets++) report(sentPackets % task.terminals);
}, 20);
await awaitCommand('end');
clearInterval(clock);
// What is under way may still arrive.
await new Promise((resolve) => setTimeout(resolve, 1500));
ending = true;
send({
  type: 'held',
  sentPackets,
  acknowledgedPackets: ackMs.length,
  lost,
  ackP99Ms: ackMs.length === 0 ? null : percentiles(ackMs)(0.99),
});
for (const socket of sockets) socket.destroy();

function report(index: number): void {
  const packet = packets[(index * 7 + sentPackets) % packets.length];
  if (packet === undefined) return;
  writtenAt[index] = performance.now();
  sockets[index]?.write(timed(packet, Date.now(), 0));
}

function openTerminal(index: number): Promise<Socket> {
  const terminal = task.firstTerminal + index;
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: task.host,
      port: task.port,
      localAddress: `127.0.0.${2 + Math.floor(terminal / TERMINALS_PER_ADDRESS)}`,
      noDelay: true,
    });
    let isAccepted = false;
    socket.once('connect', () => socket.write(createTeltonikaSimulator(loadTerminalId(terminal)).hello() ?? ''));
    socket.on('error', (error) => (isAccepted ? socket.destroy() : reject(error)));
    socket.on('close', () => {
      if (!isAccepted) reject(new Error(`terminal ${terminal} was not accepted`));
      else if (!ending) lost++;
    });
    socket.on('data', () => {
      // One byte accepts it, four acknowledge a packet of one position.
      if (isAccepted) ackMs.push(performance.now() - (writtenAt[index] ?? 0));
      isAccepted = true;
      resolve(socket);
    });
  });
}

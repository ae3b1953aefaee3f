import { connect, type Socket } from 'node:net';
import { type Recording, recordPackets } from '../drives.ts';
import { timed } from '../measure.ts';
import { awaitTask } from './child.ts';

/** How many terminals connect at the same time: a listener's backlog is finite. */
const CONNECT_AT_A_TIME = 100;

/** As many packets as the server takes, over many connections, each with a small window. */
export interface GeneratorTask {
  host: string;
  port: number;
  connections: number;
  positionsPerConnection: number;
  perPacket: number;
  /** Packets of a connection that may wait for their acknowledgement. */
  windowPackets: number;
  /** Unix milliseconds that no fix passes. */
  endMs: number;
}

export type GeneratorMessage =
  /** All positions are recorded, and all terminals are connected and identified. It sends after the command `go`. */
  | { type: 'ready'; positions: number; packets: number; bytes: number }
  /** All is acknowledged. */
  | { type: 'done'; seconds: number; cpuSeconds: number };

const { task, send, awaitCommand } = await awaitTask<GeneratorTask, GeneratorMessage>();
const recordings = Array.from({ length: task.connections }, (_, vehicle) =>
  recordPackets(vehicle, task.positionsPerConnection, task.perPacket, task.endMs),
);
const lines: (() => Promise<void>)[] = [];
for (let from = 0; from < recordings.length; from += CONNECT_AT_A_TIME)
  lines.push(...(await Promise.all(recordings.slice(from, from + CONNECT_AT_A_TIME).map(openLine))));
send({
  type: 'ready',
  positions: task.connections * task.positionsPerConnection,
  packets: recordings.reduce((sum, { ends }) => sum + ends.length, 0),
  bytes: recordings.reduce((sum, { bytes }) => sum + bytes.length, 0),
});
await awaitCommand('go');
send({
  type: 'done',
  ...(await timed(async () => {
    await Promise.all(lines.map((play) => play()));
  })),
});

/** Connects a terminal and has it known. @returns what plays its recording */
async function openLine(recording: Recording): Promise<() => Promise<void>> {
  const socket = connect({ host: task.host, port: task.port, noDelay: true });
  socket.on('error', (error) => fail(error));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write(recording.hello);
  const welcome = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  if (welcome.length !== 1 || welcome[0] !== 1) fail(new Error(`a terminal was answered ${welcome.toString('hex')}`));
  return () => play(socket, recording);
}

function play(socket: Socket, { bytes, ends }: Recording): Promise<void> {
  return new Promise((resolve) => {
    let sent = 0;
    let acknowledged = 0;
    let ackBytes = 0;
    let count = 0;
    // The whole window goes out in one write: the generator shares the machine with what is measured.
    const send = (): void => {
      const until = Math.min(ends.length, acknowledged + task.windowPackets);
      if (until === sent) return;
      socket.write(bytes.subarray(sent === 0 ? 0 : ends[sent - 1], ends[until - 1]));
      sent = until;
    };
    socket.on('data', (chunk: Buffer) => {
      for (const byte of chunk) {
        count = count * 256 + byte;
        if (++ackBytes < 4) continue;
        const expected = Math.min(task.perPacket, task.positionsPerConnection - acknowledged * task.perPacket);
        if (count !== expected) fail(new Error(`${count} of ${expected} positions were taken`));
        acknowledged++;
        ackBytes = 0;
        count = 0;
      }
      if (acknowledged === ends.length) {
        socket.destroy();
        resolve();
      } else send();
    });
    socket.on('close', () => {
      if (acknowledged < ends.length) fail(new Error('the server hung up'));
    });
    send();
  });
}

/** A generator that lost a terminal would report wrong figures. */
function fail(error: Error): never {
  console.error(error);
  process.exit(1);
}

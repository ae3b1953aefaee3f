import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';

export interface FanOutTask {
  port: number;
  clients: number;
  vehicles: number;
  rounds: number;
  /** Subprotocol; null: none. */
  protocol: string | null;
  batch: boolean;
}

/** Bytes of all messages that were received. */
export interface FanOutCounts {
  bytes: number;
}

const { port, clients, vehicles, rounds, protocol, batch } = workerData as FanOutTask;
const counts: FanOutCounts = { bytes: 0 };
const perRound = clients * vehicles;
let ready = 0;
let positions = 0;

for (let nth = 0; nth < clients; nth++) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, protocol === null ? [] : [protocol], {
    headers: { Authorization: 'JWT token' },
    perMessageDeflate: false,
  });
  socket.on('open', () =>
    socket.send(JSON.stringify({ type: 'subscribe', all: true, states: protocol !== null, batch })),
  );
  socket.on('message', (data: Buffer, isBinary) => {
    counts.bytes += data.length;
    if (!isBinary && data.includes('"type":"resumed"')) {
      if (++ready === clients) parentPort?.postMessage({ ready: { ...counts } });
      return;
    }
    const before = Math.floor(positions / perRound);
    positions += positionsIn(data, isBinary);
    if (Math.floor(positions / perRound) > before) parentPort?.postMessage({ taken: true });
    if (positions === clients * vehicles * rounds) parentPort?.postMessage({ done: { ...counts } });
  });
  socket.on('error', (error) => {
    throw error;
  });
}

function positionsIn(data: Buffer, isBinary: boolean): number {
  if (isBinary) return data[0] === 2 ? data.readUInt32LE(4) : 0;
  const head = data.toString('latin1', 0, 24);
  if (head.startsWith('{"type":"positions"'))
    return (JSON.parse(data.toString()) as { positions: unknown[] }).positions.length;
  return head.startsWith('{"type":"position"') ? 1 : 0;
}

import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';

/** Clients of the live API, one for each token, that all connect at the same moment. */
export interface ReturningTask {
  port: number;
  tokens: readonly string[];
  subscribe: object;
}

export interface Returned {
  /** For each client, the time from the moment at which all began to connect until it gets `resumed`. */
  timesMs: number[];
  /** Events received by all clients together. */
  events: number;
}

const { port, tokens, subscribe } = workerData as ReturningTask;
const EVENT = Buffer.from('{"type":"event"');
const RESUMED = Buffer.from('{"type":"resumed"');
const begunMs = performance.now();
const returned: Returned = { timesMs: [], events: 0 };

for (const token of tokens) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, {
    headers: { Authorization: `JWT ${token}` },
    perMessageDeflate: false,
  });
  socket.on('open', () => socket.send(JSON.stringify(subscribe)));
  socket.on('message', (data: Buffer) => {
    if (data.subarray(0, EVENT.length).equals(EVENT)) returned.events++;
    else if (data.subarray(0, RESUMED.length).equals(RESUMED)) {
      returned.timesMs.push(performance.now() - begunMs);
      if (returned.timesMs.length === tokens.length) parentPort?.postMessage(returned);
    }
  });
  socket.on('error', (error) => {
    throw error;
  });
}

import { parentPort, workerData } from 'node:worker_threads';
import { WebSocket } from 'ws';

/** Clients of the live API, one for each token. */
export interface ListenersTask {
  port: number;
  tokens: readonly string[];
  subscribe: object;
  /** Number of notifications that each client waits for. */
  awaited: number;
}

/** `ready`: all clients listen. `done`: all clients have received everything. */
export type ListenersState = 'ready' | 'done';

const { port, tokens, subscribe, awaited } = workerData as ListenersTask;
const report = (what: ListenersState) => parentPort?.postMessage(what);
const NOTIFICATION = Buffer.from('{"type":"notification"');
let ready = 0;
let done = 0;

for (const token of tokens) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, {
    headers: { Authorization: `JWT ${token}` },
    perMessageDeflate: false,
  });
  let received = 0;
  socket.on('open', () => socket.send(JSON.stringify(subscribe)));
  socket.on('message', (data: Buffer) => {
    // The content is checked by other tests; here notifications are only counted.
    if (data.subarray(0, NOTIFICATION.length).equals(NOTIFICATION)) {
      received += 1;
      if (received === awaited && ++done === tokens.length) report('done');
    } else if (data.includes('"type":"resumed"') && ++ready === tokens.length) report('ready');
  });
  socket.on('error', (error) => {
    throw error;
  });
}

import { Agent, request } from 'node:http';
import { type Position, SYSTEM_CLOCK, type TerminalId, type Timer } from '@outrider/domain';
import { type HttpProtocol, osmand } from '@outrider/protocols';
import { StoredPositions } from './stored-positions.ts';
import type { TerminalClient, TerminalStats } from './terminal-client.ts';

export interface HttpTerminalOptions {
  host: string;
  port: number;
  terminalId: TerminalId;
  /** Default: OsmAnd. */
  protocol?: HttpProtocol;
  /** Default 10,000. */
  maxStoredPositions?: number;
  /** First and maximum delay between attempts; it doubles after each. Default: 250 ms to 15 s. */
  backoffMs?: readonly [first: number, last: number];
  /** Maximum time to wait for an answer before the connection is closed; default 20 s. */
  replyTimeoutMs?: number;
  /** Random numbers that spread the attempts of many terminals; default `Math.random`. */
  random?: () => number;
}

/** Creates a terminal over HTTP: the next request is sent once the last was answered with 200. */
export function createHttpTerminal(options: HttpTerminalOptions): TerminalClient {
  const { terminalId, host, port, protocol = osmand } = options;
  const random = options.random ?? Math.random;
  const [firstBackoffMs, lastBackoffMs] = options.backoffMs ?? [250, 15_000];
  const store = new StoredPositions(options.maxStoredPositions ?? 10_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let backoffMs = firstBackoffMs;
  let busy = false;
  let retry: Timer | null = null;
  let online = false;
  let connections = 0;
  let acknowledgedPackets = 0;
  let lastFailure: string | null = null;
  let closed = false;

  const post = (position: Position): Promise<void> =>
    new Promise((resolve, reject) => {
      const { method, url, headers, body } = protocol.encode(terminalId, position);
      const sent = request({
        method,
        headers: { ...headers, 'content-length': body.length },
        agent,
        host,
        port,
        path: url,
        timeout: options.replyTimeoutMs ?? 20_000,
      });
      sent.on('socket', () => {
        if (!sent.reusedSocket) connections++;
      });
      sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume();
        response.on('error', reject);
        response.on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`HTTP ${response.statusCode}`));
        });
      });
      sent.end(body);
    });

  const pump = async (): Promise<void> => {
    if (busy || retry) return;
    busy = true;
    try {
      for (let [position] = store.take(1); position && !closed; [position] = store.take(1)) {
        await post(position);
        online = true;
        backoffMs = firstBackoffMs;
        acknowledgedPackets++;
        store.acknowledge(1);
      }
    } catch (error) {
      online = false;
      store.rewind();
      lastFailure = error instanceof Error ? error.message : String(error);
      if (closed) return;
      retry = SYSTEM_CLOCK.after(backoffMs * (0.5 + random() / 2), () => {
        retry = null;
        void pump();
      });
      backoffMs = Math.min(lastBackoffMs, backoffMs * 2);
    } finally {
      busy = false;
    }
  };

  return {
    terminalId,
    record(positions) {
      store.add(positions);
      void pump();
    },
    stats: (): TerminalStats => ({
      online,
      stored: store.size,
      acknowledged: store.acknowledged,
      acknowledgedPackets,
      dropped: store.dropped,
      connections,
      lastFailure,
    }),
    settled: () => store.emptied(),
    async close() {
      closed = true;
      retry?.cancel();
      agent.destroy();
      store.abandon(new Error(`terminal ${terminalId} was closed`));
    },
  };
}

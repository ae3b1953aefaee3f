import type { Client } from './client.ts';
import { ApiError, ConnectionError } from './errors.ts';
import { linesOf } from './lines.ts';
import { reconnectDelayMs } from './live.ts';
import type { FeedEvent, FeedPosition } from './schema.ts';

/** Messages of each feed, as in the live API. `cursor` is the position after the message. */
export interface FeedMessages {
  events: FeedEvent & { type: 'event'; cursor: string };
  positions: FeedPosition & { type: 'position'; cursor: string };
}

export interface FeedOptions {
  /** Continues after this: the `cursor` of the last processed message, or `nextCursor` of a page. */
  cursor?: string | null;
  /**
   * Where to begin without a cursor: `latest` (default), `earliest`, or an ISO 8601 time at which messages were written
   * to the service's log.
   */
  from?: string;
  /** Ends the feed. */
  signal?: AbortSignal;
  /**
   * Called at the start, and every 15 seconds. The cursor advances even without messages. `lagSeconds` is the age of
   * the oldest record in the service's log that was not delivered yet.
   */
  onHeartbeat?: (heartbeat: { cursor: string; lagSeconds: number }) => void;
  /** Random number from 0 to 1, for the pauses between attempts. Default `Math.random`. */
  random?: () => number;
  /** A connection without a heartbeat for this long is replaced. Default 45 s. */
  silenceMs?: number;
}

type Message = { cursor: string } & ({ type: 'event' | 'position' } | { type: 'heartbeat'; lagSeconds: number });

const SILENCE_MS = 45_000;

/**
 * All messages after a cursor, without end. Reconnects when the connection breaks, and continues after the last
 * message, so each is delivered once. The next message is read only after the previous one was processed.
 *
 * @throws {ApiError} for errors that a retry cannot solve: missing rights, an invalid cursor, or `cursor-expired`,
 * whose
 * `problem.resumption` has the position to continue from
 */
export async function* follow<Feed extends keyof FeedMessages>(
  client: Client,
  feed: Feed,
  options: FeedOptions = {},
): AsyncGenerator<FeedMessages[Feed], void> {
  const { signal, random = Math.random, silenceMs = SILENCE_MS } = options;
  let cursor = options.cursor ?? null;
  for (let attempt = 0; !signal?.aborted; attempt++) {
    const connection = new AbortController();
    const leave = () => connection.abort();
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
    let pauseMs = reconnectDelayMs(attempt, random);
    try {
      const query = cursor !== null ? { cursor } : options.from === undefined ? {} : { from: options.from };
      const response = await client.send('get', `/api/v1/feed/${feed}`, {
        query,
        headers: { accept: 'application/x-ndjson' },
        signal: connection.signal,
      });
      const lines = linesOf(response, (reader) => {
        const silence = setTimeout(leave, silenceMs);
        return reader.read().finally(() => clearTimeout(silence));
      });
      for await (const line of lines) {
        const message = JSON.parse(line) as Message | { type: 'end' };
        if (message.type === 'end') break;
        attempt = 0;
        pauseMs = reconnectDelayMs(0, random);
        cursor = message.cursor;
        if (message.type === 'heartbeat') options.onHeartbeat?.({ cursor, lagSeconds: message.lagSeconds });
        else yield message as unknown as FeedMessages[Feed];
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ApiError ? isPassing(error) : isBroken(error))) throw error;
      if (error instanceof ApiError && error.retryAfterSeconds !== null)
        pauseMs = Math.max(pauseMs, error.retryAfterSeconds * 1000);
    } finally {
      signal?.removeEventListener('abort', leave);
      leave();
    }
    await pause(pauseMs, signal);
  }
}

/** Whether an error is temporary, so that a retry may succeed. */
function isPassing({ status }: ApiError): boolean {
  return status === 429 || status >= 500;
}

/** Whether the connection failed, broke, or was aborted. Any other error comes from the consumer. */
function isBroken(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return error instanceof Error && error.name === 'AbortError';
}

/** Resolves after a time, or as soon as the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end);
  });
}

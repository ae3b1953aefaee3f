import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { ConversationEnd, RecordedConversation } from '../finding.ts';

/** What is sent to one port over one connection. */
export interface Conversation {
  port: string;
  /** What kind of attack it is, for the table. */
  kind: string;
  chunks: readonly Buffer[];
  /** How it ends: by the peer, by half a close, by a reset; when the service has ended it; or after a silence. */
  ends: ConversationEnd;
}

/** More than this of an answer is read and forgotten. */
const MOST_RECEIVED_BYTES = 256 * 1024;
const PAUSE_MS = 2;
const LISTEN_MS = 40;
/** A service that reads nothing for this time is stuck, or has paused the connection. */
const GIVE_UP_MS = 5000;

/**
 * Has a conversation to its end.
 *
 * @param holdMs how long one lasts that stays silent
 * @returns what was answered; null where no connection came about
 */
export function converse(
  host: string,
  port: number,
  { chunks, ends }: Pick<Conversation, 'chunks' | 'ends'>,
  holdMs: number,
): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, noDelay: true });
    const received: Buffer[] = [];
    let length = 0;
    let connected = false;
    const giveUp = setTimeout(() => socket.destroy(), GIVE_UP_MS + holdMs);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      if (length < MOST_RECEIVED_BYTES) received.push(chunk);
      length += chunk.length;
    });
    socket.on('close', () => {
      clearTimeout(giveUp);
      resolve(connected ? Buffer.concat(received) : null);
    });
    socket.on('connect', async () => {
      connected = true;
      for (const [index, chunk] of chunks.entries()) {
        if (socket.destroyed) return;
        if (index > 0) await wait(PAUSE_MS);
        socket.write(chunk);
      }
      await wait(LISTEN_MS);
      if (socket.destroyed) return;
      if (ends === 'answer') return;
      if (ends === 'reset') socket.resetAndDestroy();
      else if (ends === 'silence') setTimeout(() => socket.destroy(), holdMs);
      else {
        socket.end();
        // After the end of the input, the service has a moment to answer it.
        if (ends === 'close') setTimeout(() => socket.destroy(), LISTEN_MS);
        else setTimeout(() => socket.destroy(), 10 * LISTEN_MS);
      }
    });
  });
}

/** A conversation as it is written into a finding. */
export function recorded({ port, chunks, ends }: Conversation): RecordedConversation {
  return { port, ends, chunks: chunks.map((chunk) => chunk.toString('base64')) };
}

/** A conversation as it was written into a finding. */
export function replayed({ port, chunks, ends }: RecordedConversation): Conversation {
  return { port, kind: 'replay', ends, chunks: chunks.map((chunk) => Buffer.from(chunk, 'base64')) };
}

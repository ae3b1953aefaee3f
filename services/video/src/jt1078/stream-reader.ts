import type { Socket } from 'node:net';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Reason why a stream ended. */
export type StreamEnd =
  /** The terminal ended the stream. */
  | 'ended'
  /** The connection broke. */
  | 'broken'
  /** No data arrived within the timeout. */
  | 'idle';

/** Waits for data on a paused socket. Returns the next bytes, or the reason why the stream ended. */
export async function readChunk(socket: Socket, idleMs: number): Promise<Buffer | StreamEnd> {
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) return chunk;
    if (socket.readableEnded) return 'ended';
    if (socket.destroyed || socket.errored) return 'broken';
    if (!(await isReadable(socket, idleMs))) return 'idle';
  }
}

/** @returns false on timeout */
function isReadable(socket: Socket, idleMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const events = ['readable', 'end', 'close', 'error'] as const;
    const done = (happened: boolean) => {
      timer.cancel();
      for (const event of events) socket.off(event, happens);
      resolve(happened);
    };
    const happens = () => done(true);
    const timer = SYSTEM_CLOCK.after(idleMs, () => done(false));
    for (const event of events) socket.on(event, happens);
  });
}

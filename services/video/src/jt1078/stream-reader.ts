import type { Socket } from 'node:net';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Why a stream gave nothing more. */
export type StreamEnd =
  /** The terminal said that this is all. */
  | 'ended'
  /** The connection broke. */
  | 'broken'
  /** Nothing came for as long as may be. */
  | 'idle';

/** Waits for bytes of a paused socket: the next ones, or why no more come. */
export async function readChunk(socket: Socket, idleMs: number): Promise<Buffer | StreamEnd> {
  for (;;) {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) return chunk;
    if (socket.readableEnded) return 'ended';
    if (socket.destroyed || socket.errored) return 'broken';
    if (!(await isReadable(socket, idleMs))) return 'idle';
  }
}

/** @returns false when nothing happened in time */
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

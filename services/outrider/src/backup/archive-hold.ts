import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { type Logger, type Part, StartError } from '@outrider/runtime';
import type { Warehouse } from '@outrider/warehouse';

/*
 * Only one process has the archive open: the service. So a backup asks the service to freeze it, over a socket in
 * DATA_DIR, which only the account of the service can access:
 *
 *   service: frozen <name>     the parts have hard links, and nothing is written to the archive
 *   backup:  taken             the databases are open in their state of this moment
 *   service: released          the archive is written again
 *
 * When the connection ends, for any reason, the archive is released and the hard links are removed.
 */

const SOCKET = 'backup.sock';
/** Longest path of a socket that all systems support. */
const MAX_PATH_BYTES = 100;
const HELD_AT_MOST_MS = 90_000;

function socketAt(dataDir: string): string {
  const path = join(dataDir, SOCKET);
  const fromHere = relative(process.cwd(), path);
  return fromHere.length < path.length ? fromHere : path;
}

export interface ArchiveHoldParts {
  /** Absolute path of DATA_DIR. */
  dataDir: string;
  warehouse: Pick<Warehouse, 'freeze' | 'unfreeze'>;
  logger: Logger;
  /** Default 90 s. */
  heldAtMostMs?: number;
}

/** Lets a backup in another process freeze the archive of this one. One at a time. */
export function createArchiveHold({
  dataDir,
  warehouse,
  logger,
  heldAtMostMs = HELD_AT_MOST_MS,
}: ArchiveHoldParts): Part {
  let connected: Socket | null = null;
  let serving: Promise<void> = Promise.resolve();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (connected !== null) {
      socket.end('failed another backup is under way\n');
      return;
    }
    connected = socket;
    serving = serve(socket).finally(() => {
      connected = null;
    });
  });

  async function serve(socket: Socket): Promise<void> {
    const name = `backup_${randomBytes(8).toString('hex')}`;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const lines = createInterface(socket);
    try {
      await warehouse.freeze(name, async () => {
        if (socket.destroyed) return;
        const timer = SYSTEM_CLOCK.after(heldAtMostMs, () => socket.destroy(new Error('held for too long')));
        const taken = once(lines, 'line');
        socket.write(`frozen ${name}\n`);
        await Promise.race([taken, closed]).catch(() => {});
        timer.cancel();
      });
      logger.info({ name }, 'the archive was frozen for a backup');
      socket.write('released\n');
      await closed;
    } catch (error) {
      logger.error({ err: error }, 'cannot freeze the archive for a backup');
      socket.end(`failed ${(error as Error).message.split('\n', 1)[0]}\n`);
    } finally {
      await warehouse.unfreeze(name).catch((error) => logger.warn({ err: error, name }, 'cannot unfreeze the archive'));
    }
  }

  return {
    name: 'archive hold',
    async start() {
      const path = socketAt(dataDir);
      if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
        logger.warn({ path }, 'DATA_DIR has too long a path for a socket: a backup needs the service stopped');
        return;
      }
      // A socket of a killed process: this process holds the lock of the folder.
      await rm(path, { force: true });
      server.listen(path);
      await once(server, 'listening');
    },
    async stop() {
      const ended = server.listening ? once(server, 'close') : null;
      server.close();
      connected?.destroy();
      await Promise.all([ended, serving]);
    },
  };
}

/**
 * Makes the running service freeze its archive.
 *
 * @param atMoment called while nothing is written to the archive; the frozen files have the state of this moment
 * @param meanwhile called with the name of the frozen files, which exist until it ends
 * @throws {StartError} when no connection to the service can be made, or it can't freeze its archive
 */
export async function withFrozenArchive(
  dataDir: string,
  atMoment: () => Promise<void>,
  meanwhile: (frozen: string) => Promise<void>,
): Promise<void> {
  const socket = createConnection(socketAt(dataDir));
  try {
    await once(socket, 'connect');
  } catch (error) {
    throw new StartError(
      `the service that uses ${dataDir} takes no backups (${(error as Error).message}): it is of an earlier version or starts just now. Try again, or stop it first`,
      { cause: error },
    );
  }
  const lines = createInterface(socket);
  // An error is followed by the end of the connection, which is handled.
  for (const failing of [socket, lines]) failing.on('error', () => {});
  try {
    const answer = /^frozen (\S+)$/.exec(await nextLine(lines, socket))?.[1];
    if (answer === undefined) throw new StartError('the service cannot freeze its archive');
    await atMoment();
    const released = nextLine(lines, socket);
    socket.write('taken\n');
    await released;
    await meanwhile(answer);
  } finally {
    socket.destroy();
  }
}

async function nextLine(lines: Interface, socket: Socket): Promise<string> {
  const line = await new Promise<string>((resolve, reject) => {
    const end = () =>
      reject(new StartError('the service ended while it was backed up, or held the archive for too long'));
    if (socket.destroyed) end();
    lines.once('line', resolve);
    socket.once('close', end);
  });
  const failure = /^failed (.*)$/.exec(line)?.[1];
  if (failure !== undefined) throw new StartError(`the service cannot freeze its archive: ${failure}`);
  return line;
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Ports, type ServiceProcess, spawnService } from '../../services/outrider/src/service.fixture.ts';

const START_AGAIN_AFTER_MS = 500;

/** What the folder of the service is on. */
interface Mounted {
  readonly folder: string;
  close(): Promise<void>;
}

/** The service in one process, its folder on a small disk; started again whenever it ends. */
export interface Lone<Disk extends Mounted> {
  disk: Disk;
  ports: Ports;
  /**
   * What the log keeps for itself to write into, on the disk already: without it a full disk is full for the log at
   * once.
   */
  giveBackSpace(): Promise<void>;
  /** Stops the service where it is for as long as `work` takes, which has to kill it; then it is started again. */
  whileHeld<Result>(work: (kill: () => Promise<void>) => Promise<Result>): Promise<Result>;
  restarts(): number;
  /** Standard error of all its processes. */
  said(): string;
  close(): Promise<void>;
}

/**
 * @param openDisk mounts the disk, in or at a folder
 * @throws {Error} where no disk can be mounted
 */
export async function openLone<Disk extends Mounted>(
  ports: Ports,
  openDisk: (folder: string) => Promise<Disk>,
): Promise<Lone<Disk>> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-disk-'));
  let disk: Disk;
  try {
    disk = await openDisk(folder);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  const lives: ServiceProcess[] = [];
  let closing = false;
  let running: Promise<unknown> = Promise.resolve();
  let held: Promise<unknown> = Promise.resolve();
  const run = () => {
    const service = spawnService(disk.folder, ports, { CHECKPOINT_MS: '300', ARCHIVE_MS: '200' });
    lives.push(service);
    running = service.ended.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, START_AGAIN_AFTER_MS));
      await held.catch(() => {});
      if (!closing) run();
    });
    return service;
  };
  const close = async () => {
    closing = true;
    await lives.at(-1)?.kill();
    await running;
    await disk.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const first = run();
  if ((await first.ready) === null) {
    await close();
    throw new Error(`the service did not start:\n${first.stderrText()}`);
  }
  return {
    disk,
    ports,
    whileHeld(work) {
      const service = lives.at(-1) ?? first;
      service.hold();
      const result = work(() => service.kill());
      held = result;
      return result;
    },
    giveBackSpace: () => truncateWriteAheadLog(join(disk.folder, 'log.sqlite')),
    restarts: () => lives.length - 1,
    said: () => lives.map(({ stderrText }) => stderrText()).join(''),
    close,
  };
}

/** SQLite reuses its write-ahead log from the front, which needs no more space, until the log is truncated. */
async function truncateWriteAheadLog(path: string): Promise<void> {
  const db = new DatabaseSync(path, { timeout: 1000 });
  try {
    for (;;) {
      const { busy } = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number };
      if (busy === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } finally {
    db.close();
  }
}

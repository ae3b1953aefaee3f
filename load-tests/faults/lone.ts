import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { processesOf } from '@outrider/testing/process-tree';
import { type Ports, type ServiceProcess, spawnService } from '../../services/outrider/src/service.fixture.ts';

const START_AGAIN_AFTER_MS = 500;
const ENDS_WITHIN_MS = 30_000;

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
  /**
   * Stops the service and its child processes for as long as `work` takes, which has to kill them; then the service is
   * started again.
   */
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
      const result = whileStopped(lives.at(-1) ?? first, work);
      held = result;
      return result;
    },
    giveBackSpace: () => truncateWriteAheadLog(join(disk.folder, 'log.sqlite')),
    restarts: () => lives.length - 1,
    said: () => lives.map(({ stderrText }) => stderrText()).join(''),
    close,
  };
}

/** Stops a process and its children, which also have files open, and kills all of them when `work` asks for it. */
async function whileStopped<Result>(
  service: ServiceProcess,
  work: (kill: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  process.kill(service.pid, 'SIGSTOP');
  const [, ...children] = await processesOf(service.pid);
  for (const pid of children) process.kill(pid, 'SIGSTOP');
  return work(async () => {
    for (const pid of children) process.kill(pid, 'SIGKILL');
    await service.kill();
    for (const endMs = performance.now() + ENDS_WITHIN_MS; children.some((pid) => existsSync(`/proc/${pid}`)); ) {
      if (performance.now() > endMs) throw new Error(`a process of ${children.join(', ')} did not end`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
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

import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface CommandOptions {
  cwd?: string;
  /** Beside those of this process. */
  environment?: Readonly<Record<string, string>>;
  /** One that takes longer is killed, with all that it started. */
  limitMs: number;
  /** A file descriptor that output goes to instead of this process's output. */
  output?: number;
}

/** Runs a command to its end, and resolves to its exit code; 1 where a signal ended it, or it could not be started. */
export function runCommand(
  [command = '', ...args]: readonly string[],
  { cwd = ROOT, environment, limitMs, output }: CommandOptions,
): Promise<number> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', output ?? 'inherit', output ?? 'inherit'],
    detached: true,
  });
  const kill = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const interrupt = () => {
    kill();
    process.exit(130);
  };
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  return new Promise<number>((resolve) => {
    const limit = setTimeout(() => {
      console.log(`${[command, ...args].join(' ')} took more than ${limitMs / 60_000} minutes and is killed`);
      kill();
    }, limitMs);
    const end = (code: number) => {
      clearTimeout(limit);
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', interrupt);
      resolve(code);
    };
    child.once('error', (error) => {
      console.log(`${command}: ${error.message}`);
      end(1);
    });
    child.once('exit', (code) => end(code ?? 1));
  });
}

/**
 * Keeps processors busy with processes that only count.
 *
 * @param count default: as many as there are processors
 * @returns ends them
 */
export function keepBusy(count = availableParallelism()): () => void {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  const stop = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', stop);
  return stop;
}

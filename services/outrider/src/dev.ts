import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run dev`: the demo, started again whenever a file of the service changes. Node's own `--watch` is no help here:
 * it sends messages of its own to the threads of the service.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WATCHED = ['packages', 'services', 'schemas'];
/** An editor writes several files at once. */
const QUIET_MS = 300;

let demo = startDemo();
let due: NodeJS.Timeout | null = null;
let restarting: Promise<void> = Promise.resolve();

for (const folder of WATCHED)
  watch(`${ROOT}${folder}`, { recursive: true }, (_, file) => {
    if (file === null || !/\.(ts|js|html|css|json|avsc)$/.test(file) || /\.(test|bench|conformance)\.ts$/.test(file))
      return;
    // Vite has a development server of its own: `npm run dev -w @outrider/console`.
    if (/^(console|client)[/\\]/.test(file)) return;
    if (due !== null) clearTimeout(due);
    due = setTimeout(() => {
      restarting = restarting.then(() => restart(file));
    }, QUIET_MS);
  });
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, async () => {
    await stop(demo);
    process.exit(0);
  });

function startDemo(): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url)), 'demo'], {
    // Ctrl-C is for this process, which stops the demo in its turn.
    detached: true,
    stdio: 'inherit',
  });
}

async function restart(file: string): Promise<void> {
  process.stdout.write(`\n${file} changed: starting again\n\n`);
  await stop(demo);
  demo = startDemo();
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * `npm run dev`: the demo, restarted whenever a file of the service changes. Node's own `--watch` does not work here,
 * because it sends messages to the service's threads.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const WATCHED = ['packages', 'services', 'schemas'];
/** Debounce time, because an editor writes several files at once. */
const QUIET_MS = 300;

let demo = startDemo();
let due: NodeJS.Timeout | null = null;
let restarting: Promise<void> = Promise.resolve();

for (const folder of WATCHED)
  watch(`${ROOT}${folder}`, { recursive: true }, (_, file) => {
    if (file === null || !/\.(ts|js|html|css|json|avsc)$/.test(file) || /\.(test|bench|conformance)\.ts$/.test(file))
      return;
    // Changes of the console are handled by Vite's development server: `npm run dev -w @outrider/console`.
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
    // Ctrl-C is only delivered to this process, which then stops the demo.
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

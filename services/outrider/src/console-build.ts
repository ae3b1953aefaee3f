import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SYSTEM_CLOCK } from '@outrider/domain';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Sources of the console, relative to the root. */
const SOURCES = ['services/console', 'packages/client'];
/** Other content of the console, which an installation may lack. */
const ALSO_SHOWN = ['docs/devices', 'packages/simulator', 'packages/words'];
const RESULT = 'services/console/dist/index.html';
/** `dist`, and the output folders of running builds. */
const NOT_SOURCES = /^(dist(-.*)?|node_modules)$/;
const IS_TEST = /\.(test|bench)\.tsx?$/;
/** Lines shown of a failed build's output; the last ones contain the reason. */
const SHOWN_LINES = 15;

/** Why the console has to be built; null if the last build is up to date. */
export function reasonToBuild(root: string): 'missing' | 'older than its sources' | null {
  const result = join(root, RESULT);
  if (!existsSync(result)) return 'missing';
  const builtMs = statSync(result).mtimeMs;
  const folders = [...SOURCES, ...ALSO_SHOWN]
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder));
  return folders.some((folder) => newestMs(folder) > builtMs) ? 'older than its sources' : null;
}

/** Newest modification below a folder. Folders count: their time changes when a file is removed or renamed. */
function newestMs(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (NOT_SOURCES.test(entry.name) || IS_TEST.test(entry.name)) continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, statSync(path).mtimeMs, entry.isDirectory() ? newestMs(path) : 0);
  }
  return newest;
}

export interface BuildCommand {
  command: string;
  args: readonly string[];
}
const NPM: BuildCommand = { command: 'npm', args: ['run', '--silent', 'build', '-w', '@outrider/console'] };

/**
 * Builds the console if it is missing or older than its sources. A failure is printed and does not prevent the start.
 *
 * @param print is passed the progress
 * @returns whether the console is up to date now
 */
export async function buildConsole(
  print: (text: string) => void,
  root: string = ROOT,
  { command, args }: BuildCommand = NPM,
): Promise<boolean> {
  if (!SOURCES.every((folder) => existsSync(join(root, folder, 'package.json')))) return false;
  const reason = reasonToBuild(root);
  if (reason === null) return true;
  // An installation without development dependencies can't build. Its console was built elsewhere.
  if (!existsSync(join(root, 'node_modules/vite'))) return false;
  print(`The console is ${reason}: building it …`);
  const startedMs = SYSTEM_CLOCK.now();
  const { code, output } = await run(command, args, root);
  const seconds = ((SYSTEM_CLOCK.now() - startedMs) / 1000).toFixed(1);
  if (code === 0) {
    print(` done in ${seconds} s.\n`);
    return true;
  }
  const lastLines = output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
  const instead = reason === 'missing' ? 'without it' : 'with the earlier one';
  print(` failed after ${seconds} s. The service starts ${instead}.\n${lastLines}\n`);
  return false;
}

function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const collect = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

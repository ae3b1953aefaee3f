import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { misspeltVariables } from '@outrider/runtime';
import { ensureCommands, isInPath } from '../servers/install.ts';
import { postgresBinary } from '../servers/postgres.ts';
import { faketimeLibrary } from './clock.ts';

const { errors, warnings } = misspeltVariables(['FAULT_ROUNDS', 'FAULT_SEED', 'FAULT_KINDS'], process.env);
for (const sentence of [...errors, ...warnings]) console.error(sentence);
if (errors.length > 0) process.exit(1);

/** Installs what the test of faults needs, where it may, and runs it. */
try {
  const commands = ['redis-server', 'initdb', 'java', 'mvn'];
  await ensureCommands(commands, console.log, (command) => isInPath(command) || existsSync(postgresBinary(command)));
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
// Without it clocks do not jump, and the test says so.
await ensureCommands(['libfaketime'], console.log, () => faketimeLibrary() !== null).catch((error: Error) =>
  console.error(error.message),
);
const child = spawn(
  'npx',
  [
    'vitest',
    'run',
    '--disable-console-intercept',
    '--project=faults',
    // Each takes all cores.
    '--no-file-parallelism',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit' },
);
child.once('exit', (code) => process.exit(code ?? 1));

import { ConfigError, createLogger, describeConfig, readConfig } from '@outrider/runtime';
import { variables } from './config.ts';
import { DataDirError } from './data-dir.ts';
import { runDemo } from './demo.ts';
import { startOutrider } from './outrider.ts';
import { rotateSigningKeys } from './rotate-keys.ts';
import { printWelcome } from './welcome.ts';

const USAGE = `usage: outrider <command>

  start         run the service
  demo          run the service with a fleet of 25 vehicles that drive
  rotate-keys   have a new key sign tokens, of a service that runs or not; the old one verifies until they are over
  help          print this

Settings come from environment variables: see the table in README.md.
`;

/** A second Ctrl-C within this time is the same one, told twice: by the terminal and by npm. */
const SAME_SIGNAL_MS = 1500;

const [command = 'start', ...rest] = process.argv.slice(2);
if (command === 'help' || command === '--help' || command === '-h') {
  process.stdout.write(USAGE);
} else if ((command === 'start' || command === 'demo') && rest.length === 0) {
  await run(command);
} else if (command === 'rotate-keys' && rest.length === 0) {
  try {
    process.stdout.write(await rotateSigningKeys(readConfig(variables, process.env), Date.now()));
  } catch (error) {
    process.stderr.write(`outrider: ${explain(error)}\n`);
    process.exitCode = 1;
  }
} else {
  process.stderr.write(`outrider: unknown command ${JSON.stringify([command, ...rest].join(' '))}\n\n${USAGE}`);
  process.exitCode = 1;
}

async function run(command: 'start' | 'demo'): Promise<void> {
  const stopped = stopSignal();
  try {
    const config = readConfig(variables, process.env);
    const diary = createLogger(config.LOG_LEVEL, config.LOG_FORMAT);
    diary.debug({ config: describeConfig(variables, config) }, 'configuration');
    const outrider = await startOutrider(config, diary);
    printWelcome(config, outrider);
    const demo = command === 'demo' ? await runDemo(config, outrider) : null;

    const reason = await Promise.race([stopped, outrider.failed.catch((error: unknown) => error)]);
    if (typeof reason === 'string')
      diary.info({ signal: reason }, 'stopping: no new packets; writing down what was taken');
    await demo?.stop();
    await outrider.stop();
    if (typeof reason !== 'string') throw reason;
    diary.info('stopped');
    process.exit(0);
  } catch (error) {
    process.stderr.write(`outrider: ${explain(error)}\n`);
    process.exit(1);
  }
}

/** Resolves with the first signal to stop; a further one, after a while, ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let firstAtMs: number | null = null;
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        const nowMs = Date.now();
        if (firstAtMs !== null && nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(130);
        firstAtMs ??= nowMs;
        resolve(signal);
      });
  });
}

/** What a person can act on is told as a sentence; anything else is a bug, and told with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DataDirError) return error.message;
  const { code, port, address, syscall, message, stack } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === 'EADDRINUSE')
    return `port ${port} is in use by another program: stop it, or set another port (see README.md)`;
  if (code === 'EACCES' && syscall === 'listen')
    return `port ${port} may not be listened on by this account: set a port above 1023`;
  if (code === 'EADDRNOTAVAIL') return `HOST ${address} is no address of this machine`;
  return stack ?? message ?? String(error);
}

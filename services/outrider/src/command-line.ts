import { SYSTEM_CLOCK } from '@outrider/domain';
import {
  collectStartGarbage,
  collectWhenQuiet,
  createLogger,
  describeConfig,
  expectShortLives,
  explainStart,
  type Logger,
  logWarnings,
  readConfig,
  stopSignal,
} from '@outrider/runtime';
import type { Command } from './command.ts';
import { variables } from './config.ts';
import type { Outrider } from './outrider.ts';
import { damagedDatabases, isDamage } from './upkeep/damaged-databases.ts';

/*
 * Each command imports only what it needs: modules imported by `start` stay in memory as long as the service runs.
 */

const usage = (cliHelp: string) => `usage: outrider <command>

  start         run the service
  demo          run the service with a fleet of 26 vehicles that drive, and a week of their past
  rotate-keys   have a new key sign tokens, of a service that runs or not; the old one verifies until they are over;
                --revoke: the old one verifies nothing any more, everybody has to log in again
  rotate-secrets  seal the secrets in the registry with another key, of a service that is stopped (on servers: with the first of
                SECRETS_KEY); --forget-lost: remove those that no key opens
  make-secrets FOLDER  write new passwords and keys for docker-compose.yml into a new folder, a file each
  users set-password LOGIN  give an account another password in the registry itself, where it was forgotten: of a
                service that is stopped (on servers: or runs); asks for it, or takes OUTRIDER_PASSWORD
  dead-letters  list: what could not be processed and was set aside, with the reason;
                replay <id>… or replay all: put it into its topic again
  definitions   status: compare topic definitions of the log with the registry;
                republish: publish the registry as it is, and delete there what it does not have
  registry      rebuild: write into a registry that lost them the definitions of the log; prints what it can't bring back
                check: look for rows that are not as they were written; accept: take them as they are
  kafka-replicas  status: compare the replicas of topics in Kafka with those wanted;
                raise: give topics the replicas that they lack, and wait for the copies
  doctor        check settings, disk, ports, servers, keys before a start, and say what to do; --json
  backup DIR    copy DATA_DIR into a new folder, of a service that runs or not; --base EARLIER: files that have not
                changed are links to an earlier backup; --with-secrets-key: include that key;
                backup --verify DIR: compare a backup with its checksums
  restore BACKUP --to DATA_DIR  copy a backup into an empty folder, for a service to start on
  import        csv FILE or gpx FILE: positions into the past of a vehicle (--vehicle ID) of a service that runs (--to URL);
                traccar: what a Traccar has (--url URL, or --database URL); see docs/guide.md
  help          print this

Settings come from environment variables: see docs/configuration.md.

Commands that use a running service by its API, at OUTRIDER_URL, with the API key OUTRIDER_KEY or after a login:

${cliHelp}
With --help, a command shows its options. See docs/command-line.md.
`;

/** Time within which an interrupted start has to stop in order. */
const START_ENDS_WITHIN_MS = 4000;

const [command = 'help', ...rest] = process.argv.slice(2);
if (command === 'help' || command === '--help' || command === '-h') {
  const { cliHelp } = await import('./cli/run.ts');
  process.stdout.write(usage(cliHelp()));
} else if ((command === 'start' || command === 'demo') && rest.length === 0) {
  await run(command);
} else if (command === 'rotate-keys' && (rest.length === 0 || (rest.length === 1 && rest[0] === '--revoke'))) {
  try {
    const { rotateSigningKeys } = await import('./upkeep/rotate-keys.ts');
    process.stdout.write(
      await rotateSigningKeys(readConfig(variables, process.env), SYSTEM_CLOCK.now(), rest.length > 0),
    );
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    process.exitCode = 1;
  }
} else if (command === 'rotate-secrets') {
  await answer(async () => (await import('./upkeep/rotate-secrets.ts')).runRotateSecrets);
} else if (command === 'make-secrets' && rest.length === 1) {
  try {
    const [folder = ''] = rest;
    const { makeSecrets } = await import('./upkeep/make-secrets.ts');
    process.stdout.write(`${makeSecrets(folder, process.env).length} files are in ${folder}: keep a copy elsewhere.\n`);
  } catch (error) {
    process.stderr.write(`outrider: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
} else if (command === 'users' && rest[0] === 'set-password') {
  await answer(async () => {
    const [{ setPasswordCommand }, { processTerminal }] = await Promise.all([
      import('./upkeep/set-password.ts'),
      import('./cli/terminal.ts'),
    ]);
    return setPasswordCommand(processTerminal());
  }, rest.slice(1));
} else if (command === 'dead-letters') {
  await answer(async () => (await import('./upkeep/dead-letters.ts')).runDeadLetters);
} else if (command === 'definitions') {
  await answer(async () => (await import('./definitions.ts')).runDefinitions);
} else if (command === 'registry') {
  await answer(async () => (await import('./registry.ts')).runRegistry);
} else if (command === 'kafka-replicas') {
  await answer(async () => (await import('./upkeep/kafka-replicas.ts')).runKafkaReplicas);
} else if (command === 'doctor') {
  const { runDoctor } = await import('./doctor/doctor.ts');
  await ended(() => runDoctor(rest, process.env, printLine));
} else if (command === 'backup') {
  await answer(async () => (await import('./backup/backup.ts')).runBackup);
} else if (command === 'restore') {
  await answer(async () => (await import('./backup/restore.ts')).runRestore);
} else if (command === 'import') {
  // A client of a service: the settings of this process do not apply to it.
  const { runImport } = await import('./import/import.ts');
  await ended(() => runImport(rest, process.env, printLine));
} else {
  await runAsClient();
}

/** Runs a client command; refuses unknown ones. */
async function runAsClient(): Promise<void> {
  const { cliHelp, isCliCommand, runCli } = await import('./cli/run.ts');
  if (isCliCommand(command)) {
    const { processTerminal } = await import('./cli/terminal.ts');
    process.exitCode = await runCli([command, ...rest], processTerminal());
    return;
  }
  const unknown = JSON.stringify([command, ...rest].join(' '));
  process.stderr.write(`outrider: unknown command ${unknown}\n\n${usage(cliHelp())}`);
  process.exitCode = 1;
}

/** Runs a command that prints its answer. */
function answer(load: () => Promise<Command>, words: readonly string[] = rest): Promise<void> {
  return ended(async () => {
    const config = readConfig(variables, process.env);
    const logger = createLogger(config.LOG_LEVEL, config.LOG_FORMAT);
    const command = await load();
    return command(words, config, logger, printLine);
  });
}

/** @param command returns the number of failures */
async function ended(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = (await command()) > 0 ? 1 : 0;
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    process.exitCode = 1;
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * Waits for the start. A signal to stop ends the process even before the start is complete, whatever it waits for:
 * until then the service has acknowledged nothing.
 */
async function unlessStopped(starting: Promise<Outrider>, stopped: Promise<string>, logger: Logger): Promise<Outrider> {
  const first = await Promise.race([starting, stopped]);
  if (typeof first !== 'string') return first;
  logger.info({ signal: first }, 'stopping before the start is complete');
  const ended = starting.then((outrider) => outrider.stop()).catch(() => {});
  await Promise.race([ended, SYSTEM_CLOCK.sleep(START_ENDS_WITHIN_MS)]);
  logger.info('stopped');
  process.exit(0);
}

async function run(command: 'start' | 'demo'): Promise<void> {
  expectShortLives();
  const stopped = stopSignal();
  try {
    const [{ waitForDisk }, { startOutrider }, { printWelcome }] = await Promise.all([
      import('./disk.ts'),
      import('./outrider.ts'),
      import('./welcome.ts'),
    ]);
    // The demo forwards to a receiver on this machine.
    const defaults = command === 'demo' ? { WEBHOOK_ALLOW_PRIVATE: 'yes' } : {};
    const config = readConfig(variables, { ...defaults, ...process.env });
    const logger = createLogger(config.LOG_LEVEL, config.LOG_FORMAT);
    logWarnings(logger);
    logger.debug({ config: describeConfig(variables, config) }, 'configuration');
    if (!(await waitForDisk(config, logger, stopped))) {
      logger.info('stopped');
      process.exit(0);
    }
    const demo = command === 'demo' ? (await import('./demo/demo.ts')).createDemo(config) : null;
    const starting = startOutrider(config, logger, demo?.prepare.bind(demo));
    const outrider = await unlessStopped(starting, stopped, logger);
    printWelcome(config, outrider);
    await demo?.start(outrider);
    await collectStartGarbage();
    collectWhenQuiet();

    const reason = await Promise.race([stopped, outrider.failed.catch((error: unknown) => error)]);
    if (typeof reason === 'string')
      logger.info({ signal: reason }, 'stopping: refusing new packets, saving received ones');
    await demo?.stop();
    await outrider.stop();
    if (typeof reason !== 'string') throw reason;
    logger.info('stopped');
    process.exit(0);
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    if (isDamage(error))
      for (const sentence of damagedDatabases(process.env.DATA_DIR ?? variables.DATA_DIR.fallback ?? ''))
        process.stderr.write(`outrider: ${sentence}\n`);
    process.exit(1);
  }
}

import {
  createLogger,
  describeConfig,
  expectShortLives,
  explainStart,
  logWarnings,
  readConfig,
  stopSignal,
} from '@outrider/runtime';
import type { Command } from './command.ts';
import { variables } from './config.ts';
import { runDeadLetters } from './dead-letters.ts';
import { runDefinitions } from './definitions.ts';
import { runDemo } from './demo.ts';
import { waitForDisk } from './disk.ts';
import { runKafkaReplicas } from './kafka-replicas.ts';
import { composeEnvironment } from './make-env.ts';
import { startOutrider } from './outrider.ts';
import { rotateSigningKeys } from './rotate-keys.ts';
import { runRotateSecrets } from './rotate-secrets.ts';
import { printWelcome } from './welcome.ts';

const USAGE = `usage: outrider <command>

  start         run the service
  demo          run the service with a fleet of 25 vehicles that drive
  rotate-keys   have a new key sign tokens, of a service that runs or not; the old one verifies until they are over;
                --revoke: the old one verifies nothing any more, everybody has to log in again
  rotate-secrets  seal the secrets in the registry with another key, of a service that is stopped (on servers: with the first of
                SECRETS_KEY); --forget-lost: remove those that no key opens
  make-env      print passwords and keys for docker-compose.yml, as a file .env takes them
  dead-letters  list: what could not be processed and was put aside, with the reason;
                replay <id>… or replay all: put it into its topic again
  definitions   status: compare topic definitions of the log with the registry;
                republish: publish again what is missing or older there
  kafka-replicas  status: compare the replicas of topics in Kafka with those wanted;
                raise: give topics the replicas that they lack, and wait for the copies
  help          print this

Settings come from environment variables: see docs/configuration.md.
`;

const [command = 'start', ...rest] = process.argv.slice(2);
if (command === 'help' || command === '--help' || command === '-h') {
  process.stdout.write(USAGE);
} else if ((command === 'start' || command === 'demo') && rest.length === 0) {
  await run(command);
} else if (command === 'rotate-keys' && (rest.length === 0 || (rest.length === 1 && rest[0] === '--revoke'))) {
  try {
    process.stdout.write(await rotateSigningKeys(readConfig(variables, process.env), Date.now(), rest.length > 0));
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    process.exitCode = 1;
  }
} else if (command === 'rotate-secrets') {
  await answer(runRotateSecrets);
} else if (command === 'make-env' && rest.length === 0) {
  process.stdout.write(composeEnvironment());
} else if (command === 'dead-letters') {
  await answer(runDeadLetters);
} else if (command === 'definitions') {
  await answer(runDefinitions);
} else if (command === 'kafka-replicas') {
  await answer(runKafkaReplicas);
} else {
  process.stderr.write(`outrider: unknown command ${JSON.stringify([command, ...rest].join(' '))}\n\n${USAGE}`);
  process.exitCode = 1;
}

/** Runs a command that prints its answer. */
async function answer(command: Command): Promise<void> {
  try {
    const config = readConfig(variables, process.env);
    const logger = createLogger(config.LOG_LEVEL, config.LOG_FORMAT);
    const failures = await command(rest, config, logger, (line) => process.stdout.write(`${line}\n`));
    process.exitCode = failures > 0 ? 1 : 0;
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    process.exitCode = 1;
  }
}

async function run(command: 'start' | 'demo'): Promise<void> {
  expectShortLives();
  const stopped = stopSignal();
  try {
    const config = readConfig(variables, process.env);
    const logger = createLogger(config.LOG_LEVEL, config.LOG_FORMAT);
    logWarnings(logger);
    logger.debug({ config: describeConfig(variables, config) }, 'configuration');
    if (!(await waitForDisk(config, logger, stopped))) {
      logger.info('stopped');
      process.exit(0);
    }
    const outrider = await startOutrider(config, logger);
    printWelcome(config, outrider);
    const demo = command === 'demo' ? await runDemo(config, outrider) : null;

    const reason = await Promise.race([stopped, outrider.failed.catch((error: unknown) => error)]);
    if (typeof reason === 'string')
      logger.info({ signal: reason }, 'stopping: no new packets; writing down what was taken');
    await demo?.stop();
    await outrider.stop();
    if (typeof reason !== 'string') throw reason;
    logger.info('stopped');
    process.exit(0);
  } catch (error) {
    process.stderr.write(`outrider: ${explainStart(error)}\n`);
    process.exit(1);
  }
}

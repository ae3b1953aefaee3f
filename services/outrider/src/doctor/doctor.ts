import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { ConfigError, createLogger, misspeltVariables, readConfig, StartError } from '@outrider/runtime';
import { variables } from '../config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkCertificate, checkDataDir, checkDescriptors, checkDisk, checkKeys } from './machine.ts';
import { checkPorts } from './ports.ts';
import { checkMail, checkServers } from './servers.ts';
import { checkWeakSettings } from './weak-settings.ts';

/**
 * `outrider doctor`: checks the requirements of a start and advises what to do. Prints a line for each check, or JSON
 * with `--json`. Changes nothing and does not disturb a running service.
 *
 * @returns 1 if there is a problem, otherwise 0
 * @throws {StartError} when the arguments are invalid
 */
export async function runDoctor(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<number> {
  const isJson = wantsJson(words);
  const findings = await examine(environment);
  const problems = findings.filter(({ status }) => status === 'problem').length;
  if (isJson) print(JSON.stringify(findings, null, 2));
  else for (const line of linesOf(findings)) print(line);
  return problems > 0 ? 1 : 0;
}

function wantsJson(words: readonly string[]): boolean {
  try {
    return parseArgs({ args: [...words], options: { json: { type: 'boolean' } } }).values.json ?? false;
  } catch (error) {
    throw new StartError('it is: doctor, or: doctor --json', { cause: error });
  }
}

function linesOf(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.map(
    ({ check, status, detail, todo }) =>
      `${status.padEnd(7)}  ${check.padEnd(width)}  ${detail}${todo === undefined ? '' : `: ${todo}`}`,
  );
  const count = (wanted: Finding['status']) => findings.filter(({ status }) => status === wanted).length;
  return [...lines, `problems: ${count('problem')}, warnings: ${count('warning')}`];
}

async function examine(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  let config: ReturnType<typeof readConfig<typeof variables>>;
  try {
    config = readConfig(variables, environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const wrong = error.problems.map((each) => problem('configuration', each, 'see docs/configuration.md'));
    return [...wrong, warning('other checks', 'left out', 'correct the settings, and ask again')];
  }
  const doubtful = misspeltVariables(Object.keys(variables), environment).warnings;
  const { finding: dataDir, isInUse } = checkDataDir(config);
  return [
    ok('configuration', `${Object.keys(variables).filter((name) => environment[name]).length} settings are set`),
    ...doubtful.map((each) => warning('configuration', each, 'correct or remove it')),
    dataDir,
    await checkDisk(config),
    checkDescriptors(config),
    ...(await checkPorts(config, isInUse)),
    ...(await checkServers(config, createLogger('fatal', config.LOG_FORMAT))),
    ...(await checkKeys(config)),
    ...checkCertificate(config, SYSTEM_CLOCK.now()),
    await checkMail(config),
    checkFfmpeg(config.FFMPEG),
    ...checkWeakSettings(config),
  ];
}

function checkFfmpeg(program: string): Finding {
  const { error } = spawnSync(program, ['-version'], { stdio: 'ignore', timeout: 10_000 });
  if (error === undefined) return ok('ffmpeg', `${program} runs`);
  return warning(
    'ffmpeg',
    `${program} does not run: ${error.message}`,
    'install it where cameras by RTSP or HTTP are used',
  );
}

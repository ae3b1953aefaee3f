import { backingOf, mailChannelOf, type ServerProbe, serverProbes } from '@outrider/backing';
import { createEmailChannel } from '@outrider/channels';
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Config, Logger } from '@outrider/runtime';
import type { variables } from '../config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Tolerance for clock differences, because a request takes some time. */
const CLOCK_WARNING_MS = 2000;
const CLOCK_PROBLEM_MS = 60_000;
const WITHIN_MS = 20_000;

/** Checks each server of the settings: connection, tested version, clock. */
export async function checkServers(config: Config<typeof variables>, logger: Logger): Promise<Finding[]> {
  const probes = serverProbes(backingOf(config, null), logger);
  return (await Promise.all(probes.map(checkServer))).flat();
}

export async function checkServer({ setting, name, testedFrom, probe }: ServerProbe): Promise<Finding[]> {
  const beganMs = SYSTEM_CLOCK.now();
  try {
    const { version, clockMs, warnings } = await within(WITHIN_MS, probe());
    const findings = warnings.map(({ detail, todo }) => warning(name, detail, todo));
    if (version !== null && testedFrom !== null && Number.parseInt(version, 10) < testedFrom)
      findings.push(warning(name, `version ${version}`, `update it: tested are versions from ${testedFrom} on`));
    if (clockMs !== null) {
      // The server responded between two moments; its header has whole seconds.
      const endedMs = SYSTEM_CLOCK.now();
      const offMs = clockMs > endedMs ? clockMs - endedMs : Math.max(0, beganMs - 1000 - clockMs);
      const detail = `the clocks of ${name} and this machine differ by ${(offMs / 1000).toFixed(1)} s`;
      if (offMs >= CLOCK_PROBLEM_MS) findings.push(problem(name, detail, 'set both by NTP'));
      else if (offMs >= CLOCK_WARNING_MS) findings.push(warning(name, detail, 'set both by NTP'));
    }
    return findings.length > 0 ? findings : [ok(name, version === null ? 'reachable' : `version ${version}`)];
  } catch (error) {
    return [problem(name, reasonOf(error), `start the server, or correct ${setting}`)];
  }
}

/** The reason of an error. A name with several addresses fails with one reason for each. */
function reasonOf(error: unknown): string {
  const errors = error instanceof AggregateError ? error.errors : [error];
  return errors.map((each) => (each instanceof Error ? each.message : String(each)).replaceAll(/\s+/g, ' ')).join(', ');
}

/** Checks whether e-mails can be sent. */
export async function checkMail(config: Config<typeof variables>): Promise<Finding> {
  const { SMTP_URL, PUBLIC_URL } = config;
  if (SMTP_URL === null) return ok('mail', 'SMTP_URL is not set: e-mails become files in DATA_DIR');
  const todo = 'correct SMTP_URL or MAIL_FROM';
  try {
    const channel = createEmailChannel({ ...mailChannelOf(config), now: SYSTEM_CLOCK.now });
    const failure = await channel.verify();
    await channel.close();
    if (failure !== null) return problem('mail', `the mail server can't be used: ${failure}`, todo);
  } catch (error) {
    return problem('mail', reasonOf(error), todo);
  }
  if (PUBLIC_URL === null)
    return warning('mail', 'links in e-mails begin with http://localhost', 'set PUBLIC_URL to where people reach it');
  return ok('mail', 'the mail server answers');
}

async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = SYSTEM_CLOCK.after(limitMs, () => reject(new Error(`no answer within ${limitMs / 1000} s`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    timer?.cancel();
  }
}

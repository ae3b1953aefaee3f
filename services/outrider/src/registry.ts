import { lackingOf, lostOf, type RegistryRebuild, rebuildRegistry } from '@outrider/api';
import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { StartError } from '@outrider/runtime';
import type { Command } from './command.ts';
import { withDefinitions } from './with-definitions.ts';

/** Data that exists only in the registry, not in any topic. */
const NOT_IN_THE_TOPIC = [
  'passwords, sessions, API keys, passkeys, second factors, links to sign-in providers',
  'e-mail addresses of accounts, confirmations of addresses, dates on which accounts expire, preferences, quotas',
  'message channels, secrets of webhooks, addresses of video streams, forwarding destinations, links of shares',
  'report templates, schedules and files, the inbox of notifications, deliveries on their way',
  'assignments of drivers to vehicles by hand, counters and their corrections, maintenance plans and service records',
  'commands, video tasks, jobs, erasures that were planned, retention of fleets, names of deleted geofences, audit trail',
];

/**
 * `outrider registry rebuild` restores data that the registry has lost from topic `definitions`; `check` looks for
 * damaged rows; `accept` accepts them unchanged.
 *
 * @returns the exit code: 1 if the topic differs from the registry afterwards, or rows are damaged
 * @throws {StartError} when the arguments are invalid, or a service is publishing; {DataDirError} when an embedded log
 *   or registry is in use
 */
export const runRegistry: Command = async (words, config, logger, print) => {
  const [word, ...more] = words;
  if (more.length > 0 || (word !== 'rebuild' && word !== 'check' && word !== 'accept'))
    throw new StartError('it is: registry rebuild, registry check or registry accept');
  if (word !== 'rebuild')
    return withDefinitions(config, logger, (registry) => checkRows(registry, word === 'accept', print));
  const rebuild = await withDefinitions(config, logger, (registry, log) =>
    rebuildRegistry(registry, log, SYSTEM_CLOCK.now),
  );
  printRebuild(rebuild, print);
  return lackingOf(rebuild.difference) + lostOf(rebuild.difference) === 0 ? 0 : 1;
};

async function checkRows(registry: Registry, accept: boolean, print: (line: string) => void): Promise<number> {
  const { rowSums } = registry;
  if (rowSums === null) {
    const hasSums = await registry.hasPageSums();
    print(`PostgreSQL ${hasSums ? 'keeps' : 'does not keep'} check sums of its pages (data_checksums)`);
    return hasSums ? 0 : 1;
  }
  const findings = await rowSums.check();
  for (const finding of findings) print(`damaged: ${finding}`);
  for (const { table, key } of rowSums.damaged) print(`damaged row: ${table} ${key}`);
  if (accept) {
    rowSums.reindex();
    rowSums.accept();
    return printChecked(await rowSums.check(), 0, print);
  }
  return printChecked(findings, rowSums.damaged.length, print);
}

function printChecked(findings: readonly string[], rows: number, print: (line: string) => void): number {
  print(findings.length + rows === 0 ? 'the registry is as it was written' : `damaged rows: ${rows}`);
  return findings.length + rows === 0 ? 0 : 1;
}

function printRebuild(
  { written, deleted, logins, rules, profiles, difference }: RegistryRebuild,
  print: (line: string) => void,
): void {
  const counts = (of: RegistryRebuild['written']) =>
    of.size === 0 ? 'none' : [...of].map(([kind, count]) => `${kind}: ${count}`).join(', ');
  print(`definitions written: ${counts(written)}`);
  print(`definitions deleted: ${counts(deleted)}`);
  if (logins.length > 0) {
    print('accounts without a password (outrider users set-password LOGIN):');
    for (const login of logins) print(`  ${login}`);
  }
  if (rules.length > 0) {
    print('notification rules without their message channels or the secret of their webhook (save them again):');
    for (const rule of rules) print(`  ${rule}`);
  }
  if (profiles.length > 0) {
    print('video profiles without the address of their stream:');
    for (const profile of profiles) print(`  ${profile}`);
  }
  print(`definitions that still differ: ${lostOf(difference)}`);
  print('not in the topic, and lost where the registry does not have it:');
  for (const line of NOT_IN_THE_TOPIC) print(`  ${line}`);
}

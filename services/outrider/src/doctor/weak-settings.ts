import { weaknessOf } from '@outrider/access';
import { ADMIN_LOGIN } from '@outrider/api';
import type { Config } from '@outrider/runtime';
import type { variables } from '../config.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const LOCAL = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** Finds working but insecure settings, by which others could get access or read data. */
export function checkWeakSettings(config: Config<typeof variables>): Finding[] {
  const findings: Finding[] = [];
  const add = (detail: string, todo: string) => findings.push(warning('weak settings', detail, todo));
  const { ADMIN_PASSWORD, PUBLIC_URL, DATABASE_URL, KAFKA_BROKERS } = config;
  if (ADMIN_PASSWORD !== null && weaknessOf(ADMIN_PASSWORD, [ADMIN_LOGIN]) !== null)
    findings.push(
      problem('weak settings', 'ADMIN_PASSWORD is easily guessed', 'set another; the first start refuses it'),
    );
  if (PUBLIC_URL !== null && !isSafe(PUBLIC_URL, 'https:'))
    add(
      'PUBLIC_URL is http: passwords and cookies can be read on their way',
      'use https, see docs/operations/proxies.md',
    );
  if (config.WEBHOOK_ALLOW_PRIVATE === 'yes')
    add('WEBHOOK_ALLOW_PRIVATE lets users send requests into the own network', 'unset it where users are not trusted');
  if (config.VIDEO_ALLOW_PRIVATE === 'yes')
    add('VIDEO_ALLOW_PRIVATE lets users reach cameras inside the own network', 'unset it where users are not trusted');
  if (config.TRUSTED_PROXIES.some((range) => /\/0+$/.test(range)))
    add('TRUSTED_PROXIES believes everybody: limits by address can be evaded', 'name the addresses of the proxies');
  for (const [setting, protocol] of [
    ['REDIS_URL', 'rediss:'],
    ['CLICKHOUSE_URL', 'https:'],
  ] as const) {
    const url = config[setting];
    if (url !== null && !isSafe(url, protocol)) inClear(setting, `use ${protocol}//`);
  }
  if (DATABASE_URL !== null && !isLocal(DATABASE_URL) && !/sslmode=(require|verify-)/.test(DATABASE_URL))
    inClear('DATABASE_URL', 'add ?sslmode=verify-full');
  if (
    KAFKA_BROKERS !== null &&
    config.KAFKA_SSL === 'no' &&
    !KAFKA_BROKERS.every((broker) => LOCAL.test(hostOf(broker)))
  )
    inClear('KAFKA_BROKERS', 'set KAFKA_SSL=yes');
  return findings.length > 0 ? findings : [ok('weak settings', 'none')];

  function inClear(setting: string, todo: string): void {
    add(`${setting} is reached without TLS`, `${todo}, unless the network is trusted`);
  }
}

function isSafe(url: string, protocol: string): boolean {
  return new URL(url).protocol === protocol || isLocal(url);
}

function isLocal(url: string): boolean {
  return LOCAL.test(new URL(url).hostname);
}

function hostOf(broker: string): string {
  return broker.replace(/:\d+$/, '');
}

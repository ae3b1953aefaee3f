import { describe, expect, test } from 'vitest';
import { givenServers } from '../distributed.fixture.ts';
import { runDoctor } from './doctor.ts';
import type { Finding } from './finding.ts';

const NAMES = {
  KAFKA_BROKERS: 'Kafka',
  REDIS_URL: 'Redis',
  DATABASE_URL: 'PostgreSQL',
  CLICKHOUSE_URL: 'ClickHouse',
  S3_URL: 'S3',
} as const;

describe.skipIf(givenServers() === null)('doctor', () => {
  test('finds the servers that are given, with the time of this machine', async () => {
    const given = Object.entries(NAMES).filter(([setting]) => process.env[setting]);
    const environment = Object.fromEntries(given.map(([setting]) => [setting, process.env[setting]]));
    const printed: string[] = [];
    await runDoctor(['--json'], { ...environment, KAFKA_REPLICATION_FACTOR: '1' }, (line) => printed.push(line));
    const findings = JSON.parse(printed.join('\n')) as Finding[];
    const names: readonly string[] = Object.values(NAMES);
    expect(findings.filter(({ check }) => names.includes(check)).map(({ check, status }) => [check, status])).toEqual(
      given.map(([, name]) => [name, 'ok']),
    );
  });
});

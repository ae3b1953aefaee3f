import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiVariables } from '@outrider/api';
import { archiverVariables } from '@outrider/archiver';
import {
  accessVariables,
  folderVariables,
  logVariables,
  mailVariables,
  reportStoreVariables,
  serverVariables,
  videoStoreVariables,
} from '@outrider/backing';
import { gatewayVariables } from '@outrider/gateway';
import { notifierVariables } from '@outrider/notifier';
import { reporterVariables } from '@outrider/reporter';
import { rulesVariables } from '@outrider/rules';
import { readConfig, serviceVariables, type Variables } from '@outrider/runtime';
import { videoVariables } from '@outrider/video';
import { clickhouseVersion } from '@outrider/warehouse/clickhouse-server';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { COMPOSE_SECRETS, composeEnvironment } from './make-env.ts';

const ROOT = join(import.meta.dirname, '../../..');
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const document = parseDocument(text, { merge: true, uniqueKeys: true });

/** What each service that runs alone reads. */
const VARIABLES: Record<string, Variables> = {
  gateway: { ...gatewayVariables, ...logVariables, ...serverVariables },
  rules: { ...rulesVariables, ...logVariables, ...serverVariables },
  recalculator: { ...logVariables, ...serverVariables },
  archiver: { ...archiverVariables, ...logVariables, ...serverVariables },
  notifier: { ...accessVariables, ...notifierVariables, ...mailVariables, ...logVariables, ...serverVariables },
  video: { ...folderVariables, ...videoVariables, ...videoStoreVariables, ...logVariables, ...serverVariables },
  api: {
    ...accessVariables,
    ...apiVariables,
    ...reportStoreVariables,
    ...videoStoreVariables,
    ...logVariables,
    ...serverVariables,
  },
  reporter: { ...accessVariables, ...mailVariables, ...reporterVariables, ...logVariables, ...serverVariables },
};
/** What runs from another's image. */
const IMAGE_OF: Record<string, string> = { recalculator: 'rules' };
const SERVERS = ['kafka', 'redis', 'postgres', 'clickhouse', 'storage'];

interface Service {
  networks: string[];
  image?: string;
  command?: string[];
  build?: { context: string; args: Record<string, string> };
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck: { test: string[]; interval: string; timeout: string; retries: number; start_period?: string };
  depends_on?: Record<string, { condition: string }>;
  deploy: { replicas?: number; resources: { limits: { cpus: string; memory: string } } };
  [key: string]: unknown;
}
const compose = document.toJS() as {
  name: string;
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean } | null>;
  [key: string]: unknown;
};
const services = Object.entries(compose.services);

/** Keys of the Compose Specification that stand at the top, and in a service. */
const TOP = new Set(['name', 'services', 'volumes', 'networks', 'configs', 'secrets', 'include']);
const OF_SERVICE = new Set(
  'build cap_add cap_drop command configs container_name cpus depends_on deploy entrypoint env_file environment expose extra_hosts healthcheck hostname image init labels logging mem_limit networks platform ports privileged profiles pull_policy read_only restart secrets security_opt shm_size stop_grace_period stop_signal sysctls tmpfs ulimits user volumes working_dir'.split(
    ' ',
  ),
);
const DURATION = /^(\d+(us|ms|s|m|h))+$/;
const BYTES = /^\d+(b|k|m|g|kb|mb|gb)$/i;

describe('docker-compose.yml', () => {
  test('is YAML without mistakes, of the keys that the specification has', () => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    expect(Object.keys(compose).filter((key) => !TOP.has(key) && !key.startsWith('x-'))).toEqual([]);
    expect(compose.name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
    for (const [name, service] of services)
      expect([name, Object.keys(service).filter((key) => !OF_SERVICE.has(key))]).toEqual([name, []]);
  });

  test('has the servers and the services, and no others', () => {
    expect(Object.keys(compose.services).toSorted()).toEqual([...SERVERS, ...Object.keys(VARIABLES)].toSorted());
  });

  test('the servers are reached by the services alone: no published port, on a network that leads nowhere else', () => {
    expect(compose.networks.inner?.internal).toBe(true);
    for (const [name, { networks, ports }] of services) {
      expect(networks).toContain('inner');
      expect(networks.every((network) => network in compose.networks)).toBe(true);
      if (SERVERS.includes(name)) expect([name, networks, ports]).toEqual([name, ['inner'], undefined]);
      else if (ports !== undefined) expect([name, networks]).toEqual([name, ['inner', 'outer']]);
    }
  });

  test.each(services)('%s has a health check, limits, and only references that exist', (_, service) => {
    const { healthcheck, depends_on = {}, deploy, volumes = [], ports = [] } = service;
    expect(healthcheck.test[0]).toBe('CMD');
    for (const time of [healthcheck.interval, healthcheck.timeout, healthcheck.start_period ?? '1s'])
      expect(time).toMatch(DURATION);
    expect(healthcheck.retries).toBeGreaterThan(0);
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(SERVERS).toContain(other);
      expect(condition).toBe('service_healthy');
    }
    expect(Number(deploy.resources.limits.cpus)).toBeGreaterThan(0);
    expect(deploy.resources.limits.memory).toMatch(BYTES);
    expect(service.restart).toBe('unless-stopped');
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0]);
    for (const port of ports) expect(port).toMatch(/^(127\.0\.0\.1:)?\d+(-\d+)?:\d+$/);
    expect(service.image).toMatch(/^[a-z0-9./-]+(:[\w.-]+)?$/);
  });

  test('the ClickHouse is of the version that is tested', async () => {
    const [major, minor] = (await clickhouseVersion()).split('.');
    expect(compose.services.clickhouse?.image).toBe(`clickhouse/clickhouse-server:${major}.${minor}`);
  });

  test('no password and no key has a default: without those of make-env nothing starts', () => {
    const needed = new Set<string>();
    for (const [, name = '', form = ''] of text.matchAll(/\$\{([A-Z][A-Z0-9_]*)([^}]*)\}/g)) {
      if (/PASSWORD|SECRET|KEY/.test(name)) needed.add(name);
      expect([name, form]).toEqual([name, expect.stringMatching(needed.has(name) ? /^:\?run make-env$/ : /^:-/)]);
    }
    expect([...needed].toSorted()).toEqual(Object.keys(COMPOSE_SECRETS));
    // Nothing is left of the words that were passwords once.
    expect(text).not.toMatch(/:outrider@|(PASSWORD|SECRET|KEY): outrider$/m);
  });

  test('make-env prints what is needed, anew each time', () => {
    const values = [composeEnvironment(), composeEnvironment()].map((printed) => environmentOf(printed));
    for (const value of values) expect(Object.keys(value)).toEqual(Object.keys(COMPOSE_SECRETS));
    const all = values.flatMap((value) => Object.values(value));
    expect(new Set(all).size).toBe(2 * Object.keys(COMPOSE_SECRETS).length);
    for (const value of all) expect(value).toMatch(/^([0-9a-f]{48}|[A-Za-z0-9+/]{43}=)$/);
  });

  test.each(Object.entries(VARIABLES))(
    '%s is given variables that it reads, with values that it takes',
    (name, variables) => {
      const { environment = {}, build, command } = compose.services[name] as Service;
      const image = IMAGE_OF[name] ?? name;
      expect(build).toEqual({ context: '.', args: { SERVICE: image } });
      const [node, main, ...more] = command ?? ['node', `services/${image}/src/main.ts`];
      expect([node, more]).toEqual(['node', []]);
      expect(main).toContain(`services/${image}/`);
      expect(existsSync(join(ROOT, main ?? ''))).toBe(true);
      const known = { ...variables, ...serviceVariables };
      expect(Object.keys(environment).filter((variable) => !(variable in known))).toEqual([]);
      const made = environmentOf(composeEnvironment());
      const asSet = Object.fromEntries(
        Object.entries(environment).map(([variable, value]) => [
          variable,
          String(value).replaceAll(
            /\$\{([A-Z][A-Z0-9_]*):[-?]([^}]*)\}/g,
            (_, variable: string, fallback: string) => made[variable] ?? fallback,
          ),
        ]),
      );
      const config = readConfig(known, asSet) as Record<string, unknown>;
      expect(config.KAFKA_BROKERS).toEqual(['kafka:9092']);
      // A service waits for exactly the servers that its settings name.
      const asked = ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL'].filter(
        (url) => asSet[url],
      );
      expect(Object.keys((compose.services[name] as Service).depends_on ?? {})).toHaveLength(asked.length);
    },
  );
});

/** The variables of a file as Compose reads it. */
function environmentOf(file: string): Record<string, string> {
  const lines = file.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

test('the Dockerfile runs any service by its name, and not as root', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain('ARG SERVICE=outrider');
  expect(dockerfile).toContain('services/$SERVICE/src/main.ts');
  expect(dockerfile).toMatch(/^USER node$/m);
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  for (const needed of ['packages', 'services', 'package.json', 'package-lock.json', 'schemas'])
    expect(ignored).not.toContain(needed);
  // What an image must never hold: passwords, keys and what people stored.
  for (const kept of ['.env', 'data']) expect(ignored).toContain(kept);
});

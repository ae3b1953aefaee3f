import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { datagramProtocols, protocols } from '@outrider/protocols';
import { readConfig, serviceVariables, type Variables } from '@outrider/runtime';
import { clickhouseVersion } from '@outrider/warehouse/clickhouse-server';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseDocument } from 'yaml';
import { IMAGE_OF, VARIABLES } from './deployed-services.fixture.ts';
import { makeSecrets } from './upkeep/make-secrets.ts';

const ROOT = join(import.meta.dirname, '../../..');
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const document = parseDocument(text, { merge: true, uniqueKeys: true });

const SERVERS = ['kafka', 'redis', 'postgres', 'clickhouse', 'storage'];
/** What people, programs and terminals come in by. */
const PROXIES = ['proxy', 'terminals'];
const MONITORING = ['prometheus', 'grafana'];

interface Service {
  networks: string[];
  image?: string;
  command?: string[];
  build?: { context: string; args: Record<string, string> };
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  profiles?: string[];
  secrets?: string[];
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
  secrets: Record<string, { file: string }>;
  networks: Record<string, { internal?: boolean } | null>;
  [key: string]: unknown;
};
const services = Object.entries(compose.services);
const folder = mkdtempSync(join(tmpdir(), 'outrider-compose-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
    expect(Object.keys(compose.services).toSorted()).toEqual(
      [...PROXIES, ...SERVERS, ...MONITORING, ...Object.keys(VARIABLES)].toSorted(),
    );
  });

  test('what comes from outside comes by the proxies, and as datagrams or video', () => {
    const { inner, front, edge, outer } = compose.networks;
    expect([inner?.internal, front?.internal, edge, outer]).toEqual([true, true, null, null]);
    for (const [name, { networks, ports = [] }] of services) {
      if (SERVERS.includes(name)) expect([name, networks, ports]).toEqual([name, ['inner'], []]);
      else if (PROXIES.includes(name)) expect([name, networks]).toEqual([name, ['front', 'edge']]);
      else if (MONITORING.includes(name)) {
        expect([name, networks]).toEqual([name, ['inner', 'edge']]);
        for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
      } else {
        expect([name, networks[0]]).toEqual([name, 'inner']);
        // A proxy is in no network of theirs but the one whose addresses are believed.
        expect([name, networks.includes('edge')]).toEqual([name, false]);
        if (ports.length > 0) expect(['datagrams', 'video']).toContain(name);
      }
    }
    // What is scaled publishes nothing: a second instance would find the port taken.
    for (const name of ['gateway', 'rules', 'archiver', 'notifier', 'api', 'reporter'])
      expect([name, compose.services[name]?.ports]).toEqual([name, undefined]);
  });

  test('the proxies lead to the ports of all protocols, and are believed by their network', () => {
    const tcp = protocols.map(({ defaultPort }) => String(defaultPort));
    const haproxy = readFileSync(join(ROOT, 'deploy/terminals/haproxy.cfg'), 'utf8');
    expect([...haproxy.matchAll(/^ {2}bind :(\d+)$/gm)].map(([, port]) => port).toSorted()).toEqual(tcp.toSorted());
    expect(compose.services.terminals?.ports?.toSorted()).toEqual(tcp.map((port) => `${port}:${port}`).toSorted());
    const udp = datagramProtocols.map(({ defaultPort }) => `${defaultPort}:${defaultPort}/udp`);
    expect(compose.services.datagrams?.ports?.toSorted()).toEqual(udp.toSorted());
    const [{ subnet }] = (compose.networks.front as { ipam: { config: [{ subnet: string }] } }).ipam.config;
    for (const [name, setting] of Object.entries({
      gateway: 'TERMINAL_PROXIES',
      api: 'TRUSTED_PROXIES',
      notifier: 'TRUSTED_PROXIES',
    })) {
      expect([name, compose.services[name]?.environment?.[setting]]).toEqual([name, subnet]);
      expect(compose.services[name]?.networks).toContain('front');
    }
    // Where nobody is a proxy, nobody may say so.
    expect(compose.services.datagrams?.environment).not.toHaveProperty('TERMINAL_PROXIES');
  });

  test.each(services)(
    '%s has a health check, limits, no privileges, and only references that exist',
    (name, service) => {
      const { healthcheck, depends_on = {}, deploy, volumes = [], ports = [], networks } = service;
      expect(healthcheck.test[0]).toBe('CMD');
      for (const time of [healthcheck.interval, healthcheck.timeout, healthcheck.start_period ?? '1s'])
        expect(time).toMatch(DURATION);
      expect(healthcheck.retries).toBeGreaterThan(0);
      for (const [other, { condition }] of Object.entries(depends_on)) {
        expect([...SERVERS, ...MONITORING]).toContain(other);
        expect(condition).toBe('service_healthy');
      }
      expect(Number(deploy.resources.limits.cpus)).toBeGreaterThan(0);
      expect(deploy.resources.limits.memory).toMatch(BYTES);
      expect(service.restart).toBe('unless-stopped');
      expect(service.cap_drop).toEqual(['ALL']);
      expect(service.security_opt).toEqual(['no-new-privileges:true']);
      // The images of these write where they are installed.
      if (!['kafka', 'clickhouse', 'storage'].includes(name)) expect(service.read_only).toBe(true);
      for (const network of networks) expect(Object.keys(compose.networks)).toContain(network);
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
      for (const port of ports) expect(port).toMatch(/^(127\.0\.0\.1:)?\d+(-\d+)?:\d+(\/udp)?$/);
      // What is not built here has a version, and can be pinned by its digest; so has what is built upon.
      const pinned = /^\$\{[A-Z]+_IMAGE:-[a-z0-9./-]+:v?\d[\w.-]*\}$/;
      if (service.build === undefined) expect(service.image).toMatch(pinned);
      else {
        expect(service.image).toMatch(/^outrider\/[a-z]+$/);
        for (const [arg, value] of Object.entries(service.build.args))
          expect(value).toMatch(arg.endsWith('_IMAGE') ? pinned : /^[a-z]+$/);
      }
      // A secret is given to who reads it, and read from where it is given.
      const {
        command = [],
        healthcheck: { test: check },
        environment = {},
      } = service;
      const named = JSON.stringify([environment, command, check, service.entrypoint]).matchAll(
        /\/run\/secrets\/(\w+)/g,
      );
      const read = new Set([...named].map(([, secret]) => secret));
      if (name === 'prometheus') read.add('metrics_token');
      expect([...read].toSorted()).toEqual((service.secrets ?? []).toSorted());
    },
  );

  test('the ClickHouse is of the version that is tested', async () => {
    const [major, minor] = (await clickhouseVersion()).split('.');
    expect(compose.services.clickhouse?.image).toContain(`:-clickhouse/clickhouse-server:${major}.${minor}}`);
  });

  test('pin-images prints a setting for each image, with its digest, and nothing where one is unknown', async () => {
    const docker = join(folder, 'docker');
    const pin = () =>
      promisify(execFile)(join(ROOT, 'deploy/pin-images'), { env: { PATH: `${folder}:${process.env.PATH}` } });
    writeFileSync(docker, `#!/bin/sh\n[ "$6" ] && echo sha256:${'a'.repeat(64)}\n`, { mode: 0o755 });
    const images = [...text.matchAll(/\$\{([A-Z]+_IMAGE):-([^}]+)\}/g)].map(([, name, image]) => `${name}=${image}`);
    const lines = (await pin()).stdout.trim().split('\n');
    expect(lines.toSorted()).toEqual([...new Set(images)].map((line) => `${line}@sha256:${'a'.repeat(64)}`).toSorted());
    expect(lines.length).toBeGreaterThan(9);
    writeFileSync(docker, '#!/bin/sh\necho "no such manifest"\n', { mode: 0o755 });
    await expect(pin()).rejects.toMatchObject({ stdout: '', stderr: expect.stringContaining('no digest of') });
  });

  test('publish-images attests each image, builds on pinned ones, and prints values of the chart', async () => {
    const docker = join(folder, 'docker');
    const calls = join(folder, 'calls');
    const digest = `sha256:${'b'.repeat(64)}`;
    const publish = (...words: string[]) =>
      promisify(execFile)(join(ROOT, 'deploy/publish-images'), words, {
        env: { PATH: `${folder}:${process.env.PATH}` },
      });
    const fake = (metadata: string) =>
      writeFileSync(
        docker,
        `#!/bin/bash
if [ "$2" = imagetools ]; then echo ${digest}; exit; fi
echo "$@" >> ${calls}
while [ $# -gt 0 ]; do [ "$1" = --metadata-file ] && echo '${metadata}' > "$2"; shift; done
`,
        { mode: 0o755 },
      );
    fake(`{"containerimage.config.digest": "sha256:${'c'.repeat(64)}", "containerimage.digest": "${digest}"}`);
    const values = parse((await publish('registry.example.com/outrider', '0.3.0')).stdout);
    const { image } = parse(readFileSync(join(ROOT, 'deploy/helm/values.yaml'), 'utf8'));
    expect(values.image).toMatchObject({ repository: 'registry.example.com/outrider', tag: '0.3.0' });
    for (const name of Object.keys(values.image)) expect(Object.keys(image)).toContain(name);
    const built = readFileSync(calls, 'utf8').trim().split('\n');
    const names = Object.keys(values.image.digests);
    expect(built).toHaveLength(names.length);
    for (const { image: name = '' } of Object.values(compose.services))
      if (name.startsWith('outrider/')) expect(names).toContain(name.slice('outrider/'.length));
    for (const call of built) {
      expect(call).toContain('--provenance=mode=max --sbom=true');
      expect(call).toMatch(new RegExp(`--build-arg (?:NODE|CADDY)_IMAGE=\\S+@${digest}`));
    }
    expect(values.image.digests.api).toBe(digest);
    fake('{}');
    await expect(publish('registry.example.com/outrider', '0.3.0')).rejects.toMatchObject({
      stderr: expect.stringContaining('without a digest'),
    });
    await expect(publish('x')).rejects.toMatchObject({ code: 2 });
  });

  test('no password and no key is in a variable, or has a default', () => {
    for (const [, name = '', form = ''] of text.matchAll(/\$\{([A-Z][A-Z0-9_]*)([^}]*)\}/g)) {
      expect(name).not.toMatch(/PASSWORD|SECRET_|SECRET$|KEY|TOKEN/);
      expect([name, form]).toEqual([name, expect.stringMatching(/^:-/)]);
    }
    expect(text).not.toMatch(/:outrider@|(PASSWORD|SECRET|KEY|TOKEN): /m);
  });

  test('make-secrets writes what is needed, for others unreadable, anew each time and never over another', () => {
    const files = Object.entries(compose.secrets).map(([name, { file }]) => {
      expect(file).toBe(`\${SECRETS_DIR:-./secrets}/${name}`);
      return name;
    });
    const made = ['one', 'two'].map((name) => {
      const path = join(folder, name);
      expect(makeSecrets(path).toSorted()).toEqual(files.toSorted());
      expect(statSync(path).mode & 0o777).toBe(0o700);
      return secretsIn(path);
    });
    const [one = {}, two = {}] = made;
    for (const name of files) {
      if (name === 'smtp_url') expect(one[name]).toBe('');
      else expect([name, one[name]]).not.toEqual([name, two[name]]);
      if (!name.endsWith('_url')) expect(one[name]).toMatch(/^([0-9a-f]{48}|[A-Za-z0-9+/]{43}=)$/);
    }
    expect(one.database_url).toContain(one.postgres_password);
    expect(() => makeSecrets(join(folder, 'one'))).toThrow(/EEXIST/);
    expect(secretsIn(join(folder, 'one'))).toEqual(one);
  });

  test('make-secrets takes over the settings of an installation that had them in variables', () => {
    const path = join(folder, 'old');
    makeSecrets(path, { POSTGRES_PASSWORD: 'from-before' });
    expect(secretsIn(path)).toMatchObject({
      postgres_password: 'from-before',
      database_url: 'postgres://outrider:from-before@postgres:5432/outrider',
    });
  });

  test.each(Object.entries(VARIABLES))(
    '%s is given variables that it reads, with values that it takes',
    (name, variables) => {
      const { environment = {}, build, command } = compose.services[name] as Service;
      const image = IMAGE_OF[name] ?? name;
      expect(build).toEqual({
        context: '.',
        args: { SERVICE: image, NODE_IMAGE: expect.stringContaining('node:26-') },
      });
      expect(compose.services[name]?.image).toBe(`outrider/${image}`);
      const [node, main, ...more] = command ?? ['node', `services/${image}/src/main.ts`];
      expect([node, more]).toEqual(['node', []]);
      expect(main).toContain(`services/${image}/`);
      expect(existsSync(join(ROOT, main ?? ''))).toBe(true);
      const known: Variables = { ...variables, ...serviceVariables };
      const read = (variable: string) => variable in known || known[variable.replace(/_FILE$/, '')]?.secret === true;
      expect(Object.keys(environment).filter((variable) => !read(variable))).toEqual([]);
      const secrets = join(folder, name);
      makeSecrets(secrets);
      const asSet = Object.fromEntries(
        Object.entries(environment).map(([variable, value]) => [
          variable,
          String(value)
            .replaceAll(/\$\{[A-Z][A-Z0-9_]*:-([^}]*)\}/g, '$1')
            .replace('/run/secrets', secrets),
        ]),
      );
      const config = readConfig(known, asSet) as Record<string, unknown>;
      expect(config.KAFKA_BROKERS).toEqual(['kafka:9092']);
      // A service waits for exactly the servers that its settings name.
      const asked = ['KAFKA_BROKERS', 'REDIS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', 'S3_URL'].filter(
        (url) => asSet[url] ?? asSet[`${url}_FILE`],
      );
      expect(Object.keys((compose.services[name] as Service).depends_on ?? {})).toHaveLength(asked.length);
      for (const url of asked) expect([url, config[url]]).not.toEqual([url, null]);
    },
  );
});

function secretsIn(path: string): Record<string, string> {
  return Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'utf8').trim()]));
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
  for (const kept of ['.env', 'secrets', 'data']) expect(ignored).toContain(kept);
});

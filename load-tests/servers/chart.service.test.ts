import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { datagramProtocols, protocols } from '@outrider/protocols';
import { readConfig, serviceVariables, type Variables } from '@outrider/runtime';
import { afterAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { IMAGE_OF, VARIABLES } from '../../services/outrider/src/deployed-services.fixture.ts';
import {
  HELM_PROGRAM,
  hasChartTools,
  KUBECONFORM_PROGRAM,
  KUBERNETES_SCHEMAS,
  KUBERNETES_VERSION,
} from './chart-tools.ts';

const CHART = join(import.meta.dirname, '../../deploy/helm');
const run = promisify(execFile);
/** What is a secret, or holds one, comes as a file; services read it as a setting. */
const IN_FILES = {
  DATABASE_URL: 'postgresql://postgres/outrider',
  REDIS_URL: 'redis://redis:6379',
  CLICKHOUSE_URL: 'http://clickhouse:8123',
  S3_URL: 'https://s3.example.com/bucket',
  TERMINAL_SECRET: 'a secret of terminals that is long enough',
};
const isThere = hasChartTools();
if (!isThere) console.warn('helm and kubeconform are not installed: the Helm chart is not tried');

const folder = mkdtempSync(join(tmpdir(), 'outrider-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Container {
  image: string;
  command?: string[];
  env: { name: string; value: string }[];
  ports: { name: string; containerPort: number; protocol?: string }[];
  securityContext: object;
}
interface Resource {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    template?: { spec: { containers: [Container]; securityContext: object; automountServiceAccountToken: boolean } };
    replicas?: number;
    type?: string;
    podSelector?: { matchLabels: Record<string, string> };
    egress?: unknown[];
  };
}

const files = { generated: join(CHART, 'ci/generated.yaml'), existing: join(CHART, 'ci/existing.yaml') };

async function render(file: string, ...more: string[]): Promise<Resource[]> {
  const args = ['template', 'fleet', CHART, '--kube-version', KUBERNETES_VERSION, '-f', file, ...more];
  const { stdout } = await run(HELM_PROGRAM, args, { maxBuffer: 1 << 24 });
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Resource | null)
    .filter((resource) => resource !== null);
}

const workloads = (resources: readonly Resource[]) =>
  resources.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');

describe.skipIf(!isThere)('deploy/helm', { timeout: 120_000 }, () => {
  test.each(Object.entries(files))(
    '%s: Kubernetes takes what it makes, and lint has no word against it',
    async (_, file) => {
      await run(HELM_PROGRAM, ['lint', '--strict', '--kube-version', KUBERNETES_VERSION, CHART, '-f', file]);
      const rendered = join(folder, 'rendered.json');
      const resources = await render(file);
      writeFileSync(rendered, resources.map((resource) => `---\n${JSON.stringify(resource)}\n`).join(''));
      const schemas = `${KUBERNETES_SCHEMAS}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
      const args = ['-strict', '-summary', '-output', 'json', '-schema-location', schemas, rendered];
      const { stdout } = await run(KUBECONFORM_PROGRAM, args);
      expect(JSON.parse(stdout).summary).toEqual({ valid: resources.length, invalid: 0, errors: 0, skipped: 0 });
    },
  );

  test('a mistake in what it makes would be found', async () => {
    const rendered = join(folder, 'wrong.json');
    const [workload] = workloads(await render(files.generated));
    const wrong = { ...workload, spec: { ...workload?.spec, replica: 2 } };
    writeFileSync(rendered, JSON.stringify(wrong));
    const schemas = `${KUBERNETES_SCHEMAS}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    await expect(run(KUBECONFORM_PROGRAM, ['-strict', '-schema-location', schemas, rendered])).rejects.toMatchObject({
      stdout: expect.stringContaining('replica'),
    });
  });

  test.each(Object.entries(files))('%s: has each service, with settings that it reads', async (_, file) => {
    const resources = await render(file);
    const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
    const named = workloads(resources).map(({ metadata }) => metadata.name.replace(/^fleet-/, ''));
    // One gateway takes connections and datagrams here.
    expect(named.toSorted()).toEqual(
      Object.keys(VARIABLES)
        .filter((name) => name !== 'datagrams')
        .toSorted(),
    );
    for (const workload of workloads(resources)) {
      const name = workload.metadata.name.replace(/^fleet-/, '');
      const pod = workload.spec?.template?.spec;
      const [container] = pod?.containers ?? [];
      if (pod === undefined || container === undefined) throw new Error(name);
      const known: Variables = { ...VARIABLES[name], ...serviceVariables };
      for (const { name: variable } of container.env)
        expect([name, variable, variable in known || known[variable.replace(/_FILE$/, '')]?.secret]).toEqual([
          name,
          variable,
          true,
        ]);
      const plain = container.env.filter(({ name: variable }) => !variable.endsWith('_FILE'));
      const names = container.env.map((each) => each.name);
      const set = {
        ...settings,
        ...Object.fromEntries(plain.map(({ name: variable, value }) => [variable, value])),
        ...Object.fromEntries(Object.entries(IN_FILES).filter(([setting]) => names.includes(`${setting}_FILE`))),
        // Where a login at Kafka is set, its password comes as a file.
        ...('KAFKA_SASL_MECHANISM' in settings &&
          names.includes('KAFKA_SASL_PASSWORD_FILE') && { KAFKA_SASL_PASSWORD: 'in a file' }),
      };
      expect(() => readConfig(known, set)).not.toThrow();
      expect(container.image).toMatch(new RegExp(`outrider/${IMAGE_OF[name] ?? name}(:\\d|@sha256:)`));
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  test('the gateway has the ports of all protocols', async () => {
    const resources = await render(files.generated);
    const gateway = workloads(resources).find(({ metadata }) => metadata.name === 'fleet-gateway');
    const ports = gateway?.spec?.template?.spec.containers[0].ports ?? [];
    const of = (prefix: string) =>
      ports.filter(({ name }) => name.startsWith(prefix)).map((port) => port.containerPort);
    expect(of('tcp-').toSorted()).toEqual(protocols.map(({ defaultPort }) => defaultPort).toSorted());
    expect(of('udp-').toSorted()).toEqual(datagramProtocols.map(({ defaultPort }) => defaultPort).toSorted());
  });

  test('secrets are made where they are not given, and only services with the need reach out', async () => {
    const resources = await render(files.generated);
    const secret = resources.find(({ kind }) => kind === 'Secret')?.data ?? {};
    expect(Buffer.from(secret.DATABASE_URL ?? '', 'base64').toString()).toMatch(/^postgres:/);
    expect(Buffer.from(secret.ADMIN_PASSWORD ?? '', 'base64').toString()).toMatch(/^\w{40}$/);
    // As the service wants it: 32 bytes in base64.
    const key = Buffer.from(secret.SECRETS_KEY ?? '', 'base64').toString();
    expect(Buffer.from(key, 'base64')).toHaveLength(32);
    const limited = resources
      .filter(({ kind, spec }) => kind === 'NetworkPolicy' && spec?.egress !== undefined)
      .map(({ metadata }) => metadata.name);
    expect(limited.toSorted()).toEqual(['archiver', 'gateway', 'recalculator', 'rules'].map((name) => `fleet-${name}`));
    expect((await render(files.existing)).map(({ kind }) => kind)).not.toContain('Secret');
  });

  test.each([
    ['--set=settings.KAFKA_BROKERS=', 'settings.KAFKA_BROKERS must be set'],
    ['--set=secrets.values.REDIS_URL=', 'secrets.values.REDIS_URL must be set'],
    ['--set=ingress.host=', 'ingress.host must be set'],
    ['--set=services.api.replica=2', 'replica'],
    ['--set=terminals.type=ClusterIP', 'terminals'],
    ['--set=imagge.tag=1', 'imagge'],
  ])('values that can not be meant are refused: %s', async (flag, why) => {
    await expect(render(files.generated, flag)).rejects.toMatchObject({ stderr: expect.stringContaining(why) });
  });
});

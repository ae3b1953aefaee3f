import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Rule {
  record?: string;
  alert?: string;
  expr: string;
}
interface Alert extends Rule {
  alert: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
const rules = ['alerts.yml', 'slo.yml'].flatMap((file) =>
  (parse(read(`deploy/prometheus/${file}`)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules),
);
const alerts = rules.filter((rule): rule is Alert => rule.alert !== undefined);
const records = new Set(rules.flatMap(({ record }) => record ?? []));
const dashboard = JSON.parse(read('deploy/grafana/dashboards/operations.json')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};
const runbook = read('docs/operations/runbook.md');

/** Every metric that is registered anywhere in the services, and those of the process. */
const metrics = new Set(['up', ...records]);
beforeAll(() => {
  for (const file of globSync('{packages,services}/*/src/**/*.ts', { cwd: ROOT })) {
    if (/\.(test|bench|fixture)\.ts$/.test(file)) continue;
    const text = readFileSync(join(ROOT, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/'(outrider_[a-z_]+)'/g)) metrics.add(name);
  }
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) metrics.add(name);
});

/** Names of metrics in an expression, without what a histogram puts behind its own. */
function metricsIn(expr: string): string[] {
  const withoutLabels = expr.replaceAll(/\{[^}]*\}/g, '').replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, '');
  return [...withoutLabels.matchAll(/\b(?:outrider|process|nodejs)[_:][a-z0-9_:]+|\bup\b/g)].map(([name]) =>
    metrics.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''),
  );
}

test('every rule is about metrics that exist', () => {
  expect(alerts.length).toBeGreaterThan(10);
  for (const { alert, record, expr } of rules) {
    const named = metricsIn(expr);
    const name = alert ?? record;
    expect([name, named.length > 0 || /^vector\(0\.\d+\)$/.test(expr)]).toEqual([name, true]);
    expect([name, named.filter((metric) => !metrics.has(metric))]).toEqual([name, []]);
  }
});

test('Prometheus reads every service that is named in docker-compose.yml, and the rules', () => {
  const config = parse(read('deploy/prometheus/prometheus.yml')) as {
    rule_files: string[];
    scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  expect(config.rule_files).toEqual(['alerts.yml', 'slo.yml']);
  const [named] = config.scrape_configs.flatMap(({ dns_sd_configs }) => dns_sd_configs);
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { environment?: Record<string, string> }>;
  };
  const scraped = Object.entries(services).filter(([, { environment = {} }]) => 'METRICS_TOKEN_FILE' in environment);
  expect(named?.names.toSorted()).toEqual(scraped.map(([name]) => name).toSorted());
  for (const [, { environment }] of scraped) expect(environment?.HEALTH_PORT).toBe(String(named?.port));
});

test('Grafana is given the Prometheus and the dashboards of this project', () => {
  const [source] = (
    parse(read('deploy/grafana/provisioning/datasources/prometheus.yml')) as { datasources: { url: string }[] }
  ).datasources;
  const compose = read('docker-compose.yml');
  expect(compose).toContain(`  ${new URL(source?.url ?? '').hostname}:\n`);
  const [provider] = (
    parse(read('deploy/grafana/provisioning/dashboards/outrider.yml')) as { providers: { options: { path: string } }[] }
  ).providers;
  expect(compose).toContain(`./deploy/grafana/dashboards:${provider?.options.path}:ro`);
});

test('every SLO has an objective, and its errors over each window that the alerts ask for', () => {
  const labelled = (record: string) =>
    rules
      .filter((rule) => rule.record === record)
      .map((rule) => (rule as Rule & { labels: { slo: string } }).labels.slo);
  const objectives = labelled('outrider:slo_objective:ratio');
  expect(objectives.length).toBe(new Set(objectives).size);
  const asked = new Set(alerts.flatMap(({ expr }) => expr.match(/outrider:slo_errors:ratio_\w+/g) ?? []));
  expect(asked.size).toBeGreaterThan(5);
  for (const record of asked) expect([record, labelled(record).toSorted()]).toEqual([record, objectives.toSorted()]);
  for (const slo of objectives) expect(read('docs/operations/slo.md')).toContain(`| \`${slo}\` |`);
});

test('every alert has a name of its own, a severity, a summary, and its page in the runbook', () => {
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  for (const { alert, labels, annotations } of alerts) {
    expect(['page', 'ticket']).toContain(labels.severity);
    expect(annotations.summary.length).toBeGreaterThan(10);
    expect(annotations.runbook).toBe(`docs/operations/runbook.md#${alert.toLowerCase()}`);
  }
  const pages = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(pages.toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test('every link inside the runbook leads somewhere', () => {
  for (const [, anchor = ''] of runbook.matchAll(/\]\(#(\w+)\)/g))
    expect(alerts.map(({ alert }) => alert.toLowerCase())).toContain(anchor);
});

test('the dashboard shows metrics that exist, and no panel lies on another', () => {
  for (const { title, targets } of dashboard.panels)
    for (const { expr } of targets) {
      expect([title, metricsIn(expr).length > 0]).toEqual([title, true]);
      expect([title, metricsIn(expr).filter((name) => !metrics.has(name))]).toEqual([title, []]);
    }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

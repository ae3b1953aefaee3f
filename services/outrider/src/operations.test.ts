import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../../..');
const read = (name: string) => readFileSync(join(ROOT, 'docs/operations', name), 'utf8');

interface Alert {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}
const alerts = (parse(read('alerts.yml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(read('dashboard.json')) as {
  panels: { id: number; title: string; targets: { expr: string }[] }[];
};
const runbook = read('runbook.md');

/** Every metric that is registered anywhere in the services, and those of the process. */
const metrics = new Set(['up']);
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
  return [...withoutLabels.matchAll(/\b(?:outrider|process|nodejs)_[a-z0-9_]+|\bup\b/g)].map(([name]) =>
    metrics.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''),
  );
}

test('every alert is about metrics that exist', () => {
  expect(alerts.length).toBeGreaterThan(10);
  for (const { alert, expr } of alerts) {
    const named = metricsIn(expr);
    expect([alert, named.length > 0]).toEqual([alert, true]);
    expect([alert, named.filter((name) => !metrics.has(name))]).toEqual([alert, []]);
  }
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

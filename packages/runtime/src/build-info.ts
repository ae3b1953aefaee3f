import { readFileSync } from 'node:fs';
import { Gauge, type Metrics } from './prometheus.ts';

/** The running version of Outrider. */
export function serviceVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}

/** Gauge with the running version and its Node version: always 1, with both as labels. */
export function measureBuild(registry: Metrics): void {
  new Gauge({
    name: 'outrider_build_info',
    help: 'Always 1. The labels are the running versions of Outrider and Node.js',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: serviceVersion(), node: process.versions.node }, 1);
}

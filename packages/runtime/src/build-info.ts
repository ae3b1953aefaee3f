import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';

/** Which version runs, and on which Node: 1, with both as labels. */
export function measureBuild(registry: Registry): void {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  new Gauge({
    name: 'outrider_build_info',
    help: 'Always 1; the version of Outrider and of Node that runs as labels',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
}

// Writes the bill of materials (CycloneDX, JSON) from package-lock.json alone: npm run --silent sbom > sbom.json
// What only development needs is marked so (`cdx:npm:package:development`).
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const text = execFileSync('npm', args, {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 1 << 28,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const { bomFormat, components } = JSON.parse(text);
const listed = new Map(
  components.map(({ name, group, version, hashes }) => [`${group ? `${group}/` : ''}${name}@${version}`, hashes]),
);

// A list with holes is worse than none.
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
const missing = Object.entries(packages).flatMap(([path, entry]) => {
  if (!path.includes('node_modules/') || entry.link) return [];
  const name = `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`;
  const isWhole = listed.has(name) && (!entry.integrity || (listed.get(name)?.length ?? 0) > 0);
  return isWhole ? [] : [name];
});
if (bomFormat !== 'CycloneDX' || missing.length > 0) {
  console.error(`the bill of materials lacks ${missing.join(', ') || 'its format'}`);
  process.exit(1);
}
process.stdout.write(text);

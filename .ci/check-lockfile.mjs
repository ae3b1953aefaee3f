// Fails unless every package in package-lock.json has a hash that npm holds a download against, and none names a
// registry.
//
// Packages for other platforms that no registry at hand carries have no hash to take: lockfile-without-hash.json lists
// them by name and version, so that a new one is seen. `npm run lockfile` gives them their hashes where the registry
// has them.
import { readFileSync } from 'node:fs';

const [file = new URL('../package-lock.json', import.meta.url)] = process.argv.slice(2);
const { packages } = JSON.parse(readFileSync(file, 'utf8'));
const known = new Set(JSON.parse(readFileSync(new URL('lockfile-without-hash.json', import.meta.url), 'utf8')));
const problems = [];
const seen = new Set();

for (const [path, entry] of Object.entries(packages)) {
  // The project itself and its workspaces are no downloads.
  if (!path.includes('node_modules/') || entry.link) continue;
  const name = `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`;
  if (/^https?:/.test(entry.resolved ?? ''))
    problems.push(`${name} names a registry: install with the project's .npmrc`);
  else if (entry.resolved !== undefined)
    problems.push(`${name} is not from a registry: ${entry.resolved.split(':', 1)[0]}`);
  if (/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) continue;
  seen.add(name);
  const isForOtherPlatforms = entry.optional === true && entry.os !== undefined;
  if (!known.has(name) || !isForOtherPlatforms) problems.push(`${name} has no sha512 hash: npm run lockfile`);
}
for (const name of known)
  if (!seen.has(name)) problems.push(`${name} has a hash or is gone: take it out of lockfile-without-hash.json`);

for (const problem of problems) console.error(`package-lock.json: ${problem}`);
process.exitCode = problems.length === 0 ? 0 : 1;

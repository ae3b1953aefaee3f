// Shows the known advisories about what package-lock.json names: npm run audit
//
// An advisory that was published over night must not keep an unrelated change from landing, and neither must a registry
// that does not answer: both are printed, and the exit code is 0. With --strict (.ci/nightly) it is 1 if a package of
// an installation (not only of development) has an advisory of severity high or critical, or if no registry answered.
import { spawnSync } from 'node:child_process';

const FAILS = new Set(['high', 'critical']);
const strict = process.argv.includes('--strict');

/** Vulnerable packages by name; null where the registry does not answer. */
function advisories(...more) {
  const args = ['audit', '--package-lock-only', '--json', ...more];
  const { stdout } = spawnSync('npm', args, {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 1 << 28,
  });
  try {
    return JSON.parse(stdout).vulnerabilities ?? null;
  } catch {
    return null;
  }
}

const all = advisories();
const installed = advisories('--omit=dev');
if (all === null || installed === null) {
  console.log('audit: the registry did not answer; nothing is known about new advisories');
  process.exit(strict ? 1 : 0);
}
let failures = 0;
for (const { name, severity, via, fixAvailable } of Object.values(all)) {
  const fails = name in installed && FAILS.has(severity);
  if (fails) failures++;
  const titles = via.flatMap((each) => (typeof each === 'string' ? [] : [`${each.title} (${each.url})`]));
  console.log(
    `audit: ${severity}${name in installed ? '' : ', development only'}: ${name}: ${titles.join('; ') || 'by its dependencies'}`,
  );
  console.log(
    `       ${fixAvailable ? 'a fix is available: npm audit fix, then npm run lockfile' : 'no fix is available yet'}`,
  );
}
console.log(`audit: ${Object.keys(all).length} packages with advisories, ${failures} of them to be mended now`);
process.exit(strict && failures > 0 ? 1 : 0);

// Completes package-lock.json with optional packages for other platforms that the registry at hand does not carry: npm
// leaves those out when it writes the lock, and `npm ci` then refuses the lock as incomplete, on this platform too.
// With an entry each, naming what they are for, they are passed over here and installed where they belong.
//
// Run after every `npm install`: npm run lockfile
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const OS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'sunos', 'win32'];
const CPU = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64'];

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const added = [];
for (const holder of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(holder.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    if (lock.packages[path]) continue;
    const words = name.split(/[-/]/);
    const os = OS.filter((word) => words.includes(word));
    const cpu = CPU.filter((word) => words.includes(word));
    if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name}: its name does not say what platform it is for`);
    const libc = words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : undefined;
    lock.packages[path] = {
      version,
      cpu,
      ...(holder.dev ? { dev: true } : {}),
      ...(libc ? { libc } : {}),
      optional: true,
      os,
    };
    added.push(name);
  }
}
// With the hashes that the registry knows: npm holds downloads against them.
const hashed = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.startsWith('node_modules/') || entry.link || entry.integrity) continue;
  const name = `${path.slice('node_modules/'.length)}@${entry.version}`;
  const integrity = integrityOf(name);
  if (integrity === null) continue;
  entry.integrity = integrity;
  hashed.push(name);
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'The lock is complete.' : `Added to the lock:\n  ${added.join('\n  ')}`);
if (hashed.length > 0) console.log(`With a hash now:\n  ${hashed.join('\n  ')}`);

function integrityOf(name) {
  try {
    const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 };
    return execFileSync('npm', ['view', name, 'dist.integrity'], options).trim() || null;
  } catch {
    // The registry does not carry it: see check-lockfile.mjs.
    return null;
  }
}

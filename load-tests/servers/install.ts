import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { run } from './server.ts';

/** Debian's package for each command that a server, or a test of faults, needs. */
const PACKAGES: Record<string, string> = {
  'redis-server': 'redis-server',
  initdb: 'postgresql',
  java: 'openjdk-17-jre-headless',
  mvn: 'maven',
  libfaketime: 'libfaketime',
  ffmpeg: 'ffmpeg',
  mosquitto: 'mosquitto',
  mariadbd: 'mariadb-server',
  haproxy: 'haproxy',
  caddy: 'caddy',
  promtool: 'prometheus',
  chromium: 'chromium',
  'python3-venv': 'python3-venv',
};

/**
 * Sees that the commands are there, and installs Debian's packages for those that are not where it may.
 *
 * @param isThere for commands that are not in the path
 * @throws {Error} that names the packages, where they can't be installed from here
 */
export async function ensureCommands(
  commands: readonly string[],
  say: (line: string) => void,
  isThere: (command: string) => boolean = isInPath,
): Promise<void> {
  const missing = commands.filter((command) => !isThere(command)).map((command) => PACKAGES[command] ?? command);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !isInPath('apt-get'))
    throw new Error(`missing: ${missing.join(', ')}. On Debian: sudo apt-get install ${missing.join(' ')}`);
  say(`installing ${missing.join(', ')} …`);
  const install = ['-y', '-q', '--no-install-recommends', 'install', ...missing];
  const quietly = ['DEBIAN_FRONTEND=noninteractive', 'apt-get'];
  try {
    await run('env', [...quietly, ...install]);
  } catch {
    // A list of packages that is missing or old is what most often is wrong.
    await run('env', [...quietly, '-q', 'update']);
    await run('env', [...quietly, ...install]);
  }
}

export function isInPath(command: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

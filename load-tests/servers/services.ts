import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { MAIN, type ServiceName } from '../../services/outrider/src/distributed.fixture.ts';

/** Where the servers keep their data, and the file of settings for the services. */
export const DEFAULT_FOLDER = './data/servers';
export const ENVIRONMENT_FILE = 'environment';

/**
 * Settings of each service that no other may have: they listen on one machine. The API comes first: it makes tables and
 * the first account.
 */
export const OWN_SETTINGS: Readonly<Record<ServiceName, Readonly<Record<string, string>>>> = {
  api: { HEALTH_PORT: '9464', PORT: '8080' },
  gateway: { HEALTH_PORT: '9465' },
  rules: { HEALTH_PORT: '9466' },
  recalculator: { HEALTH_PORT: '9467' },
  archiver: { HEALTH_PORT: '9468' },
  notifier: { HEALTH_PORT: '9469', PORT: '8081' },
  video: { HEALTH_PORT: '9470' },
  reporter: { HEALTH_PORT: '9471' },
  forwarder: { HEALTH_PORT: '9472' },
};
export const SERVICE_NAMES = Object.keys(OWN_SETTINGS) as ServiceName[];

/** Settings of all services, beside the addresses of the servers. @param folder for their data, and the servers' */
export function sharedSettings(folder: string): Record<string, string> {
  return {
    DATA_DIR: join(folder, 'services'),
    HOST: '127.0.0.1',
    VIDEO_MEDIA_HOST: '127.0.0.1',
    SECRETS_KEY_FILE: join(folder, 'secrets-key'),
    TERMINAL_SECRET: 'outrider',
    ADMIN_PASSWORD: 'outrider-admin',
  };
}

/** Writes down what every service needs. @returns the file, as Node's `--env-file` takes it */
export function writeEnvironment(folder: string, addresses: Readonly<Record<string, string>>): string {
  const file = join(folder, ENVIRONMENT_FILE);
  const shared = sharedSettings(folder);
  // The same one as long as the database is.
  if (!existsSync(shared.SECRETS_KEY_FILE ?? ''))
    writeFileSync(shared.SECRETS_KEY_FILE ?? '', `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const settings = Object.entries({ ...addresses, ...shared });
  writeFileSync(file, settings.map(([name, value]) => `${name}=${value}\n`).join(''), { mode: 0o600 });
  return file;
}

/** A line for a shell that starts it, for each service. */
export function serviceCommands(environmentFile: string): string[] {
  return SERVICE_NAMES.map((service) => {
    const settings = Object.entries(OWN_SETTINGS[service]).map(([name, value]) => `${name}=${value}`);
    const program = relative(process.cwd(), MAIN[service]);
    return [...settings, 'npx node', `--env-file=${environmentFile}`, program].join(' ');
  });
}

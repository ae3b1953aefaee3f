import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSecretsKey } from '@outrider/backing';

/** Secrets and their generators. A given setting with the same name in capitals is used instead. */
const MADE: Readonly<Record<string, () => string>> = {
  admin_password: password,
  clickhouse_password: password,
  grafana_password: password,
  metrics_token: password,
  postgres_password: password,
  redis_password: password,
  s3_secret: password,
  secrets_key: newSecretsKey,
  terminal_secret: password,
};

/** Addresses that contain these secrets, as the services read them. */
function addressesOf(secrets: Readonly<Record<string, string>>): Record<string, string> {
  return {
    clickhouse_url: `http://outrider:${secrets.clickhouse_password}@clickhouse:8123`,
    database_url: `postgres://outrider:${secrets.postgres_password}@postgres:5432/outrider`,
    redis_url: `redis://:${secrets.redis_password}@redis:6379/0`,
    s3_url: `http://outrider:${secrets.s3_secret}@storage:8333/outrider`,
    // Empty: e-mails are written to a folder. An operator with a mail server writes its address here.
    smtp_url: '',
  };
}

/**
 * `outrider make-secrets`: writes a file for each password, key and address that `docker-compose.yml` needs.
 *
 * Only the owner can open the folder, but everybody can read the files: containers see the files without the folder,
 * each through its own account.
 *
 * @param given settings of an installation from before there were files, such as `POSTGRES_PASSWORD`
 * @returns the names of the files
 * @throws {Error} when the folder already exists: then nothing is changed
 */
export function makeSecrets(folder: string, given: Readonly<Record<string, string | undefined>> = {}): string[] {
  const made = Object.fromEntries(
    Object.entries(MADE).map(([name, make]) => [name, given[name.toUpperCase()] || make()]),
  );
  const secrets = Object.entries({ ...made, ...addressesOf(made) });
  // Fails if the folder exists: secrets of different runs do not match each other.
  mkdirSync(folder, { mode: 0o700 });
  for (const [name, secret] of secrets) writeFileSync(join(folder, name), `${secret}\n`, { mode: 0o644 });
  return secrets.map(([name]) => name);
}

/** Hexadecimal, so it needs no escaping in URLs and command lines. */
function password(): string {
  return randomBytes(24).toString('hex');
}

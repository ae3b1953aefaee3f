import { randomBytes } from 'node:crypto';
import { newSecretsKey } from '@outrider/backing';

/** What `docker-compose.yml` does not start without, each with what makes it. */
export const COMPOSE_SECRETS: Readonly<Record<string, () => string>> = {
  ADMIN_PASSWORD: password,
  CLICKHOUSE_PASSWORD: password,
  POSTGRES_PASSWORD: password,
  REDIS_PASSWORD: password,
  S3_SECRET: password,
  SECRETS_KEY: newSecretsKey,
  TERMINAL_SECRET: password,
};

/** `outrider make-env`: a file of settings with new random passwords and keys. */
export function composeEnvironment(): string {
  const lines = Object.entries(COMPOSE_SECRETS).map(([name, make]) => `${name}=${make()}`);
  return `# Passwords and keys of this installation. Whoever has them has all of its data: keep a copy in a safe place.\n${lines.join('\n')}\n`;
}

/** Hexadecimal: it goes into URLs and command lines as it is. */
function password(): string {
  return randomBytes(24).toString('hex');
}

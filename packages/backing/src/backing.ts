import type { Config } from '@outrider/runtime';
import type { logVariables, serverVariables } from './variables.ts';

type BackingConfig = Config<typeof logVariables> & Config<typeof serverVariables>;

/** Addresses of the stores that the services depend on. Plain data, so that it can be passed to a thread. */
export interface Backing {
  /** Folder for stores without a server; null if every store must have one. */
  folder: string | null;
  log: {
    brokers: readonly string[] | null;
    prefix: string;
    replicationFactor: number;
    ssl: boolean;
    sasl: Sasl | null;
    retentionHours: number;
    retentionMb: number;
  };
  redisUrl: string | null;
  redisPrefix: string;
  databaseUrl: string | null;
  clickhouseUrl: string | null;
  s3Url: string | null;
  /** Keys that stored secrets are encrypted with, as configured; null if they are in a file, or none is configured. */
  secretsKey: string | null;
  secretsKeyFile: string | null;
}

export interface Sasl {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: string;
}

/** @param folder for stores without a server; null when the process has no folder */
export function backingOf(config: BackingConfig, folder: string | null): Backing {
  return {
    folder,
    log: {
      brokers: config.KAFKA_BROKERS,
      prefix: config.KAFKA_PREFIX,
      replicationFactor: config.KAFKA_REPLICATION_FACTOR,
      ssl: config.KAFKA_SSL === 'yes',
      sasl: saslOf(config),
      retentionHours: config.TELEMETRY_RETENTION_HOURS,
      retentionMb: config.TELEMETRY_RETENTION_MB,
    },
    redisUrl: config.REDIS_URL,
    redisPrefix: config.REDIS_KEY_PREFIX,
    databaseUrl: config.DATABASE_URL,
    clickhouseUrl: config.CLICKHOUSE_URL,
    s3Url: config.S3_URL,
    secretsKey: config.SECRETS_KEY,
    secretsKeyFile: config.SECRETS_KEY_FILE,
  };
}

/** The settings were already validated together when they were read. */
function saslOf(config: BackingConfig): Sasl | null {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = config;
  return mechanism === 'none' || username === null || password === null ? null : { mechanism, username, password };
}

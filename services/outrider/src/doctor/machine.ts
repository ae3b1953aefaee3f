import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openSecrets, SIGNING_KEYS_FILE } from '@outrider/backing';
import { allowedConnections, type Config, descriptorLimit, descriptorShortage, freeBytes } from '@outrider/runtime';
import { variables } from '../config.ts';
import { DATA_DIR_FORMAT, isInUse, RESTORING_FILE } from '../data-dir.ts';
import { neededToStart } from '../disk.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

type Settings = Config<typeof variables>;

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
const CERTIFICATE_WARNING_DAYS = 21;

/** Checks the folder of the service without creating or changing anything. */
export function checkDataDir(config: Settings): { finding: Finding; isInUse: boolean } {
  const path = resolve(config.DATA_DIR);
  const found = (finding: Finding, inUse = false) => ({ finding, isInUse: inUse });
  try {
    accessSync(nearest(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    const todo = 'run as the account that owns it, or set another DATA_DIR';
    return found(problem('DATA_DIR', `${path} can't be written to: ${(error as Error).message}`, todo));
  }
  if (!existsSync(path)) return found(ok('DATA_DIR', `${path} will be made by the first start`));
  if (existsSync(join(path, RESTORING_FILE)))
    return found(problem('DATA_DIR', `${path}: a backup was not restored to its end`, 'empty it, and restore again'));
  const inUse = isInUse(path);
  const format = existsSync(join(path, 'format')) ? readFileSync(join(path, 'format'), 'utf8').trim() : null;
  if (format !== null && format !== String(DATA_DIR_FORMAT)) {
    const detail = `${path} is of format ${format}, and this version reads ${DATA_DIR_FORMAT}`;
    return found(problem('DATA_DIR', detail, 'start the version that wrote it, or set another DATA_DIR'), inUse);
  }
  const state = inUse ? 'in use by a running service' : format === null ? 'empty' : 'written by a stopped service';
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    return found(
      warning('DATA_DIR', `${path}: ${state}; other accounts have rights to it`, `chmod 700 ${path}; a start does it`),
      inUse,
    );
  return found(ok('DATA_DIR', `${path}: ${state}`), inUse);
}

/** The path, or its nearest existing ancestor. */
function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

export async function checkDisk(config: Settings): Promise<Finding> {
  const path = resolve(config.DATA_DIR);
  const free = await freeBytes(nearest(path));
  const detail = `${megabytes(free)} are free on the disk of DATA_DIR`;
  const needed = neededToStart(config);
  if (free < needed) return problem('disk', detail, `free space: a start needs ${megabytes(needed)}`);
  if (free < config.DISK_WARNING_MB * MIB)
    return warning('disk', detail, `free space, or lower DISK_WARNING_MB (${config.DISK_WARNING_MB})`);
  const log = join(path, 'log.sqlite');
  const logLeft = config.TELEMETRY_RETENTION_MB * MIB - (existsSync(log) ? statSync(log).size : 0);
  if (config.KAFKA_BROKERS === null && logLeft > free)
    return warning(
      'disk',
      `${detail}, and the log may grow by ${megabytes(logLeft)}`,
      'enlarge the disk, or lower TELEMETRY_RETENTION_MB: then only records that were read are removed earlier',
    );
  return ok('disk', detail);
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MB`;
}

export function checkDescriptors(config: Settings): Finding {
  const limit = descriptorLimit();
  if (limit === null) return ok('open files', 'the system does not show its limit');
  const shortage = descriptorShortage(limit, allowedConnections(variables, config));
  if (shortage === null) return ok('open files', `the limit is ${limit}`);
  return warning('open files', shortage.detail, shortage.todo);
}

/** Checks the keys of tokens and of stored secrets. */
export async function checkKeys(config: Settings): Promise<Finding[]> {
  const findings: Finding[] = [];
  const file = join(resolve(config.DATA_DIR), SIGNING_KEYS_FILE);
  if (existsSync(file) && process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0)
    findings.push(
      warning('keys', `other accounts can read ${file}`, 'chmod 600 it; after a leak: rotate-keys --revoke'),
    );
  try {
    if (config.SECRETS_KEY_FILE !== null)
      await openSecrets({
        folder: null,
        databaseUrl: config.DATABASE_URL,
        secretsKey: null,
        secretsKeyFile: config.SECRETS_KEY_FILE,
      });
  } catch (error) {
    findings.push(problem('keys', (error as Error).message, 'give SECRETS_KEY_FILE a file that this account can read'));
  }
  if (config.DATABASE_URL !== null && config.SECRETS_KEY === null && config.SECRETS_KEY_FILE === null)
    findings.push(
      problem('keys', 'SECRETS_KEY is not set, and the registry is on a server', 'set it: openssl rand -base64 32'),
    );
  return findings.length > 0 ? findings : [ok('keys', existsSync(file) ? 'present' : 'made by the first start')];
}

/** Checks the certificate of the terminals' TLS ports. */
export function checkCertificate(config: Settings, nowMs: number): Finding[] {
  const { TERMINAL_TLS_CERTIFICATE: certificateFile, TERMINAL_TLS_KEY: keyFile } = config;
  if (certificateFile === null || keyFile === null) return [];
  const name = 'TERMINAL_TLS_CERTIFICATE';
  try {
    const certificate = new X509Certificate(readFileSync(certificateFile));
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile))))
      return [
        problem(name, `${keyFile} is not the key of ${certificateFile}`, 'set the two files that belong together'),
      ];
    const days = Math.floor((certificate.validToDate.getTime() - nowMs) / DAY_MS);
    const detail = `${certificate.subject.replaceAll('\n', ', ')}, good until ${certificate.validToDate.toISOString()}`;
    if (days < 0) return [problem(name, `${detail}: expired`, 'renew it')];
    if (certificate.validFromDate.getTime() > nowMs)
      return [problem(name, `not good before ${certificate.validFromDate.toISOString()}`, 'check the clock')];
    return [
      days < CERTIFICATE_WARNING_DAYS ? warning(name, detail, `renew it: ${days} days are left`) : ok(name, detail),
    ];
  } catch (error) {
    return [problem(name, `can't be used: ${(error as Error).message}`, 'set readable PEM files')];
  }
}

import type { Clock, DefinitionKind } from '@outrider/domain';
import type { Log } from '@outrider/log';
import type { DamagedRow, Registry, WrittenChange } from '@outrider/registry';
import {
  Gauge,
  type Logger,
  type Metrics,
  NotReadyError,
  type PartReport,
  poller,
  type Watch,
} from '@outrider/runtime';
import { newestChanges } from './registry-rebuild.ts';

export interface RegistryCheckParts {
  registry: Pick<Registry, 'rowSums' | 'hasPageSums' | 'writeDefinitions' | 'outbox'>;
  log: Pick<Log, 'bounds' | 'read'>;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Default: an hour. */
  checkEveryMs?: number;
  /** Interval at which damage found by reads is checked. Default 5000. */
  lookEveryMs?: number;
}

export interface RegistryCheck extends Watch {
  /**
   * Check for `/health/ready`.
   *
   * @throws {NotReadyError} while the file of the registry is damaged beyond single rows
   */
  check(): Promise<PartReport>;
}

const HOUR_MS = 3_600_000;
/** Kind of definition in topic `definitions` to which a table's rows belong. */
const DEFINED: Readonly<Record<string, DefinitionKind>> = {
  users: 'user',
  user_group_access: 'user',
  vehicle_groups: 'group',
  vehicles: 'vehicle',
  vehicle_group_members: 'vehicle',
  geofences: 'geofence',
  geofence_groups: 'geofence',
  geofence_shares: 'geofence',
  drivers: 'driver',
  driver_codes: 'driver',
  driver_group_members: 'driver',
  notification_rules: 'notification-rule',
  notification_rule_references: 'notification-rule',
  video_profiles: 'video-profile',
};
const SENTENCE = 'rows of the registry are damaged: see RegistryRowsDamaged in the runbook';

/**
 * Finds damaged rows of an embedded registry: at the start, hourly, and whenever one is read. Logs them, and restores
 * what topic `definitions` has. Indexes are rebuilt from the rows. PostgreSQL has its own page checksums; a warning is
 * logged if they are off.
 */
export function createRegistryCheck(parts: RegistryCheckParts): RegistryCheck {
  const { registry, log, logger, metrics, clock, checkEveryMs = HOUR_MS, lookEveryMs = 5000 } = parts;
  const { rowSums } = registry;
  /** Damaged rows that were already logged. */
  const said = new Set<string>();
  /** Damaged rows that cannot be restored from anywhere. */
  const lost = new Set<string>();
  let findings: readonly string[] = [];
  let hasPageSums = true;
  let checkAtMs = Number.NEGATIVE_INFINITY;
  const damaged = () => rowSums?.damaged ?? [];

  new Gauge({
    name: 'outrider_registry_damaged_rows',
    help: 'Registry rows that differ from what was written',
    registers: [metrics],
    collect() {
      this.set(damaged().length);
    },
  });

  async function look(): Promise<void> {
    if (rowSums === null) return;
    if (clock.steadyMs() >= checkAtMs) {
      checkAtMs = clock.steadyMs() + checkEveryMs;
      findings = await rowSums.check();
      if (findings.length > 0) findings = await mendIndexes(findings);
    }
    const rows = damaged().filter((row) => !lost.has(nameOf(row)));
    if (rows.length > 0) await putBack(rows);
    const left = new Set(damaged().map(nameOf));
    for (const names of [said, lost]) for (const name of names) if (!left.has(name)) names.delete(name);
  }

  /** @returns remaining faults of the structure */
  async function mendIndexes(found: readonly string[]): Promise<string[]> {
    logger.error({ findings: found }, 'the file of the registry is damaged: rebuilding its indexes');
    try {
      rowSums?.reindex();
    } catch (error) {
      logger.error({ err: error }, 'cannot rebuild the indexes of the registry');
    }
    const left = (await rowSums?.check()) ?? [];
    if (left.length === 0) logger.info('rebuilt the indexes of the registry; it is intact');
    else
      logger.error(
        { findings: left },
        'the file of the registry is damaged: restore it from a backup, or stop the service and run ' +
          '"outrider registry rebuild"',
      );
    return left;
  }

  async function putBack(rows: readonly DamagedRow[]): Promise<void> {
    for (const row of rows) {
      if (!said.has(nameOf(row))) logger.error({ ...row }, 'a row of the registry is damaged');
      said.add(nameOf(row));
    }
    if (rows.some(({ table }) => table in DEFINED)) {
      // Committed but unpublished changes are newer than the topic.
      if ((await registry.outbox.pending(1)).length > 0) return;
      const newest = await newestChanges(log);
      const changes = new Set<WrittenChange>();
      for (const { table, key } of rows)
        for (const id of key.split(' ')) {
          const change = newest.get(id);
          if (change?.definition && change.kind === DEFINED[table]) changes.add(change as WrittenChange);
        }
      for (const table of new Set(rows.map(({ table }) => table))) rowSums?.reindex(table);
      await registry.writeDefinitions([...changes]);
      rowSums?.recheck();
    }
    const left = new Set(damaged().map(nameOf));
    for (const row of rows)
      if (left.has(nameOf(row))) {
        lost.add(nameOf(row));
        logger.error({ ...row }, 'cannot restore the damaged row of the registry; requests that need it fail');
      } else logger.info({ ...row }, 'restored the damaged row of the registry from topic definitions');
  }

  const rounds = poller({ name: 'registry check', work: look, everyMs: lookEveryMs, logger, clock });

  const warnings = () => [
    ...(damaged().length > 0 ? [`${damaged().length} ${SENTENCE}`] : []),
    ...(hasPageSums ? [] : ['PostgreSQL has no page checksums: damage of its files would go unnoticed']),
  ];
  return {
    name: 'registry check',
    warnings,
    async check() {
      if (findings.length > 0) throw new NotReadyError('the file of the registry is damaged', [...findings]);
      return { warnings: warnings() };
    },
    async start() {
      hasPageSums = await registry.hasPageSums();
      if (!hasPageSums) logger.warn('PostgreSQL has no page checksums: see pg_checksums');
      if (rowSums !== null) await rounds.start();
    },
    stop: () => rounds.stop(),
  };
}

function nameOf({ table, key }: DamagedRow): string {
  return `${table} ${key}`;
}

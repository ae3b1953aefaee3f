import type { Clock, Timer } from '@outrider/domain';
import { telemetryRecordsTopic } from '@outrider/log';
import { Gauge, type Logger, type Metrics, type Watch } from '@outrider/runtime';
import type { ArchiveGap, Warehouse } from '@outrider/warehouse';
import { type RestoreParts, restore } from './restore.ts';

export interface ArchiveCheckParts {
  log: RestoreParts['log'];
  warehouse: RestoreParts['warehouse'] &
    Pick<Warehouse, 'isOpen' | 'timesSetAside' | 'inspect' | 'updateGap' | 'checkSome'>;
  /** Whether this process does the check: one of several archivers does. */
  isMine(): boolean;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** Default 60,000. */
  inspectEveryMs?: number;
  /** Default an hour. */
  scrubEveryMs?: number;
}

/** Bytes read per hour to find damage before a query does: 1.4 TB in a month. */
const SCRUB_BYTES = 2 * 1024 ** 3;
const HOUR_MS = 3_600_000;
/** Interval of the test whether ClickHouse has been opened. */
const LOOK_EVERY_MS = 5000;

/**
 * Compares the archive with what was archived, logs lost rows, and writes them again from the log, as far as the log
 * has them. Reads a part of the archive each hour, so that damage is found before a query meets it. A ClickHouse that
 * is opened on demand is not opened for this.
 */
export function createArchiveCheck(parts: ArchiveCheckParts): Watch {
  const { log, warehouse, isMine, logger, metrics, clock } = parts;
  const { inspectEveryMs = 60_000, scrubEveryMs = HOUR_MS } = parts;
  let gaps: readonly ArchiveGap[] = [];
  const said = new Set<string>();
  const checkedAtMs = new Map<string, number>();
  let [inspectedMs, scrubbedMs] = [Number.NEGATIVE_INFINITY, clock.steadyMs()];
  let timer: Timer | null = null;
  let working: Promise<void> | null = null;
  let timesSetAside = 0;
  const stopping = new AbortController();
  const unaccepted = () => gaps.filter(({ isAccepted }) => !isAccepted);

  new Gauge({
    name: 'outrider_archive_gaps',
    help: 'Gaps in the archive: lost data that could not be restored in full and whose loss was not accepted',
    registers: [metrics],
    collect() {
      this.set(unaccepted().length);
    },
  });
  new Gauge({
    name: 'outrider_archive_gap_rows',
    help: 'Rows missing in the gaps of the archive, where the number is known',
    registers: [metrics],
    collect() {
      this.set(unaccepted().reduce((sum, { rows }) => sum + (rows ?? 0), 0));
    },
  });

  async function inspect(): Promise<void> {
    const { identity } = await log.locate(telemetryRecordsTopic, 0, null);
    gaps = await warehouse.inspect(identity);
    for (const gap of gaps) {
      if (!said.has(gap.id) && !gap.isAccepted) logger.error(factsOf(gap), 'the archive has lost rows');
      said.add(gap.id);
      if (gap.restored !== null || stopping.signal.aborted) continue;
      const restored = await restore(parts, gap, stopping.signal);
      await warehouse.updateGap(restored);
      if (restored.restored === 'whole') logger.info(factsOf(gap), 'lost rows of the archive restored');
      else logger.error(factsOf(restored), 'cannot restore lost rows of the archive: they are older than the log');
    }
    gaps = await warehouse.inspect(identity);
  }

  async function scrub(): Promise<void> {
    const damaged = await warehouse.checkSome({ maxBytes: SCRUB_BYTES, checkedAtMs });
    if (damaged > 0) logger.error({ damaged }, 'set aside damaged parts of the archive');
  }

  async function look(): Promise<void> {
    if (!warehouse.isOpen || !isMine()) return;
    const nowMs = clock.steadyMs();
    if (nowMs - scrubbedMs >= scrubEveryMs) {
      scrubbedMs = nowMs;
      await scrub();
      inspectedMs = Number.NEGATIVE_INFINITY;
    }
    // Damage that a query met is repaired at once.
    const isNew = warehouse.timesSetAside !== timesSetAside;
    if (!isNew && nowMs - inspectedMs < inspectEveryMs) return;
    ({ timesSetAside } = warehouse);
    inspectedMs = nowMs;
    await inspect();
  }

  return {
    name: 'archive check',
    warnings: () => (unaccepted().length > 0 ? ['the archive has lost rows: reports say of which days'] : []),
    async start() {
      timer = clock.every(Math.min(LOOK_EVERY_MS, inspectEveryMs), () => {
        working ??= look()
          .catch((error) => {
            if (!stopping.signal.aborted) logger.warn({ err: error }, 'cannot check the archive');
          })
          .finally(() => {
            working = null;
          });
      });
      timer.unref();
    },
    async stop() {
      stopping.abort();
      timer?.cancel();
      await working;
    },
  };
}

function factsOf({ id, path, reason, fromMs, toMs, rows, vehicles }: ArchiveGap) {
  return {
    archivePart: id,
    path,
    reason,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    rows,
    vehicles,
  };
}

import { CheckpointFencedError, type Checkpoints, telemetryRecordsTopic } from '@outrider/log';
import type { Logger } from '@outrider/runtime';
import type { OpenedArchive } from '@outrider/warehouse';
import type { RestoreParts } from './restore.ts';

export interface WrittenArchiveParts {
  log: Pick<RestoreParts['log'], 'locate'>;
  checkpoints: Pick<Checkpoints, 'claim' | 'save'>;
  logger: Logger;
  /** Unix milliseconds. */
  now(): number;
}

/** Consumer and key under which the checkpoints keep the identity of the archive in use. */
const CONSUMER = 'archiver/archive';
const ARCHIVE = 'archive';

/**
 * Stores the identity of the archive before anything is written to it. A different archive lacks everything that was
 * archived before: its folder, its database or a file of ClickHouse was lost. That is noted as a gap of the archive,
 * which `createArchiveCheck` writes again from the log.
 */
export function rememberArchive(parts: WrittenArchiveParts): (opened: OpenedArchive) => Promise<void> {
  const { log, checkpoints, logger, now } = parts;
  return async function remember({ identity, updateGap }): Promise<void> {
    const saved = (await checkpoints.claim(CONSUMER, 0))?.entries.get(ARCHIVE)?.toString();
    if (saved === identity) return;
    if (saved !== undefined) {
      logger.error({ archive: identity, before: saved }, 'the archive was replaced: restoring it from the log');
      const { identity: logIdentity } = await log.locate(telemetryRecordsTopic, 0, null);
      for (const table of ['positions', 'events'] as const)
        await updateGap({
          ...{ id: `${table}/before ${identity}`, table, path: null, reason: 'replaced', rows: null, vehicles: null },
          ...{ fromMs: 0, toMs: now(), offsets: { first: 0, last: null }, log: logIdentity },
          ...{ hasCorrections: table === 'events', noticedAtMs: now(), restored: null },
          isAccepted: false,
        });
    }
    try {
      await checkpoints.save(CONSUMER, 0, { offsets: {}, changed: [[ARCHIVE, Buffer.from(identity)]] });
    } catch (error) {
      if (!(error instanceof CheckpointFencedError)) throw error;
      // Another archiver started at the same moment, and may have saved it.
      await remember({ identity, updateGap });
    }
  };
}

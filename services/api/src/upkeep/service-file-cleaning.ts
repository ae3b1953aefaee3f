import type { Clock } from '@outrider/domain';
import { type Files, removeStrays } from '@outrider/files';
import type { Registry } from '@outrider/registry';
import { type Logger, type Part, poller } from '@outrider/runtime';

const EVERY_MS = 3_600_000;

/** Removes files of services that no record references, left by a crash between two writes. */
export function createServiceFileCleaning(parts: {
  registry: { serviceRecords: Pick<Registry['serviceRecords'], 'knownFiles'> };
  files: Pick<Files, 'list' | 'delete'>;
  logger: Logger;
  clock: Clock;
}): Part {
  const { registry, files, logger, clock } = parts;
  return poller({
    name: 'service-files',
    everyMs: EVERY_MS,
    logger,
    clock,
    async work() {
      await removeStrays(files, {
        storedBeforeMs: clock.now() - EVERY_MS,
        ownerOf: (id) => id,
        known: (ids) => registry.serviceRecords.knownFiles(ids),
        onStray: (id) => logger.info({ file: id }, 'removing a file without a service record'),
      });
    },
  });
}

import { type Clock, type Directory, isLicenceRule, licenceExpiriesOf, type Notification } from '@outrider/domain';
import type { LicenceDraft } from '@outrider/registry';
import type { Logger } from '@outrider/runtime';

export interface LicenceWatchParts {
  pollMs: number;
  directory: Pick<Directory, 'notificationRules' | 'drivers' | 'ownerOf'>;
  /** Saves a notification; null if it was saved before. */
  record(draft: LicenceDraft): Promise<Notification | null>;
  /** Passes saved notifications on. */
  announce(made: readonly Notification[]): Promise<void>;
  logger: Logger;
  clock: Clock;
}

/**
 * Notifies of drivers' licences that expire soon or have expired. All instances run this; the registry saves each rule,
 * driver, date and stage once. An expiry that was recorded is skipped until the process restarts.
 */
export class LicenceWatch {
  readonly #parts: LicenceWatchParts;
  #known: ReadonlySet<string> = new Set();

  constructor(parts: LicenceWatchParts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.notifyDue(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.logger.error({ err: error }, 'reading expiring licences failed; retrying');
      }
      await this.#parts.clock.pause(this.#parts.pollMs, signal);
    }
  }

  async notifyDue(signal?: AbortSignal): Promise<void> {
    const { directory, record, announce, clock } = this.#parts;
    const known = new Set<string>();
    const rules = [...directory.notificationRules.values()].filter((rule) => rule.active && isLicenceRule(rule));
    for (const rule of rules) {
      const owner = directory.ownerOf(rule);
      if (owner === undefined) continue;
      for (const { driver, expiry } of licenceExpiriesOf(rule, owner, directory.drivers.values(), clock.now())) {
        if (signal?.aborted) return;
        // The key contains the version: an expiry is recorded again when the rule or the driver changes meanwhile.
        const key = `${rule.id}/${rule.version} ${expiry.id}`;
        if (!this.#known.has(key)) {
          const made = await record({ rule, event: expiry, driverName: driver.name });
          if (made !== null) await announce([made]);
        }
        known.add(key);
      }
    }
    this.#known = known;
  }
}

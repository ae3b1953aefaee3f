import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { CheckpointFencedError, type Checkpoints } from '@outrider/log';
import type { Logger } from '@outrider/runtime';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

/**
 * Checkpoints of a service that has nothing to do while their server is unavailable. A call is retried until it works;
 * meanwhile the partition waits, and the log keeps new records. Retrying a call whose response was lost is safe: it is
 * idempotent.
 *
 * @param isOutage which errors to wait out; all others fail. Default: all errors
 */
export function patientCheckpoints(
  checkpoints: Checkpoints,
  logger: Logger,
  isOutage: (error: unknown) => boolean = () => true,
  clock: Clock = SYSTEM_CLOCK,
): Checkpoints {
  const patience = new Patience('checkpoints', logger, clock, isOutage);
  return {
    load: (consumer, partition) => patience.have(() => checkpoints.load(consumer, partition)),
    claim: (consumer, partition) => patience.have(() => checkpoints.claim(consumer, partition)),
    save(consumer, partition, change) {
      const changed = [...change.changed];
      return patience.have(() => checkpoints.save(consumer, partition, { ...change, changed }));
    },
    async close() {
      patience.end();
      await checkpoints.close();
    },
  };
}

/**
 * A hub whose updates of latest positions wait while its server is unavailable. All other calls fail as usual: users
 * are waiting for them.
 */
export function patientHub(hub: Hub, logger: Logger, clock: Clock = SYSTEM_CLOCK): Hub {
  const patience = new Patience('hub', logger, clock);
  return {
    updateLatest: (entries) => patience.have(() => hub.updateLatest(entries)),
    latest: (vehicleIds) => hub.latest(vehicleIds),
    forgetLatest: (vehicleIds) => patience.have(() => hub.forgetLatest(vehicleIds)),
    noteConnections: (gateway, changes) => hub.noteConnections(gateway, changes),
    connections: (terminalIds) => hub.connections(terminalIds),
    onLatest: (listener) => hub.onLatest(listener),
    hit: (key, windowMs, nowMs) => hub.hit(key, windowMs, nowMs),
    unhit: (key) => hub.unhit(key),
    resetCount: (key) => hub.resetCount(key),
    block: (key, untilMs) => hub.block(key, untilMs),
    blockedUntil: (key, nowMs) => hub.blockedUntil(key, nowMs),
    holdLease: (key, holder, keptMs) => hub.holdLease(key, holder, keptMs),
    releaseLease: (key, holder) => hub.releaseLease(key, holder),
    noteUnknownTerminal: (terminalId, protocol, address, nowMs, contact) =>
      hub.noteUnknownTerminal(terminalId, protocol, address, nowMs, contact),
    refusedTerminal: (terminalId) => hub.refusedTerminal(terminalId),
    unknownTerminals: () => hub.unknownTerminals(),
    noteUnknownDevice: (device, nowMs) => hub.noteUnknownDevice(device, nowMs),
    unknownDevices: () => hub.unknownDevices(),
    publish: (channel, message) => hub.publish(channel, message),
    subscribe: (channel, listener) => hub.subscribe(channel, listener),
    async close() {
      patience.end();
      await hub.close();
    },
  };
}

class Patience {
  readonly #what: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #isOutage: (error: unknown) => boolean;
  #ended = false;
  #troubled = false;

  constructor(what: string, logger: Logger, clock: Clock, isOutage: (error: unknown) => boolean = () => true) {
    this.#what = what;
    this.#logger = logger;
    this.#clock = clock;
    this.#isOutage = isOutage;
  }

  /** @throws an error of the call that is not an outage, or its last error after the end */
  async have<T>(call: () => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const result = await call();
        if (this.#troubled) this.#logger.info({ store: this.#what }, 'the store is reachable again');
        this.#troubled = false;
        return result;
      } catch (error) {
        if (this.#ended || error instanceof CheckpointFencedError || !this.#isOutage(error)) throw error;
        if (!this.#troubled)
          this.#logger.error({ err: error, store: this.#what }, 'the store is not reachable: waiting for it');
        this.#troubled = true;
        await this.#clock.sleep(pauseMs);
      }
    }
  }

  end(): void {
    this.#ended = true;
  }
}

import { type Clock, FIRST_CONTACT_CHANNEL, type FirstContact, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import type { Logger, Part } from '@outrider/runtime';

/**
 * Delay between batches. A fleet that starts sending all at once is bound in batches, so that users' calls can run in
 * between.
 */
export const GATHER_MS = 500;
const AT_ONCE = 200;
/** Contacts beyond this are dropped: gateways publish them again until the definition has changed. */
const MAX_WAITING = 20_000;

/** Binds vehicles to the protocol of their terminal, as gateways publish it. */
export function createTerminalBindings({
  hub,
  registry,
  logger,
  clock = SYSTEM_CLOCK,
}: {
  hub: Pick<Hub, 'subscribe'>;
  registry: Pick<Registry, 'vehicles'>;
  logger: Logger;
  clock?: Clock;
}): Part {
  const waiting = new Map<string, FirstContact>();
  let leave: Unsubscribe | null = null;
  let timer: Timer | null = null;
  let writing: Promise<void> = Promise.resolve();
  let stopped = false;

  function note(text: string): void {
    const contact = JSON.parse(text) as FirstContact;
    // The first contact that binds wins.
    const isBound = (waiting.get(contact.vehicleId)?.protocol ?? null) !== null;
    if (!isBound && waiting.size < MAX_WAITING) waiting.set(contact.vehicleId, contact);
    writeSoon();
  }

  function writeSoon(): void {
    if (!stopped)
      timer ??= clock.after(GATHER_MS, () => {
        writing = write();
      });
  }

  async function write(): Promise<void> {
    const contacts = [...waiting.values()].slice(0, AT_ONCE);
    for (const { vehicleId } of contacts) waiting.delete(vehicleId);
    try {
      await registry.vehicles.learn(contacts);
    } catch (error) {
      logger.warn({ err: error, vehicles: contacts.length }, 'cannot bind vehicles to the protocol of their terminal');
    }
    timer = null;
    if (waiting.size > 0) writeSoon();
  }

  return {
    name: 'terminal bindings',
    async start() {
      leave = await hub.subscribe(FIRST_CONTACT_CHANNEL, note);
    },
    async stop() {
      stopped = true;
      await leave?.();
      timer?.cancel();
      await writing;
    },
  };
}

import { accessVariables } from '@outrider/backing';
import type { Config, Variables } from '@outrider/runtime';
import type { ForwarderConfig } from './forwarder.ts';

/** Settings of forwarding. */
export const forwarderVariables = {
  WEBHOOK_ALLOW_PRIVATE: accessVariables.WEBHOOK_ALLOW_PRIVATE,
} satisfies Variables;

/** @param isAlone whether no other process forwards from this registry */
export function forwarderConfigOf(config: Config<typeof forwarderVariables>, isAlone: boolean): ForwarderConfig {
  return { allowPrivateAddresses: config.WEBHOOK_ALLOW_PRIVATE === 'yes', isAlone };
}

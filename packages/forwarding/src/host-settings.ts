import { hostFault } from '@outrider/channels';
import type { SettingsFault } from './destination-kind.ts';

/** Where a connection goes. */
export interface HostSettings {
  host: string;
  port: number;
  tls: boolean;
}

/** What is wrong with where a connection goes; null where nothing is. */
export function hostSettingsFault(
  { host }: Pick<HostSettings, 'host'>,
  { allowPrivateAddresses }: { allowPrivateAddresses: boolean },
): SettingsFault | null {
  const detail = hostFault(host, allowPrivateAddresses);
  return detail === null ? null : { pointer: '/host', detail };
}

/** `host:port`, as addresses are written. */
export function endpointText({ host, port }: Pick<HostSettings, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

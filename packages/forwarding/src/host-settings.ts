import { hostFault } from '@outrider/channels';
import type { SettingsFault } from './destination-kind.ts';

/** Server to connect to. */
export interface HostSettings {
  host: string;
  port: number;
  tls: boolean;
}

/** Fault of the server to connect to; null if none exists. */
export function hostSettingsFault(
  { host }: Pick<HostSettings, 'host'>,
  { allowPrivateAddresses }: { allowPrivateAddresses: boolean },
): SettingsFault | null {
  const detail = hostFault(host, allowPrivateAddresses);
  return detail === null ? null : { pointer: '/host', detail };
}

/** `host:port`, with brackets around an IPv6 address. */
export function endpointText({ host, port }: Pick<HostSettings, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

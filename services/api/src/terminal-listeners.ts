import type { ProtocolName } from '@outrider/domain';
import { datagramProtocols, protocols } from '@outrider/protocols';
import { oneOf, optionalPort, port, type Variables } from '@outrider/runtime';

/** Address and ports at which terminals connect to the gateway. */
export interface TerminalListeners {
  /** Name or address; null: the host that callers use for the service. */
  host: string | null;
  /** TCP ports by protocol; null: no listener. */
  ports: Readonly<Partial<Record<ProtocolName, number | null>>>;
  /** UDP ports. */
  udpPorts: Readonly<Partial<Record<ProtocolName, number | null>>>;
  /** Ports with TLS. */
  tlsPorts: Readonly<Partial<Record<ProtocolName, number | null>>>;
}

export const NO_LISTENERS: TerminalListeners = { host: null, ports: {}, udpPorts: {}, tlsPorts: {} };

/** Ports of a gateway that runs in a separate process with the same settings. */
export const terminalPortVariables: Variables = {
  ...Object.fromEntries(
    protocols.flatMap(({ settingPrefix, title, defaultPort }) => [
      [`${settingPrefix}_PORT`, port(defaultPort, `${title}.`)],
      [`${settingPrefix}_TLS_PORT`, optionalPort(`${title}, over TLS. If unset, there is no TLS listener.`)],
    ]),
  ),
  TERMINAL_UDP: oneOf(['yes', 'no'], 'yes', 'Whether the gateway takes terminals by UDP, on the same ports.'),
};

/** Ports from the settings. */
export function terminalPortsOf(config: Readonly<Record<string, unknown>>): Omit<TerminalListeners, 'host'> {
  const ports = (suffix: string) =>
    Object.fromEntries(
      protocols.map(({ name, settingPrefix }) => [name, (config[settingPrefix + suffix] ?? null) as number | null]),
    );
  const open = ports('_PORT');
  const overUdp = config.TERMINAL_UDP === 'yes' ? datagramProtocols : [];
  return {
    ports: open,
    udpPorts: Object.fromEntries(overUdp.map(({ name }) => [name, open[name] ?? null])),
    tlsPorts: ports('_TLS_PORT'),
  };
}

import type { ProtocolName } from '@outrider/domain';
import { datagramProtocols, protocols } from '@outrider/protocols';
import { oneOf, optionalPort, port, type Variables } from '@outrider/runtime';

/** Where terminals reach the gateway. */
export interface TerminalListeners {
  /** Name or address; null: the one that callers know the service by. */
  host: string | null;
  /** By protocol; null: no listener. */
  ports: Readonly<Partial<Record<ProtocolName, number | null>>>;
  /** By UDP. */
  udpPorts: Readonly<Partial<Record<ProtocolName, number | null>>>;
  /** Those with TLS. */
  tlsPorts: Readonly<Partial<Record<ProtocolName, number | null>>>;
}

export const NO_LISTENERS: TerminalListeners = { host: null, ports: {}, udpPorts: {}, tlsPorts: {} };

/** The ports of a gateway in a process of its own, which has the same settings. */
export const terminalPortVariables: Variables = {
  ...Object.fromEntries(
    protocols.flatMap(({ settingPrefix, title, defaultPort }) => [
      [`${settingPrefix}_PORT`, port(defaultPort, `${title}.`)],
      [`${settingPrefix}_TLS_PORT`, optionalPort(`${title}, by TLS. Unset: no TLS listener.`)],
    ]),
  ),
  TERMINAL_UDP: oneOf(['yes', 'no'], 'yes', 'Whether the gateway takes terminals by UDP, on the same ports.'),
};

/** The ports in the settings. */
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

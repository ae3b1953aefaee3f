import type { ProtocolName } from '@outrider/domain';
import { protocols } from '@outrider/protocols';
import {
  type Config,
  ConfigError,
  type hostVariables,
  optionalPort,
  port,
  secret,
  text,
  type Variables,
  whole,
} from '@outrider/runtime';
import type { GatewayConfig } from './gateway.ts';

/** `<prefix>_PORT` and `<prefix>_TLS_PORT` of each protocol. */
const portVariables = Object.fromEntries(
  protocols.flatMap(({ settingPrefix, title, defaultPort }) => [
    [`${settingPrefix}_PORT`, port(defaultPort, `${title}.`)],
    [`${settingPrefix}_TLS_PORT`, optionalPort(`${title}, by TLS. Unset: no TLS listener.`)],
  ]),
);

/** Settings of the gateway. */
export const gatewayVariables = {
  ...portVariables,
  TERMINAL_TLS_CERTIFICATE: text(
    'File with the certificate of the TLS ports of terminals, and those that it is signed by (PEM). Read anew when it changes.',
  ),
  TERMINAL_TLS_KEY: text('File with the key of that certificate (PEM).'),
  TERMINAL_SECRET: secret(
    'What the codes are derived from that terminals are given when they register; the same in all instances. Where unset, a random one is kept in `DATA_DIR`.',
  ),
  MAX_TERMINAL_CONNECTIONS: whole(
    1,
    1_000_000,
    20_000,
    'Open connections per terminal protocol; further ones are refused.',
  ),
  MAX_TERMINAL_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    12_000,
    'Of these, from one address (IPv6: one /64); a sixth of them before the terminal identified itself. Connections from this machine itself are not counted.',
  ),
  UNKNOWN_TERMINALS_PER_MINUTE: whole(
    1,
    1_000_000,
    100,
    'Ids without a vehicle that one address may try in a minute; beyond it, terminals that come from there for the first time are refused until the minute is over.',
  ),
  TERMINAL_IDLE_SECONDS: whole(5, 86_400, 900, 'A terminal that says nothing for this long is disconnected.'),
} satisfies Variables;

/**
 * The gateway's configuration from the settings.
 *
 * @param terminalSecret the configured one, or else a stored one
 */
export function gatewayConfigOf(
  config: Config<typeof gatewayVariables & typeof hostVariables>,
  terminalSecret: string,
): GatewayConfig {
  return {
    host: config.HOST,
    ports: portsOf(config, '_PORT'),
    tls: tlsOf(config),
    maxConnections: config.MAX_TERMINAL_CONNECTIONS,
    maxConnectionsPerAddress: config.MAX_TERMINAL_CONNECTIONS_PER_ADDRESS,
    unknownPerMinute: config.UNKNOWN_TERMINALS_PER_MINUTE,
    idleTimeoutMs: config.TERMINAL_IDLE_SECONDS * 1000,
    terminalSecret,
  };
}

/** By protocol; null: no listener. */
function portsOf(
  config: Readonly<Record<string, unknown>>,
  suffix: '_PORT' | '_TLS_PORT',
): Record<ProtocolName, number | null> {
  return Object.fromEntries(
    protocols.map(({ name, settingPrefix }) => [name, config[settingPrefix + suffix] as number | null]),
  );
}

/** @throws {ConfigError} where a port is set, and the files are not */
function tlsOf(config: Config<typeof gatewayVariables>): GatewayConfig['tls'] {
  const ports = portsOf(config, '_TLS_PORT');
  if (Object.values(ports).every((each) => each === null)) return null;
  const { TERMINAL_TLS_CERTIFICATE: certificate, TERMINAL_TLS_KEY: key } = config;
  if (certificate === null || key === null)
    throw new ConfigError(['TERMINAL_TLS_CERTIFICATE and TERMINAL_TLS_KEY must be set where a TLS port is']);
  return { ports, certificate, key };
}

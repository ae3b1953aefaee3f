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

/** What the gateway is set up by. */
export const gatewayVariables = {
  OMNICOMM_PORT: port(5203, 'Omnicomm terminals.'),
  TELTONIKA_PORT: port(5027, 'Teltonika terminals, Codec 8 and 8 Extended.'),
  WIALON_PORT: port(5039, 'Wialon IPS 1.1 and 2.0 terminals.'),
  OSMAND_PORT: port(5055, 'OsmAnd and Traccar Client (HTTP).'),
  JT808_PORT: port(5015, 'JT/T 808 terminals, editions of 2013 and 2019.'),
  OMNICOMM_TLS_PORT: optionalPort('Omnicomm by TLS; where unset, not listened for.'),
  TELTONIKA_TLS_PORT: optionalPort('Teltonika by TLS.'),
  WIALON_TLS_PORT: optionalPort('Wialon IPS by TLS.'),
  OSMAND_TLS_PORT: optionalPort('OsmAnd by HTTPS.'),
  JT808_TLS_PORT: optionalPort('JT/T 808 by TLS.'),
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
 * The gateway's configuration as it stands in the settings.
 *
 * @param terminalSecret the one that is set, or where none is, one that is kept
 */
export function gatewayConfigOf(
  config: Config<typeof gatewayVariables & typeof hostVariables>,
  terminalSecret: string,
): GatewayConfig {
  return {
    host: config.HOST,
    ports: {
      omnicomm: config.OMNICOMM_PORT,
      teltonika: config.TELTONIKA_PORT,
      'wialon-ips': config.WIALON_PORT,
      osmand: config.OSMAND_PORT,
      jt808: config.JT808_PORT,
    },
    tls: tlsOf(config),
    maxConnections: config.MAX_TERMINAL_CONNECTIONS,
    maxConnectionsPerAddress: config.MAX_TERMINAL_CONNECTIONS_PER_ADDRESS,
    unknownPerMinute: config.UNKNOWN_TERMINALS_PER_MINUTE,
    idleTimeoutMs: config.TERMINAL_IDLE_SECONDS * 1000,
    terminalSecret,
  };
}

/** @throws {ConfigError} where a port is set, and the files are not */
function tlsOf(config: Config<typeof gatewayVariables>): GatewayConfig['tls'] {
  const ports = {
    omnicomm: config.OMNICOMM_TLS_PORT,
    teltonika: config.TELTONIKA_TLS_PORT,
    'wialon-ips': config.WIALON_TLS_PORT,
    osmand: config.OSMAND_TLS_PORT,
    jt808: config.JT808_TLS_PORT,
  };
  if (Object.values(ports).every((each) => each === null)) return null;
  const { TERMINAL_TLS_CERTIFICATE: certificate, TERMINAL_TLS_KEY: key } = config;
  if (certificate === null || key === null)
    throw new ConfigError(['TERMINAL_TLS_CERTIFICATE and TERMINAL_TLS_KEY must be set where a TLS port is']);
  return { ports, certificate, key };
}

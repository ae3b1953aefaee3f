import { trustedProxies } from '@outrider/auth';
import type { ProtocolName } from '@outrider/domain';
import { protocols } from '@outrider/protocols';
import {
  type Config,
  type hostVariables,
  oneOf,
  optionalPort,
  port,
  secret,
  text,
  type Variable,
  type Variables,
  whole,
} from '@outrider/runtime';
import { DEFAULT_TOPICS, topicRoutesOf } from './broker/topics.ts';
import type { GatewayConfig } from './gateway.ts';

/** `<prefix>_PORT` and `<prefix>_TLS_PORT` of each protocol. */
const portVariables = Object.fromEntries(
  protocols.flatMap(({ settingPrefix, title, defaultPort }) => [
    [`${settingPrefix}_PORT`, port(defaultPort, `${title}.`)],
    [`${settingPrefix}_TLS_PORT`, optionalPort(`${title}, over TLS. If unset, there is no TLS listener.`)],
  ]),
);

function brokerUrl(description: string): Variable<string | null> {
  return {
    description,
    fallback: undefined,
    secret: true,
    parse(value) {
      // The message does not contain the value, which includes a password.
      if (!URL.canParse(value) || !/^(mqtts?|wss?):\/\/./.test(value))
        throw new Error('a URL with mqtt, mqtts, ws or wss');
      return value;
    },
  };
}

function topics(description: string): Variable<string> {
  return {
    description,
    fallback: DEFAULT_TOPICS,
    secret: false,
    parse(value) {
      topicRoutesOf(value);
      return value;
    },
  };
}

function clientId(description: string): Variable<string> {
  return {
    description,
    fallback: 'outrider',
    secret: false,
    parse(value) {
      if (!/^[A-Za-z0-9._-]{1,64}$/.test(value))
        throw new Error('1 to 64 letters, digits, full stops, hyphens, underscores');
      return value;
    },
  };
}

function proxies(description: string): Variable<readonly string[]> {
  return {
    description,
    fallback: ',',
    secret: false,
    parse(value) {
      const list = value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
      trustedProxies(list);
      return list;
    },
  };
}

/** Settings of the gateway. */
export const gatewayVariables = {
  ...portVariables,
  TERMINAL_UDP: oneOf(
    ['yes', 'no'],
    'yes',
    'Whether terminals may send by UDP, to the same port number, if their protocol supports it (see [protocols.md](protocols.md)).',
  ),
  MAX_DATAGRAMS_PER_ADDRESS: whole(
    1,
    1_000_000,
    1000,
    'Maximum number of datagrams per second from one address (IPv6: one /64). A refused one counts as ten. Datagrams from this machine are not counted.',
  ),
  TERMINAL_TLS_CERTIFICATE: {
    ...text('File with the certificate chain for the TLS ports of terminals (PEM). Reloaded when it changes.'),
    conflict: (config) =>
      hasTlsPorts(config) && (config.TERMINAL_TLS_CERTIFICATE === null || config.TERMINAL_TLS_KEY === null)
        ? 'TERMINAL_TLS_CERTIFICATE and TERMINAL_TLS_KEY must be set where a TLS port is'
        : null,
  },
  TERMINAL_TLS_KEY: text('File with the private key of that certificate (PEM).'),
  TERMINAL_SECRET: secret(
    'Secret from which the authentication codes for registering terminals are derived. It must be the same in all instances. If unset, a random one is kept in `DATA_DIR`.',
  ),
  MQTT_URL: brokerUrl(
    'MQTT broker from which positions are read: `mqtt://user:password@host:1883`, `mqtts://`, `ws://` or `wss://`. If unset, none.',
  ),
  MQTT_TOPICS: topics(
    'Topics to read: a list of `<protocol>:<topic filter>`, separated by commas. Messages are read with QoS 1.',
  ),
  MQTT_CLIENT_ID: clientId(
    'Client id for the session at the broker. It must be the same in all gateways, and unique for each deployment that uses the broker.',
  ),
  FLESPI_TOKEN: secret(
    'Token that each request of flespi must carry, as `Authorization: Bearer <token>`. It then authenticates all vehicles. If unset, no token is required, except for vehicles with their own secret.',
  ),
  MAX_TERMINAL_CONNECTIONS: {
    ...whole(
      1,
      1_000_000,
      20_000,
      'Maximum number of open connections per terminal protocol. Further ones are refused.',
    ),
    allowsConnections: true,
  },
  MAX_TERMINAL_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    12_000,
    'The same per address (IPv6: one /64). At most a sixth of them may be connections whose terminal has not identified itself yet. Connections from this machine are not counted.',
  ),
  TERMINAL_PROXIES: proxies(
    'Addresses or subnets of TCP proxies in front of the ports of terminals, separated by commas. Each of their connections must begin with a PROXY protocol header (version 1 or 2), which contains the address of the client. Connections from other addresses have no such header. See [proxies.md](operations/proxies.md).',
  ),
  UNKNOWN_TERMINALS_PER_MINUTE: whole(
    1,
    1_000_000,
    100,
    'Maximum number of terminal ids without a vehicle that one address may try in a minute. Beyond it, terminals that connect from there for the first time are refused until the minute is over.',
  ),
  TERMINAL_IDLE_SECONDS: whole(5, 86_400, 900, 'Time without data after which a terminal is disconnected.'),
} satisfies Variables;

/**
 * The gateway's configuration from the settings.
 *
 * @param terminalSecret the configured secret, or else the stored one
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
    udp: config.TERMINAL_UDP === 'yes',
    maxDatagramsPerAddress: config.MAX_DATAGRAMS_PER_ADDRESS,
    maxConnectionsPerAddress: config.MAX_TERMINAL_CONNECTIONS_PER_ADDRESS,
    proxies: config.TERMINAL_PROXIES.length === 0 ? null : trustedProxies(config.TERMINAL_PROXIES),
    unknownPerMinute: config.UNKNOWN_TERMINALS_PER_MINUTE,
    idleTimeoutMs: config.TERMINAL_IDLE_SECONDS * 1000,
    platformTokens: { flespi: config.FLESPI_TOKEN },
    broker:
      config.MQTT_URL === null
        ? null
        : { url: config.MQTT_URL, clientId: config.MQTT_CLIENT_ID, topics: config.MQTT_TOPICS },
    terminalSecret,
  };
}

/** Port by protocol; null: no listener. */
function portsOf(
  config: Readonly<Record<string, unknown>>,
  suffix: '_PORT' | '_TLS_PORT',
): Record<ProtocolName, number | null> {
  return Object.fromEntries(
    protocols.map(({ name, settingPrefix }) => [name, config[settingPrefix + suffix] as number | null]),
  );
}

function hasTlsPorts(config: Readonly<Record<string, unknown>>): boolean {
  return Object.values(portsOf(config, '_TLS_PORT')).some((each) => each !== null);
}

/** TLS settings. Their consistency was checked when the settings were read. */
function tlsOf(config: Config<typeof gatewayVariables>): GatewayConfig['tls'] {
  const { TERMINAL_TLS_CERTIFICATE: certificate, TERMINAL_TLS_KEY: key } = config;
  if (!hasTlsPorts(config) || certificate === null || key === null) return null;
  return { ports: portsOf(config, '_TLS_PORT'), certificate, key };
}

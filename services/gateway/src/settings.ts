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
    [`${settingPrefix}_TLS_PORT`, optionalPort(`${title}, by TLS. Unset: no TLS listener.`)],
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
    'Terminals may send by UDP where their protocol has it (see [protocols.md](protocols.md)), to the number of its port.',
  ),
  MAX_DATAGRAMS_PER_ADDRESS: whole(
    1,
    1_000_000,
    1000,
    'Datagrams of one address (IPv6: one /64) that are read in a second; a refused one counts as ten. Those of this machine itself are not counted.',
  ),
  TERMINAL_TLS_CERTIFICATE: {
    ...text(
      'File with the certificate of the TLS ports of terminals, and those that it is signed by (PEM). Read anew when it changes.',
    ),
    conflict: (config) =>
      hasTlsPorts(config) && (config.TERMINAL_TLS_CERTIFICATE === null || config.TERMINAL_TLS_KEY === null)
        ? 'TERMINAL_TLS_CERTIFICATE and TERMINAL_TLS_KEY must be set where a TLS port is'
        : null,
  },
  TERMINAL_TLS_KEY: text('File with the key of that certificate (PEM).'),
  TERMINAL_SECRET: secret(
    'What the codes are derived from that terminals are given when they register; the same in all instances. Where unset, a random one is kept in `DATA_DIR`.',
  ),
  MQTT_URL: brokerUrl(
    'Broker whose topics are a source: `mqtt://user:password@host:1883`, `mqtts://`, `ws://` or `wss://`. Unset: none.',
  ),
  MQTT_TOPICS: topics(
    'What is read from the broker: a list of `<protocol>:<topic filter>` with commas. Messages are read with QoS 1.',
  ),
  MQTT_CLIENT_ID: clientId(
    'Name of the session at the broker: the same in all gateways, another for each deployment at the same broker.',
  ),
  FLESPI_TOKEN: secret(
    'What each request of flespi must show: `Authorization: Bearer <token>`. It then speaks for every vehicle. Unset: nothing is asked for, and a vehicle with a secret of its own is taken only with that.',
  ),
  MAX_TERMINAL_CONNECTIONS: {
    ...whole(1, 1_000_000, 20_000, 'Open connections per terminal protocol; further ones are refused.'),
    allowsConnections: true,
  },
  MAX_TERMINAL_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    12_000,
    'Of these, from one address (IPv6: one /64); a sixth of them before the terminal identified itself. Connections from this machine itself are not counted.',
  ),
  TERMINAL_PROXIES: proxies(
    'Addresses or subnets of TCP proxies in front of the ports of terminals, separated by commas. Each of their connections must begin with a header of the PROXY protocol (version 1 or 2), which says who connected; connections from elsewhere are taken as they are. See [proxies.md](operations/proxies.md).',
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

import type { CommandAbility, ProtocolName } from '@outrider/domain';
import { egts } from './egts/protocol.ts';
import { flespi } from './flespi/protocol.ts';
import { galileosky } from './galileosky/protocol.ts';
import { gps103 } from './gps103/protocol.ts';
import { gt06 } from './gt06/protocol.ts';
import { h02 } from './h02/protocol.ts';
import { jt808 } from './jt808/protocol.ts';
import { meitrack } from './meitrack/protocol.ts';
import { mqttJson } from './mqtt-json/protocol.ts';
import { navtelecom } from './navtelecom/protocol.ts';
import { omnicomm } from './omnicomm/protocol.ts';
import { osmand } from './osmand/protocol.ts';
import { owntracks } from './owntracks/protocol.ts';
import type { DatagramSide, HttpProtocol, Protocol, TopicProtocol } from './protocol.ts';
import { queclink } from './queclink/protocol.ts';
import { ruptela } from './ruptela/protocol.ts';
import { suntech } from './suntech/protocol.ts';
import { teltonika } from './teltonika/protocol.ts';
import { tk103 } from './tk103/protocol.ts';
import { wialonIps } from './wialon-ips/protocol.ts';
import { wialonRetranslator } from './wialon-retranslator/protocol.ts';

/**
 * Every protocol in which terminals can send to the gateway. Settings, documents, simulators and tests are derived from
 * this list.
 */
export const protocols = [
  omnicomm,
  teltonika,
  wialonIps,
  osmand,
  jt808,
  gt06,
  ruptela,
  galileosky,
  egts,
  h02,
  gps103,
  meitrack,
  queclink,
  tk103,
  suntech,
  wialonRetranslator,
  navtelecom,
  owntracks,
  flespi,
] as const;

export type ListedProtocol = (typeof protocols)[number]['name'];

type TcpProtocol = Extract<(typeof protocols)[number], Protocol>;

/** Protocols over TCP: one listener each. */
export const tcpProtocols: readonly TcpProtocol[] = protocols.filter(
  (each): each is TcpProtocol => 'createSession' in each,
);

type DatagramProtocol = TcpProtocol & { datagrams: DatagramSide };

/** Protocols that also support UDP. */
export const datagramProtocols: readonly DatagramProtocol[] = tcpProtocols.filter(
  (each): each is DatagramProtocol => each.datagrams !== undefined,
);

type ListedHttpProtocol = Extract<(typeof protocols)[number], HttpProtocol>;

/** Protocols over HTTP. */
export const httpProtocols: readonly ListedHttpProtocol[] = protocols.filter(
  (each): each is ListedHttpProtocol => 'maxBodyBytes' in each,
);

/** Protocols over an MQTT broker; some also support HTTP. */
export const topicProtocols = [mqttJson, owntracks, flespi] as const satisfies readonly TopicProtocol[];

/** Every protocol that a vehicle can be bound to. */
export const allProtocols = [...protocols, mqttJson] as const;

/** Names of the port settings of all protocols: `OMNICOMM_PORT`, `OMNICOMM_TLS_PORT`, … */
export const PORT_VARIABLES: readonly string[] = protocols.flatMap(({ settingPrefix }) => [
  `${settingPrefix}_PORT`,
  `${settingPrefix}_TLS_PORT`,
]);

/** Commands that terminals of a protocol support. */
export function abilitiesOf(protocol: ProtocolName): readonly CommandAbility[] {
  return tcpProtocols.find(({ name }): boolean => name === protocol)?.commands ?? [];
}

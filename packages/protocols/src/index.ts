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

export { crc16Arc } from './crc16.ts';
export { type DispatcherReply, EgtsDispatcher, type ForwardedPosition } from './egts/dispatcher.ts';
export { guessProtocols, type ProtocolGuess } from './guess.ts';
export { decodeCommand, encodeRecordings } from './jt808/commands.ts';
export type { Edition as Jt808Edition, Message as Jt808Message } from './jt808/frame.ts';
export { MESSAGE as JT808_MESSAGE, RESULT as JT808_RESULT } from './jt808/message-ids.ts';
export {
  createJt808Simulator,
  createJt808Simulator2013,
  encodeLocation,
  Jt808TerminalSide,
} from './jt808/simulator.ts';
export {
  PlaybackReassembler,
  type StreamCodec,
  type StreamFrame,
  type StreamLosses,
  type StreamMessage,
} from './jt1078/reassembler.ts';
export { StreamWriter } from './jt1078/stream-writer.ts';
export * from './mqtt-reasons.ts';
export { createOmnicommSimulator } from './omnicomm/simulator.ts';
export {
  decodeOsmand,
  type OsmandRefusal,
  type OsmandReport,
  type OsmandRequest,
} from './osmand/decode.ts';
export { encodeOsmandJson, encodeOsmandQuery } from './osmand/encode.ts';
export * from './protocol.ts';
export { createQueclinkHexSimulator, createQueclinkRecordSimulator } from './queclink/simulator.ts';
export { SENSOR_PRESETS, type SensorPreset, type SensorPresetFamily } from './sensor-presets.ts';
export { createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './teltonika/simulator.ts';
export { createWialonIps11Simulator, createWialonIpsSender, createWialonIpsSimulator } from './wialon-ips/simulator.ts';
export {
  egts,
  flespi,
  galileosky,
  gps103,
  gt06,
  h02,
  jt808,
  meitrack,
  mqttJson,
  navtelecom,
  omnicomm,
  osmand,
  owntracks,
  queclink,
  ruptela,
  suntech,
  teltonika,
  tk103,
  wialonIps,
  wialonRetranslator,
};

/**
 * Every protocol that terminals can speak to the gateway. Settings, documents, simulators and tests follow from this
 * list.
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

/** The name of a protocol in this list. */
export type ListedProtocol = (typeof protocols)[number]['name'];

type TcpProtocol = Extract<(typeof protocols)[number], Protocol>;

/** Those over TCP: one listener each. */
export const tcpProtocols: readonly TcpProtocol[] = protocols.filter(
  (each): each is TcpProtocol => 'createSession' in each,
);

type DatagramProtocol = TcpProtocol & { datagrams: DatagramSide };

/** Those over UDP as well. */
export const datagramProtocols: readonly DatagramProtocol[] = tcpProtocols.filter(
  (each): each is DatagramProtocol => each.datagrams !== undefined,
);

type ListedHttpProtocol = Extract<(typeof protocols)[number], HttpProtocol>;

/** Those over HTTP. */
export const httpProtocols: readonly ListedHttpProtocol[] = protocols.filter(
  (each): each is ListedHttpProtocol => 'maxBodyBytes' in each,
);

/** Those that are published to a broker (MQTT); some are spoken over HTTP as well. */
export const topicProtocols = [mqttJson, owntracks, flespi] as const satisfies readonly TopicProtocol[];

/** Every protocol that a vehicle can be bound to. */
export const allProtocols = [...protocols, mqttJson] as const;

/** The settings of the ports of all protocols: `OMNICOMM_PORT`, `OMNICOMM_TLS_PORT`, … */
export const PORT_VARIABLES: readonly string[] = protocols.flatMap(({ settingPrefix }) => [
  `${settingPrefix}_PORT`,
  `${settingPrefix}_TLS_PORT`,
]);

/** What terminals that speak a protocol can be asked to do. */
export function abilitiesOf(protocol: ProtocolName): readonly CommandAbility[] {
  return tcpProtocols.find(({ name }): boolean => name === protocol)?.commands ?? [];
}

import { gt06 } from './gt06/protocol.ts';
import { jt808 } from './jt808/protocol.ts';
import { omnicomm } from './omnicomm/protocol.ts';
import { osmand } from './osmand/protocol.ts';
import type { Protocol } from './protocol.ts';
import { teltonika } from './teltonika/protocol.ts';
import { wialonIps } from './wialon-ips/protocol.ts';

export { crc16Arc } from './crc16.ts';
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
export { createOmnicommSimulator } from './omnicomm/simulator.ts';
export {
  decodeOsmand,
  type OsmandRefusal,
  type OsmandReport,
  type OsmandRequest,
} from './osmand/decode.ts';
export { encodeOsmandJson, encodeOsmandQuery } from './osmand/encode.ts';
export * from './protocol.ts';
export { createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './teltonika/simulator.ts';
export { createWialonIps11Simulator, createWialonIpsSimulator } from './wialon-ips/simulator.ts';
export { gt06, jt808, omnicomm, osmand, teltonika, wialonIps };

/**
 * Every protocol that terminals can speak to the gateway. Settings, documents, simulators and tests follow from this
 * list.
 */
export const protocols = [omnicomm, teltonika, wialonIps, osmand, jt808, gt06] as const;

/** The name of a protocol in this list. */
export type ListedProtocol = (typeof protocols)[number]['name'];

type TcpProtocol = Extract<(typeof protocols)[number], Protocol>;

/** Those over TCP: one listener each. */
export const tcpProtocols: readonly TcpProtocol[] = protocols.filter(
  (each): each is TcpProtocol => 'createSession' in each,
);

/** The settings of the ports of all protocols: `OMNICOMM_PORT`, `OMNICOMM_TLS_PORT`, … */
export const PORT_VARIABLES: readonly string[] = protocols.flatMap(({ settingPrefix }) => [
  `${settingPrefix}_PORT`,
  `${settingPrefix}_TLS_PORT`,
]);

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
export * from './list.ts';
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

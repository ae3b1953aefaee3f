import { omnicomm } from './omnicomm/protocol.ts';
import type { Protocol } from './protocol.ts';
import { teltonika } from './teltonika/protocol.ts';
import { wialonIps } from './wialon-ips/protocol.ts';

export { createOmnicommSimulator } from './omnicomm/simulator.ts';
export {
  decodeOsmand,
  OSMAND_PORT,
  type OsmandRefusal,
  type OsmandReport,
  type OsmandRequest,
} from './osmand/decode.ts';
export { encodeOsmandJson, encodeOsmandQuery } from './osmand/encode.ts';
export * from './protocol.ts';
export { createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './teltonika/simulator.ts';
export { createWialonIps11Simulator, createWialonIpsSimulator } from './wialon-ips/simulator.ts';
export { omnicomm, teltonika, wialonIps };

/** Every protocol that terminals speak over TCP: one listener each. */
export const tcpProtocols: readonly Protocol[] = [omnicomm, teltonika, wialonIps];

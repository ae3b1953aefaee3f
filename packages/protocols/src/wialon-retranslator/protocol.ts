import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, WialonRetranslatorSession } from './session.ts';
import { createWialonRetranslatorSimulator } from './simulator.ts';

export const wialonRetranslator: Protocol<'wialon-retranslator'> = {
  name: 'wialon-retranslator',
  title: 'Wialon Retranslator 1.0',
  settingPrefix: 'WIALON_RETRANSLATOR',
  defaultPort: 5077,
  acknowledgement: '`11` for each packet',
  secret: null,
  help: 'A platform sends the data of all its vehicles by one connection. The terminal id of each is its unique id there. In Wialon: a retranslator with protocol Wialon Retranslator, and this address and port. Packets of an unknown terminal are confirmed and dropped, so that they do not hold up the others.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: (options) => new WialonRetranslatorSession(options),
  simulators: [createWialonRetranslatorSimulator],
};

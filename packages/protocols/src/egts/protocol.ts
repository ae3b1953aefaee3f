import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { EgtsSession } from './session.ts';
import { createEgtsSimulator } from './simulator.ts';
import { MAX_FRAME_BYTES } from './transport.ts';

export const egts: Protocol<'egts'> = {
  name: 'egts',
  title: 'EGTS',
  settingPrefix: 'EGTS',
  defaultPort: 5162,
  acknowledgement: 'a response packet that confirms each record',
  secret: 'the password of a dispatcher (AUTH_INFO)',
  help: 'The terminal id is the IMEI of its identity, or else its number (TID, OID). In the configurator: EGTS, and this address and port. A platform that forwards its vehicles sends them all in one connection: the terminal id of each is its object id (OID).',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: (options) => new EgtsSession(options),
  simulators: [createEgtsSimulator],
};

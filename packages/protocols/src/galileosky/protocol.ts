import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { GalileoskySession, MAX_FRAME_BYTES } from './session.ts';
import { createGalileoskySimulator } from './simulator.ts';

export const galileosky: Protocol<'galileosky'> = {
  name: 'galileosky',
  title: 'Galileosky',
  settingPrefix: 'GALILEOSKY',
  defaultPort: 5034,
  acknowledgement: '`02` and the checksum of the packet',
  secret: null,
  help: 'The terminal id is the IMEI. In the configurator: protocol Galileosky. By SMS: `serverip <address>,5034`.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new GalileoskySession(),
  simulators: [createGalileoskySimulator],
};

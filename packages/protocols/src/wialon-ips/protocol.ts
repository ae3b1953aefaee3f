import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { createWialonIpsDatagramSimulator, WialonIpsDatagramSession } from './datagrams.ts';
import { MAX_FRAME_BYTES, WialonIpsSession } from './session.ts';
import { createWialonIps11Simulator, createWialonIpsSimulator } from './simulator.ts';

export const wialonIps: Protocol<'wialon-ips'> = {
  name: 'wialon-ips',
  title: 'Wialon IPS 1.1, 2.0',
  settingPrefix: 'WIALON',
  defaultPort: 5039,
  acknowledgement: '`#AL#`, `#AD#`, `#ASD#`, `#AB#`, `#AP#`',
  secret: 'the password of its login',
  help: 'The terminal id is the id of the login, an IMEI or a name.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new WialonIpsSession(),
  datagrams: {
    identification: 'each',
    createSession: (options) => new WialonIpsDatagramSession(() => wialonIps.createSession(options)),
    simulator: createWialonIpsDatagramSimulator,
  },
  commands: [{ type: 'text', maxCharacters: 500, how: '`#M#`, a message to the driver, or to the terminal' }],
  simulators: [createWialonIpsSimulator, createWialonIps11Simulator],
};

import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, NavtelecomSession } from './session.ts';
import { createNavtelecomSimulator, createNavtelecomSimulator2 } from './simulator.ts';

export const navtelecom: Protocol<'navtelecom'> = {
  name: 'navtelecom',
  title: 'Navtelecom NTCB with FLEX 1.0, 2.0',
  settingPrefix: 'NAVTELECOM',
  defaultPort: 5047,
  acknowledgement: '`~A`, `~T` or `~C` with the count or the number of the records',
  secret: null,
  help: 'The terminal id is the IMEI. In NTC Configurator: this address and port, data transfer protocol FLEX 2.0, additional packets off.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new NavtelecomSession(),
  simulators: [createNavtelecomSimulator, createNavtelecomSimulator2],
};

import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, TeltonikaSession } from './session.ts';
import { createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './simulator.ts';

export const teltonika: Protocol<'teltonika'> = {
  name: 'teltonika',
  title: 'Teltonika Codec 8, 8 Extended',
  settingPrefix: 'TELTONIKA',
  defaultPort: 5027,
  acknowledgement: 'the number of records accepted',
  secret: null,
  help: 'The terminal id is the IMEI. In the configurator: TCP, Codec 8 or 8 Extended. Messages (Codec 12 to 15) are logged, not answered.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new TeltonikaSession(),
  simulators: [createTeltonikaSimulator, createTeltonikaExtendedSimulator],
};

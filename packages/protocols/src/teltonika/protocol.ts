import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { TELTONIKA_COMMANDS } from './commands.ts';
import { createTeltonikaDatagramSimulator, TeltonikaDatagramSession } from './datagrams.ts';
import { MAX_FRAME_BYTES, TeltonikaSession } from './session.ts';
import { createTeltonika16Simulator, createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './simulator.ts';

export const teltonika: Protocol<'teltonika'> = {
  name: 'teltonika',
  title: 'Teltonika Codec 8, 8 Extended, 16',
  settingPrefix: 'TELTONIKA',
  defaultPort: 5027,
  acknowledgement: 'the number of records accepted',
  secret: null,
  help: 'The terminal id is the IMEI. In the configurator: TCP or UDP, Codec 8, 8 Extended or 16. The device model of the vehicle says what its I/O elements mean. Commands go out in Codec 12; other messages (Codec 12 to 15) are kept as the attribute `text`.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: (options) => new TeltonikaSession(options),
  commands: TELTONIKA_COMMANDS,
  datagrams: {
    identification: 'each',
    createSession: (options) => new TeltonikaDatagramSession(() => teltonika.createSession(options)),
    simulator: createTeltonikaDatagramSimulator,
  },
  simulators: [createTeltonikaSimulator, createTeltonikaExtendedSimulator, createTeltonika16Simulator],
};

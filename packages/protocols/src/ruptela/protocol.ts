import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, RuptelaSession } from './session.ts';
import { createRuptelaExtendedSimulator, createRuptelaSimulator } from './simulator.ts';

/** Length of an SMS. */
const MAX_TEXT_CHARACTERS = 160;

export const ruptela: Protocol<'ruptela'> = {
  name: 'ruptela',
  title: 'Ruptela',
  settingPrefix: 'RUPTELA',
  defaultPort: 5046,
  acknowledgement: 'answer 100 with 1',
  secret: null,
  help: 'The terminal id is the IMEI. In the configurator: protocol TCP, and this address and port. By SMS: `<password> setconnection <APN>,<login>,<password>,TCP,<address>,5046`.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new RuptelaSession(),
  datagrams: { identification: 'each' },
  commands: [
    {
      type: 'text',
      maxCharacters: MAX_TEXT_CHARACTERS,
      how: 'command 108 (SMS via GPRS): the text of an SMS command with its password, such as `pass imei`; answered by 7',
    },
  ],
  simulators: [createRuptelaSimulator, createRuptelaExtendedSimulator],
};

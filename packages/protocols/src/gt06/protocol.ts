import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { GT06_COMMANDS } from './commands.ts';
import { MAX_FRAME_BYTES } from './frame.ts';
import { Gt06Session } from './session.ts';
import { createGt06Simulator } from './simulator.ts';

export const gt06: Protocol<'gt06'> = {
  name: 'gt06',
  title: 'GT06, Concox',
  settingPrefix: 'GT06',
  defaultPort: 5023,
  acknowledgement: 'the message number and serial number of the packet',
  secret: null,
  help: 'The terminal id is the IMEI. By SMS: `SERVER,0,<address>,5023,0#` (IP address) or `SERVER,1,<name>,5023,0#` (domain name).',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new Gt06Session(),
  datagrams: { identification: 'login' },
  commands: GT06_COMMANDS,
  simulators: [createGt06Simulator],
};

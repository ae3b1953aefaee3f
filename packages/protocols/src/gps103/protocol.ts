import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { Gps103Session, MAX_FRAME_BYTES } from './session.ts';
import { createGps103Simulator } from './simulator.ts';

export const gps103: Protocol<'gps103'> = {
  name: 'gps103',
  title: 'GPS103, Coban',
  settingPrefix: 'GPS103',
  defaultPort: 5001,
  acknowledgement: '`ON` to a heartbeat behind the reports; `**,imei:…,E;` to the panic button',
  secret: null,
  help: 'The terminal id is the IMEI. By SMS, with its password, `123456` when new: `adminip<password> <address> 5001`, then `gprs<password>`.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new Gps103Session(),
  datagrams: { identification: 'each' },
  simulators: [createGps103Simulator],
};

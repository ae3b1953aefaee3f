import type { TerminalId } from '@outrider/domain';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, Tk103Session } from './session.ts';
import { createTk103Simulator } from './simulator.ts';

export const tk103: Protocol<'tk103'> = {
  name: 'tk103',
  title: 'TK103',
  settingPrefix: 'TK103',
  defaultPort: 5002,
  acknowledgement: '`AP05` to a login, `AP01HSO` to a handshake, `AS01` to an alarm',
  secret: null,
  help: 'The terminal id is the number of 12 digits that stands in its messages: the end of its IMEI as a rule. By SMS, with its password, `123456` when new: `adminip<password> <address> 5002`.',
  exampleId: (number) => `0359${String(number).padStart(8, '0')}` as TerminalId,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new Tk103Session(),
  datagrams: { identification: 'each' },
  simulators: [createTk103Simulator],
};

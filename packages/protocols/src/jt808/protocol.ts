import type { TerminalId } from '@outrider/domain';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES } from './frame.ts';
import { JT808_COMMANDS } from './orders.ts';
import { Jt808Session } from './session.ts';
import { createJt808Simulator, createJt808Simulator2013 } from './simulator.ts';

export const jt808: Protocol<'jt808'> = {
  name: 'jt808',
  title: 'JT/T 808-2013, -2019',
  settingPrefix: 'JT808',
  defaultPort: 5015,
  acknowledgement: '`0x8001`',
  secret: 'its authentication code',
  help:
    'The terminal id is the phone number without leading zeros. Terminals with another number in its place are known by its hexadecimal digits, ' +
    'or by the IMEI that is packed into them.',
  exampleId: (number) => `1390000${String(number).padStart(4, '0')}` as TerminalId,
  carriesVideo: true,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: (options) => new Jt808Session(options ?? {}),
  datagrams: { identification: 'login' },
  commands: JT808_COMMANDS,
  simulators: [createJt808Simulator, createJt808Simulator2013],
};

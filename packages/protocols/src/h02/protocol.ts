import type { TerminalId } from '@outrider/domain';
import type { Protocol } from '../protocol.ts';
import { H02Session, MAX_FRAME_BYTES } from './session.ts';
import { createH02BinarySimulator, createH02Simulator } from './simulator.ts';

export const h02: Protocol<'h02'> = {
  name: 'h02',
  title: 'H02, SinoTrack',
  settingPrefix: 'H02',
  defaultPort: 5013,
  acknowledgement: '`V4` with the name of the message; nothing to places in binary form',
  secret: null,
  help: 'The terminal id is the number printed on the device, 10 digits as a rule. By SMS, with its password, `0000` when new: `804<password> <address> 5013`.',
  exampleId: (number) => `91${String(number).padStart(8, '0')}` as TerminalId,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new H02Session(),
  simulators: [createH02Simulator, createH02BinarySimulator],
};

import type { TerminalId } from '@outrider/domain';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES } from './frame.ts';
import { OmnicommSession } from './session.ts';
import { createOmnicommSimulator } from './simulator.ts';

export const omnicomm: Protocol<'omnicomm'> = {
  name: 'omnicomm',
  title: 'Omnicomm',
  settingPrefix: 'OMNICOMM',
  defaultPort: 5203,
  acknowledgement: '`0x87` with the number of the next record',
  secret: null,
  help: 'The terminal id is the number that the terminal identifies itself with, in decimal digits.',
  exampleId: (number) => String(202_000_000 + number) as TerminalId,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new OmnicommSession(),
  simulators: [createOmnicommSimulator],
};

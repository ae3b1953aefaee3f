import type { TerminalId } from '@outrider/domain';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, SuntechSession } from './session.ts';
import { createSuntechSimulator } from './simulator.ts';

export const suntech: Protocol<'suntech'> = {
  name: 'suntech',
  title: 'Suntech ST300, ST600, ST4300',
  settingPrefix: 'SUNTECH',
  defaultPort: 5011,
  acknowledgement: 'nothing: the protocol has no acknowledgement over TCP',
  secret: null,
  help: 'The terminal id is the number of the device, 9 or 10 digits as a rule. In SyncTrak: server 1 is this address and port, over TCP, reports in text.',
  exampleId: (number) => `205${String(number).padStart(6, '0')}` as TerminalId,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new SuntechSession(),
  simulators: [createSuntechSimulator],
};

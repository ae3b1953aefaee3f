import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, MeitrackSession } from './session.ts';
import { createMeitrackBinarySimulator, createMeitrackSimulator } from './simulator.ts';

export const meitrack: Protocol<'meitrack'> = {
  name: 'meitrack',
  title: 'Meitrack',
  settingPrefix: 'MEITRACK',
  defaultPort: 5020,
  acknowledgement: '`AFF`, `CCC` or `CCE` with the count of the records, which deletes them from the buffer',
  secret: null,
  help: 'The terminal id is the IMEI. Data format `AAA`, `CCC` or `CCE`. By SMS, with its password, `0000` when new: `<password>,A21,1,<address>,5020,<APN>,,`.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new MeitrackSession(),
  datagrams: { identification: 'each' },
  simulators: [createMeitrackSimulator, createMeitrackBinarySimulator],
};

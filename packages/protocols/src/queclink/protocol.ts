import { exampleImei } from '../imei.ts';
import type { Protocol } from '../protocol.ts';
import { MAX_FRAME_BYTES, QueclinkSession } from './session.ts';
import { createQueclinkHexSimulator, createQueclinkRecordSimulator, createQueclinkSimulator } from './simulator.ts';

export const queclink: Protocol<'queclink'> = {
  name: 'queclink',
  title: 'Queclink @Track',
  settingPrefix: 'QUECLINK',
  defaultPort: 5004,
  acknowledgement: '`+SACK:` with the count of the report',
  secret: null,
  help: 'The terminal id is the IMEI. Reports in text (ASCII) or HEX, server acknowledgement (SACK) on; newer terminals report in records. The command that sets address and port is `AT+GTSRI`, or `AT+GTBSI` and `AT+GTSRI` in older models.',
  exampleId: exampleImei,
  maxFrameBytes: MAX_FRAME_BYTES,
  createSession: () => new QueclinkSession(),
  datagrams: { identification: 'each' },
  commands: [
    {
      type: 'text',
      maxCharacters: 500,
      how: 'an air interface command with its password, such as `AT+GTRTO=gl300,1,,,,,,0001$`, or `AT@…` for newer terminals; answered by `+ACK`',
    },
  ],
  simulators: [createQueclinkSimulator, createQueclinkHexSimulator, createQueclinkRecordSimulator],
};

import type { CommandAbility, CommandOrder } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { Edition } from './frame.ts';
import { MESSAGE } from './message-ids.ts';

/** Parameter of 0x8103: seconds between locations while the terminal is in use. */
const REPORT_INTERVAL = 0x0029;
/** Command word of 0x8105. */
const RESET = 4;
/** Flag of 0x8300: show the text on the terminal's display. */
const ON_DISPLAY = 0x04;
/** Text type of 0x8300 in the edition of 2019. */
const NOTICE = 1;
const MAX_TEXT_CHARACTERS = 500;

/** JT/T 808 has no message that blocks an engine; each maker has its own. */
export const JT808_COMMANDS: readonly CommandAbility[] = [
  { type: 'position-request', how: '`0x8201`, answered by `0x0201`' },
  { type: 'interval-set', seconds: { min: 1, max: 86_400 }, how: '`0x8103`, parameter `0x0029`' },
  { type: 'reboot', how: '`0x8105`, command word 4' },
  { type: 'text', maxCharacters: MAX_TEXT_CHARACTERS, how: '`0x8300`, on the display' },
];

/** @returns null where the protocol has no such message */
export function encodeOrder(order: CommandOrder, edition: Edition): { id: number; body: Buffer } | null {
  const out = new ByteWriter();
  switch (order.type) {
    case 'position-request':
      return { id: MESSAGE.askLocation, body: Buffer.alloc(0) };
    case 'interval-set':
      out.u8(1).u32be(REPORT_INTERVAL).u8(4).u32be(order.parameters.seconds);
      return { id: MESSAGE.setParameters, body: out.toBuffer() };
    case 'reboot':
      return { id: MESSAGE.controlTerminal, body: Buffer.of(RESET) };
    case 'text':
      out.u8(ON_DISPLAY);
      if (edition === 2019) out.u8(NOTICE);
      return { id: MESSAGE.sendText, body: out.append(Buffer.from(order.parameters.text, 'latin1')).toBuffer() };
    default:
      return null;
  }
}

import type { CommandAbility, CommandOrder } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';

const ENGLISH = 2;
const FLAG_BYTES = 4;
/** Limited by the one-byte length of a short frame. */
const MAX_COMMAND_CHARACTERS = 200;

/** Online commands (0x80), with the texts of Concox's SMS commands. */
export const GT06_COMMANDS: readonly CommandAbility[] = [
  { type: 'engine-block', output: null, how: '`RELAY,1#`; the terminal itself refuses it above 20 km/h' },
  { type: 'engine-resume', how: '`RELAY,0#`' },
  { type: 'position-request', how: '`WHERE#`' },
  { type: 'interval-set', seconds: { min: 5, max: 18_000 }, how: '`TIMER,<seconds>#`' },
  { type: 'reboot', how: '`RESET#`' },
  { type: 'text', maxCharacters: MAX_COMMAND_CHARACTERS, how: 'an online command (`0x80`)' },
];

/** @returns null where the protocol has no such command */
export function commandText(order: CommandOrder): string | null {
  switch (order.type) {
    case 'engine-block':
      return 'RELAY,1#';
    case 'engine-resume':
      return 'RELAY,0#';
    case 'position-request':
      return 'WHERE#';
    case 'interval-set':
      return `TIMER,${order.parameters.seconds}#`;
    case 'reboot':
      return 'RESET#';
    case 'text':
      return order.parameters.text;
    default:
      return null;
  }
}

/** The content of an online command, and of its answer by 0x15. The terminal repeats the flag in its answer. */
export function commandContent(flag: number, text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  const out = new ByteWriter().u8(FLAG_BYTES + bytes.length).u32be(flag);
  return out.append(bytes).u16be(ENGLISH).toBuffer();
}

/** Reads the content written by {@link commandContent}, with or without the language. Null where it is cut off. */
export function readCommandContent(bytes: Buffer, from: number, to: number): { flag: number; text: string } | null {
  const length = bytes[from] ?? 0;
  if (length < FLAG_BYTES || from + 1 + length > to) return null;
  const at = from + 1 + FLAG_BYTES;
  return { flag: bytes.readUInt32BE(from + 1), text: bytes.toString('latin1', at, from + 1 + length) };
}

/** Reads an answer by 0x21: flag, encoding, text. Null where it is cut off. */
export function readLongAnswer(bytes: Buffer, from: number, to: number): { flag: number; text: string } | null {
  if (to - from < FLAG_BYTES + 1) return null;
  return { flag: bytes.readUInt32BE(from), text: bytes.toString('latin1', from + FLAG_BYTES + 1, to) };
}

/** Whether the text reports that the terminal did not execute the command. */
export function isRefusal(text: string): boolean {
  return /fail|error|invalid|unknown|unfixed|delay|not |unsuccess/i.test(text);
}

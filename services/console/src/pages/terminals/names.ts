import type { UnknownTerminal } from '@outrider/client';

/** Number of digits at the end of a long id that suffice to recognise a terminal. */
const SHOWN_DIGITS = 6;

/** Short form of a terminal's id. */
export function shortId(terminalId: string): string {
  return terminalId.length <= SHOWN_DIGITS + 2 ? terminalId : `…${terminalId.slice(-SHOWN_DIGITS)}`;
}

/** The maker's name in a protocol's title: `Teltonika Codec 8, 8 Extended` is `Teltonika`. */
export function makerOf(title: string): string {
  return title.split(/[\s,]/, 1)[0] ?? title;
}

/** A protocol's help with its placeholder replaced by the host, as pieces of text and of code. */
export function helpPieces(help: string, host: string): { text: string; isCode: boolean }[] {
  return help
    .replaceAll(/<(?:address|name)>/g, host)
    .split('`')
    .map((text, nth) => ({ text, isCode: nth % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

/** Key of a refused terminal or device in the list. */
export function keyOf({ terminalId, protocol, address }: UnknownTerminal): string {
  return terminalId ?? `${protocol} ${address}`;
}

/**
 * The id with which a vehicle can be created, and its protocol. It is the id that the terminal sent, otherwise one
 * found in its bytes by the first matching protocol. Null if there is no id.
 *
 * @param title title of the port's protocol
 */
export function identityOf(
  { terminalId, guesses }: Pick<UnknownTerminal, 'terminalId' | 'guesses'>,
  title: string,
): { terminalId: string; title: string } | null {
  if (terminalId !== null) return { terminalId, title };
  for (const guess of guesses)
    if (guess.terminalId !== null) return { terminalId: guess.terminalId, title: guess.title };
  return null;
}

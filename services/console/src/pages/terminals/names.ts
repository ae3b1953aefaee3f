import type { UnknownTerminal } from '@outrider/client';

/** Digits at the end of a long number, that are enough to know a terminal by. */
const SHOWN_DIGITS = 6;

/** The end of a terminal's id. */
export function shortId(terminalId: string): string {
  return terminalId.length <= SHOWN_DIGITS + 2 ? terminalId : `…${terminalId.slice(-SHOWN_DIGITS)}`;
}

/** The maker's name in a protocol's title: `Teltonika Codec 8, 8 Extended` is `Teltonika`. */
export function makerOf(title: string): string {
  return title.split(/[\s,]/, 1)[0] ?? title;
}

/** A protocol's help with the host in the place of what stands for it, as pieces of text and of code. */
export function helpPieces(help: string, host: string): { text: string; isCode: boolean }[] {
  return help
    .replaceAll(/<(?:address|name)>/g, host)
    .split('`')
    .map((text, nth) => ({ text, isCode: nth % 2 === 1 }))
    .filter(({ text }) => text !== '');
}

/** What a list of refused terminals and devices knows each by. */
export function keyOf({ terminalId, protocol, address }: UnknownTerminal): string {
  return terminalId ?? `${protocol} ${address}`;
}

/**
 * The id that a vehicle can be made with, and what speaks so: as the terminal said it, else as its bytes hold it by the
 * first protocol that they fit. Null where nothing holds an id.
 *
 * @param title of the protocol of the port
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

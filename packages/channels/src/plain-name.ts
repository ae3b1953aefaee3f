/** Long enough to recognise a vehicle by it, too short for a message of somebody else's. */
const MAX_CHARACTERS = 40;

/**
 * A name that somebody gave, for a message to others: letters, digits, spaces and a few signs, in quotes and no longer
 * than 40 characters. Without full stops, slashes, colons and the like it holds no address that a mail program makes a
 * link of.
 */
export function quotedName(name: string): string {
  const plain = [
    ...name
      .normalize('NFKC')
      .replace(/[^\p{L}\p{M}\p{N}\-_()#+&,]+/gu, ' ')
      .trim(),
  ];
  const short =
    plain.length > MAX_CHARACTERS
      ? `${plain
          .slice(0, MAX_CHARACTERS - 3)
          .join('')
          .trim()}...`
      : plain.join('');
  // Mail programs show a subject with double quotes as well, but it is encoded for that.
  return `'${short === '' ? 'unnamed' : short}'`;
}

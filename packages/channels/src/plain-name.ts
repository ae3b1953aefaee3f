/** Long enough to recognise a vehicle by it, too short for a message of somebody else's. */
const MAX_NAME = 40;
const MAX_PLACE = 120;

/**
 * A name that somebody gave, for a message to others: letters, digits, spaces and a few signs, in quotes and no longer
 * than 40 characters. Without full stops, slashes, colons and the like it holds no address that a mail program makes a
 * link of.
 */
export function quotedName(name: string): string {
  const plain = plainText(name, MAX_NAME);
  // Mail programs show a subject with double quotes as well, but it is encoded for that.
  return `'${plain === '' ? 'unnamed' : plain}'`;
}

/** A place in words that a map's contributors wrote, by the same rule; no longer than 120 characters. */
export function plainPlace(text: string): string {
  return plainText(text, MAX_PLACE);
}

function plainText(text: string, maxCharacters: number): string {
  const plain = [
    ...text
      .normalize('NFKC')
      .replace(/[^\p{L}\p{M}\p{N}\-_()#+&,]+/gu, ' ')
      .trim(),
  ];
  if (plain.length <= maxCharacters) return plain.join('');
  return `${plain
    .slice(0, maxCharacters - 3)
    .join('')
    .trim()}...`;
}

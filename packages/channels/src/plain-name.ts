/** Long enough to recognise a vehicle, too short to be misused for a message. */
const MAX_NAME = 40;
const MAX_PLACE = 120;

/**
 * Formats a user-chosen name for a message to others: letters, digits, spaces and a few signs, in quotes and at most 40
 * characters. Without full stops, slashes, colons and the like it contains no address that a mail program turns into a
 * link.
 */
export function quotedName(name: string): string {
  const plain = plainText(name, MAX_NAME);
  // Single quotes, because a subject with double quotes would have to be encoded.
  return `'${plain === '' ? 'unnamed' : plain}'`;
}

/** Formats a place name from a map's contributors by the same rule, with at most 120 characters. */
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

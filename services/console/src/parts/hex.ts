/**
 * Hex dump of bytes: offset, hexadecimal digits, and printable characters.
 *
 * @param perLine an even number
 */
export function hexLines(bytes: Uint8Array, perLine = 16): string[] {
  const half = perLine / 2;
  const width = 3 * half - 1;
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += perLine) {
    const some = [...bytes.subarray(at, at + perLine)];
    const hex = some.map((byte) => byte.toString(16).padStart(2, '0'));
    const text = some.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    const halves = [hex.slice(0, half).join(' ').padEnd(width), hex.slice(half).join(' ').padEnd(width)];
    lines.push(`${at.toString(16).padStart(6, '0')}  ${halves.join('  ')}  ${text}`);
  }
  return lines;
}

/** Parses hexadecimal digits. Parsing stops at the first invalid pair. */
export function bytesOfHex(text: string): Uint8Array {
  const pairs = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0].match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

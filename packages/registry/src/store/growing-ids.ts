import { randomUUIDv7 } from 'node:crypto';

const NODE_DIGITS = 12;
const NODE_LIMIT = 2 ** 48;

/**
 * UUIDs of version 7 that grow with every call, even within one millisecond (RFC 9562, 6.2, method 2), so that lists
 * can be sorted by their ids.
 *
 * @param newUuid generates UUIDs of version 7
 */
export function growingIds(newUuid: () => string = randomUUIDv7): () => string {
  let last = '';
  return () => {
    const fresh = newUuid();
    last = fresh > last ? fresh : following(last);
    return last;
  };
}

function following(uuid: string): string {
  const node = Number.parseInt(uuid.slice(-NODE_DIGITS), 16) + 1;
  if (node === NODE_LIMIT) throw new Error('2^48 ids in one millisecond');
  return uuid.slice(0, -NODE_DIGITS) + node.toString(16).padStart(NODE_DIGITS, '0');
}

const TEXT = 0x81;
const BINARY = 0x82;

/**
 * A complete unmasked text message from a server (RFC 6455, 5.2). Encoded once, it can be written to any number of
 * sockets.
 *
 * @param more follows the text in the same message
 */
export function textFrame(text: string | Buffer, more = ''): Buffer {
  const textLength = Buffer.byteLength(text);
  const length = textLength + Buffer.byteLength(more);
  const { frame, start } = emptyFrame(TEXT, length);
  if (typeof text === 'string') frame.write(text, start);
  else text.copy(frame, start);
  if (more !== '') frame.write(more, start + textLength);
  return frame;
}

/** Any value as one text message. */
export function jsonFrame(message: object): Buffer {
  return textFrame(JSON.stringify(message));
}

/**
 * A list as one text message.
 *
 * @param head text before the items, such as `{"type":"positions","positions":[`
 * @param items each as JSON
 * @param tail text after the items
 */
export function listFrame(head: string, items: readonly Buffer[], tail: string): Buffer {
  const length = items.reduce((sum, item) => sum + item.length + 1, head.length + tail.length - 1);
  const { frame, start } = emptyFrame(TEXT, length);
  let at = start + frame.write(head, start, 'latin1');
  for (const [nth, item] of items.entries()) {
    if (nth > 0) frame[at++] = 0x2c;
    at += item.copy(frame, at);
  }
  frame.write(tail, at, 'latin1');
  return frame;
}

/** A binary message, its parts in their order. */
export function binaryFrame(parts: readonly Buffer[]): Buffer {
  const { frame, start } = emptyFrame(
    BINARY,
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = start;
  for (const part of parts) at += part.copy(frame, at);
  return frame;
}

function emptyFrame(opcode: number, length: number): { frame: Buffer; start: number } {
  const start = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = opcode;
  if (start === 2) frame[1] = length;
  else if (start === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  return { frame, start };
}

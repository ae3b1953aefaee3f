/**
 * A whole unmasked text message as a server sends it (RFC 6455, 5.2), made once and written to any number of sockets.
 *
 * @param more follows the text in the same message
 */
export function textFrame(text: string | Buffer, more = ''): Buffer {
  const textLength = Buffer.byteLength(text);
  const length = textLength + Buffer.byteLength(more);
  const header = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(header + length);
  frame[0] = 0x81;
  if (header === 2) frame[1] = length;
  else if (header === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  if (typeof text === 'string') frame.write(text, header);
  else text.copy(frame, header);
  if (more !== '') frame.write(more, header + textLength);
  return frame;
}

/** Any value as one text message. */
export function jsonFrame(message: object): Buffer {
  return textFrame(JSON.stringify(message));
}

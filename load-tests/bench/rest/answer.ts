/** The beginning of an HTTP answer, and how many bytes all of it has. */
export interface Answer {
  status: number;
  bytes: number;
}

const HEAD_END = '\r\n\r\n';

/**
 * Reads an HTTP/1.1 response with a `Content-Length`, as far as the load needs it.
 *
 * @param bytes received bytes, from the beginning of a response
 * @returns null while its head is not complete
 * @throws {Error} for any other response
 */
export function readAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1];
  if (status === undefined || length === undefined) throw new Error(`an answer that was not awaited: ${head}`);
  return { status: Number(status), bytes: headEnd + HEAD_END.length + Number(length) };
}

import { createHash, createHmac } from 'node:crypto';

/** Who signs. */
export interface Signer {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

/** A request that is to be signed. */
export interface UnsignedRequest {
  method: string;
  url: URL;
  /** Besides `host`, all of which are signed. */
  headers: Readonly<Record<string, string>>;
  /** Hexadecimal SHA-256 of the body. */
  bodySha256: string;
}

export const EMPTY_SHA256 = sha256('');

/**
 * Headers that sign a request to S3 (AWS Signature Version 4, "Authenticating Requests: Using the Authorization Header").
 *
 * @param at when it is sent; a server takes it for some minutes
 */
export function signedHeaders(request: UnsignedRequest, signer: Signer, at: Date): Record<string, string> {
  const { method, url, bodySha256 } = request;
  const timestamp = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const date = timestamp.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': bodySha256,
    'x-amz-date': timestamp,
  };
  const signed = Object.entries({ ...headers, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim().replaceAll(/ +/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(';');
  const canonical = [
    method,
    url.pathname,
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    bodySha256,
  ].join('\n');
  const scope = `${date}/${signer.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', timestamp, scope, sha256(canonical)].join('\n');
  let key = hmac(`AWS4${signer.secretAccessKey}`, date);
  for (const step of [signer.region, 's3', 'aws4_request']) key = hmac(key, step);
  const signature = hmac(key, text).toString('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${signer.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** By name, then value, percent-encoded as RFC 3986 has it. */
export function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&');
}

/** All but letters, digits and `-._~`. */
export function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

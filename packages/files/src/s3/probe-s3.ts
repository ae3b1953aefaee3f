import { parseS3Url } from './s3.ts';

const WITHIN_MS = 5000;

/**
 * The clock of an S3 server in Unix milliseconds, from the header of any response, including an error; null if it has
 * none.
 *
 * @throws {Error} when it can't be reached
 */
export async function s3ClockMs(url: string): Promise<number | null> {
  const { endpoint, region } = parseS3Url(url);
  const address = endpoint ?? `https://s3.${region ?? 'us-east-1'}.amazonaws.com`;
  const { headers } = await fetch(address, { method: 'HEAD', signal: AbortSignal.timeout(WITHIN_MS) });
  const clockMs = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(clockMs) ? null : clockMs;
}

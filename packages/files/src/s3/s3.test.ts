import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { filesConformance } from '../files.conformance.ts';
import { FilesAwayError } from '../files.ts';
import { openS3 } from '../index.ts';
import { parseS3Url, S3Error } from './s3.ts';
import { KEY, SECRET, startS3, type TestS3 } from './server.fixture.ts';

const MIB = 1024 * 1024;
const open = (url: string) => openS3({ url, partBytes: 5 * MIB });

let s3: TestS3;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.close());

filesConformance('S3', async () => {
  const url = `${s3.url}/tests/${randomUUID()}?region=eu-central-1`;
  return { open: async () => open(url), remove: async () => {} };
});

describe('S3', () => {
  beforeEach(() => {
    s3.objects.clear();
    s3.failures.length = 0;
  });
  afterEach(() => vi.unstubAllEnvs());
  async function* repeated(bytes: number): AsyncGenerator<Uint8Array> {
    const part = new Uint8Array(64 * 1024).fill(7);
    for (let at = 0; at < bytes; at += part.length) yield part.subarray(0, Math.min(part.length, bytes - at));
  }

  test('a large file goes up in parts, and nothing is left of one that broke off', async () => {
    const files = open(`${s3.url}/large`);
    await files.put('a.mp4', repeated(12 * MIB));
    expect(s3.objects.get('large/a.mp4')?.body.length).toBe(12 * MIB);
    expect(s3.largestBody()).toBeLessThanOrEqual(5 * MIB);
    async function* broken() {
      yield* repeated(11 * MIB);
      throw new Error('gone');
    }
    await expect(files.put('b.mp4', broken())).rejects.toThrow('gone');
    expect(s3.uploads.size).toBe(0);
  });

  test('passing failures are retried; what is refused is reported without the secret', {
    timeout: 30_000,
  }, async () => {
    const files = open(s3.url);
    s3.failures.push(503, 500, 429);
    await files.put('a.mp4', repeated(10));
    s3.failures.push(503, 503, 503, 503);
    const error = await files.info('a.mp4').catch((caught) => caught);
    expect(error).toBeInstanceOf(S3Error);
    expect(error.status).toBe(503);
    const other = s3.url.replace(encodeURIComponent(SECRET), 'wrong');
    const refused = await open(other)
      .put('a.mp4', repeated(10))
      .catch((caught) => caught);
    expect(refused.message).toMatch(/403 SignatureDoesNotMatch/);
    expect(refused.message).not.toContain('wrong@');
    await expect(open(s3.url.replace(/\/video$/, '/elsewhere')).ping()).rejects.toThrow('404 NoSuchBucket');
  });

  test('an unreachable store is reported as unavailable', async () => {
    await expect(open('http://key:secret@127.0.0.1:1/video').info('a')).rejects.toThrow(FilesAwayError);
  });

  test('without keys in the URL the SDK finds credentials, in the environment or by a role', async () => {
    const url = new URL(s3.url);
    const [key, secret] = [url.username, decodeURIComponent(url.password)];
    url.username = '';
    url.password = '';
    vi.stubEnv('AWS_ACCESS_KEY_ID', key);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', secret);
    await open(url.href).put('a.mp4', repeated(10));
    expect([...s3.objects.keys()]).toEqual(['a.mp4']);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong');
    await expect(open(url.href).put('b.mp4', repeated(10))).rejects.toThrow('403 SignatureDoesNotMatch');
  });

  test('temporary credentials of a role are fetched and sent', async () => {
    const role = createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          AccessKeyId: KEY,
          SecretAccessKey: SECRET,
          Token: 'token-of-a-role',
          Expiration: new Date(Date.now() + 3_600_000).toISOString(),
        }),
      ),
    );
    await new Promise<void>((resolve) => role.listen(0, '127.0.0.1', resolve));
    const { port } = role.address() as AddressInfo;
    const url = new URL(s3.url);
    url.username = '';
    url.password = '';
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `http://127.0.0.1:${port}/role`);
    try {
      await open(url.href).put('a.mp4', repeated(10));
      expect(s3.tokens.has('token-of-a-role')).toBe(true);
    } finally {
      role.closeAllConnections();
      role.close();
    }
  });

  test('a URL names the store, the bucket, the prefix and the credentials', () => {
    expect(parseS3Url('https://k%2F1:s%2B%2F@s3.example.net:9000/bucket/a/b?region=eu-west-1')).toEqual({
      endpoint: 'https://s3.example.net:9000',
      bucket: 'bucket',
      prefix: 'a/b/',
      region: 'eu-west-1',
      credentials: { accessKeyId: 'k/1', secretAccessKey: 's+/' },
    });
    expect(parseS3Url('https://s3.example.net/bucket')).toMatchObject({ region: 'us-east-1', credentials: null });
    expect(parseS3Url('s3://bucket/a?region=eu-west-1')).toEqual({
      endpoint: null,
      bucket: 'bucket',
      prefix: 'a/',
      region: 'eu-west-1',
      credentials: null,
    });
    for (const wrong of ['s3', 's3://', 'https://s3.example.net', 'https://k:hidden@s3.example.net', 'ftp://k:s@h/b'])
      expect(() => parseS3Url(wrong), wrong).toThrow('<access key id>');
    expect(() => parseS3Url('https://k@s3.example.net/bucket')).toThrow('<access key id>');
    expect(() => parseS3Url('https://k:hidden@s3.example.net')).not.toThrow('hidden');
  });
});

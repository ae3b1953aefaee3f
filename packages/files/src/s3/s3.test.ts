import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { filesConformance } from '../files.conformance.ts';
import { FilesAwayError } from '../files.ts';
import { openS3 } from '../index.ts';
import { parseS3Url, S3Error } from './s3.ts';
import { SECRET, startS3, type TestS3 } from './server.fixture.ts';
import { canonicalQuery, EMPTY_SHA256, signedHeaders } from './sign.ts';
import { elements, textOf } from './xml.ts';

const MIB = 1024 * 1024;
const open = (url: string) => openS3({ url, partBytes: 5 * MIB, retryMs: 1 });

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
  async function* repeated(bytes: number): AsyncGenerator<Uint8Array> {
    const part = new Uint8Array(64 * 1024).fill(7);
    for (let at = 0; at < bytes; at += part.length) yield part.subarray(0, Math.min(part.length, bytes - at));
  }

  test('a request is signed as the documentation’s own example', () => {
    const { authorization } = signedHeaders(
      {
        method: 'GET',
        url: new URL('https://examplebucket.s3.amazonaws.com/test.txt'),
        headers: { range: 'bytes=0-9' },
        bodySha256: EMPTY_SHA256,
      },
      {
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        region: 'us-east-1',
      },
      new Date('2013-05-24T00:00:00Z'),
    );
    expect(authorization).toContain('SignedHeaders=host;range;x-amz-content-sha256;x-amz-date');
    expect(authorization).toContain('Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
  });

  test('a query is in the order and the spelling that is signed', () => {
    const query = new URLSearchParams({ prefix: "a b/'(*)!", 'max-keys': '2', uploads: '' });
    expect(canonicalQuery(query)).toBe('max-keys=2&prefix=a%20b%2F%27%28%2A%29%21&uploads=');
  });

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

  test('what fails in passing is tried again; what is refused is told, without the secret', async () => {
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

  test('a store that is not there is told as such', async () => {
    await expect(open('http://key:secret@127.0.0.1:1/video').info('a')).rejects.toThrow(FilesAwayError);
  });

  test('a URL says where, and who', () => {
    expect(parseS3Url('https://k%2F1:s%2B%2F@s3.example.net:9000/bucket/a/b?region=eu-west-1')).toEqual({
      origin: 'https://s3.example.net:9000',
      bucket: 'bucket',
      prefix: 'a/b/',
      signer: { accessKeyId: 'k/1', secretAccessKey: 's+/', region: 'eu-west-1' },
    });
    for (const wrong of ['s3', 'https://s3.example.net/bucket', 'https://k:hidden@s3.example.net', 'ftp://k:s@h/b'])
      expect(() => parseS3Url(wrong)).toThrow('<access key id>');
    expect(() => parseS3Url('https://k:hidden@s3.example.net')).not.toThrow('hidden');
  });

  test('answers are read with their entities', () => {
    const xml = '<R><Key>a&amp;b&#x2F;&#47;&lt;&unknown;</Key><Key>c</Key></R>';
    expect(textOf(xml, 'Key')).toBe('a&b//<&unknown;');
    expect(elements(xml, 'Key')).toHaveLength(2);
    expect(textOf(xml, 'None')).toBe('');
  });
});

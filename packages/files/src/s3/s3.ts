import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ByteRange,
  type FileInfo,
  type Files,
  FilesAwayError,
  type PutFile,
  requireFileId,
  requireRange,
} from '../files.ts';
import { canonicalQuery, EMPTY_SHA256, encode, type Signer, signedHeaders } from './sign.ts';
import { elements, textOf } from './xml.ts';

export interface S3Options {
  /**
   * `https://<access key id>:<secret>@<server>/<bucket>[/<prefix>]`, with `?region=` where it is not `us-east-1`. Key and
   * secret are percent-encoded where they hold what a URL does not.
   */
  url: string;
  /** Sent at a time; what an upload keeps in memory is twice as much. S3 takes 5 MiB and more. */
  partBytes?: number;
  /** Between the attempts of a request that failed on the way. */
  retryMs?: number;
}

/** S3 takes no parts below, but the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
const DEFAULT_PART_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 4;
const ANSWER_WITHIN_MS = 60_000;

/** S3 refused something. */
export class S3Error extends Error {
  override name = 'S3Error';
  readonly status: number;
  constructor(what: string, status: number, code: string) {
    super(`${what}: the store answered ${status}${code === '' ? '' : ` ${code}`}`);
    this.status = status;
  }
}

/**
 * Files in a bucket of S3 or of a store that speaks like it, addressed by path.
 *
 * @throws {Error} when the URL is not of that form
 */
export function openS3(options: S3Options): Files {
  return new S3Files(options);
}

class S3Files implements Files {
  readonly #origin: string;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #signer: Signer;
  readonly #partBytes: number;
  readonly #retryMs: number;

  constructor({ url, partBytes = DEFAULT_PART_BYTES, retryMs = 500 }: S3Options) {
    const { origin, bucket, prefix, signer } = parseS3Url(url);
    this.#origin = origin;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#signer = signer;
    this.#partBytes = Math.max(partBytes, MIN_PART_BYTES);
    this.#retryMs = retryMs;
  }

  async put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile> {
    requireFileId(id);
    const hash = createHash('sha256');
    let bytes = 0;
    let upload: string | null = null;
    const etags: string[] = [];
    try {
      for await (const { part, isLast } of inParts(source, this.#partBytes)) {
        hash.update(part);
        bytes += part.length;
        if (isLast && upload === null) {
          await this.#ask('PUT', this.#key(id), {}, part);
          break;
        }
        upload ??= await this.#beginUpload(id);
        const query = { partNumber: String(etags.length + 1), uploadId: upload };
        const answer = await this.#ask('PUT', this.#key(id), query, part);
        etags.push(answer.headers.get('etag') ?? '');
      }
      if (upload !== null) await this.#endUpload(id, upload, etags);
    } catch (error) {
      if (upload !== null)
        // What is left of it costs room, and nobody sees it: the store's own rules clean such things up as well.
        await this.#ask('DELETE', this.#key(id), { uploadId: upload }).catch(() => {});
      throw error;
    }
    return { bytes, sha256: hash.digest('hex') };
  }

  async info(id: string): Promise<FileInfo | null> {
    const answer = await this.#ask('HEAD', this.#key(requireFileId(id)), {}, null, {}, [404]);
    if (answer.status === 404) return null;
    const bytes = Number(answer.headers.get('content-length'));
    return { id, bytes, storedAtMs: Date.parse(answer.headers.get('last-modified') ?? '') || 0 };
  }

  async get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const known = await this.info(id);
    if (!known) return null;
    const wanted = range ?? { start: 0, end: known.bytes };
    requireRange(wanted, known.bytes);
    return this.#read(id, wanted);
  }

  async delete(id: string): Promise<void> {
    await this.#ask('DELETE', this.#key(requireFileId(id)), {}, null, {}, [404]);
  }

  async *list(): AsyncIterable<FileInfo> {
    const prefix = this.#prefix;
    let token: string | null = null;
    do {
      const query: Record<string, string> = { 'list-type': '2', prefix };
      if (token !== null) query['continuation-token'] = token;
      const xml = await (await this.#ask('GET', '', query)).text();
      for (const item of elements(xml, 'Contents')) {
        const id = textOf(item, 'Key').slice(prefix.length);
        yield { id, bytes: Number(textOf(item, 'Size')), storedAtMs: Date.parse(textOf(item, 'LastModified')) };
      }
      token = textOf(xml, 'IsTruncated') === 'true' ? textOf(xml, 'NextContinuationToken') : null;
    } while (token !== null);
  }

  async ping(): Promise<void> {
    const answer = await this.#ask('GET', '', { 'list-type': '2', 'max-keys': '1' });
    await answer.body?.cancel();
  }

  async *#read(id: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    if (start === end) return;
    const answer = await this.#ask('GET', this.#key(id), {}, null, { range: `bytes=${start}-${end - 1}` });
    if (answer.status !== 206 || !answer.body) {
      await answer.body?.cancel();
      throw new S3Error(`a part of ${id}`, answer.status, 'not a part');
    }
    let bytes = 0;
    for await (const part of answer.body) {
      bytes += part.length;
      yield part;
    }
    if (bytes !== end - start) throw new Error(`of ${id} came ${bytes} bytes in place of ${end - start}`);
  }

  async #beginUpload(id: string): Promise<string> {
    const xml = await (await this.#ask('POST', this.#key(id), { uploads: '' })).text();
    return textOf(xml, 'UploadId');
  }

  async #endUpload(id: string, uploadId: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map(
      (etag, nth) => `<Part><PartNumber>${nth + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const xml = await (await this.#ask('POST', this.#key(id), { uploadId }, body)).text();
    // It may find out late that it failed, with 200 sent already.
    if (xml.includes('<Error>')) throw new S3Error(`the end of the upload of ${id}`, 200, textOf(xml, 'Code'));
  }

  #key(id: string): string {
    return `${this.#prefix}${id}`;
  }

  /** Tries again where the store or the way to it failed: every request here may come twice. */
  async #ask(
    method: string,
    key: string,
    query: Record<string, string> = {},
    body: Uint8Array | null = null,
    headers: Record<string, string> = {},
    fine: readonly number[] = [],
  ): Promise<Response> {
    const what = `${method} ${key === '' ? this.#bucket : key}`;
    for (let attempt = 1; ; attempt++) {
      let answer: Response;
      try {
        answer = await this.#send(method, key, query, body, headers);
      } catch (error) {
        if (attempt === ATTEMPTS) throw new FilesAwayError(`${what}: the store could not be reached`, { cause: error });
        await delay(this.#retryMs * attempt);
        continue;
      }
      if (answer.ok || fine.includes(answer.status)) return answer;
      const text = (await answer.text()).slice(0, 4096);
      const isPassing = answer.status >= 500 || answer.status === 429 || answer.status === 408;
      if (!isPassing || attempt === ATTEMPTS) throw new S3Error(what, answer.status, textOf(text, 'Code'));
      await delay(this.#retryMs * attempt);
    }
  }

  #send(
    method: string,
    key: string,
    query: Record<string, string>,
    body: Uint8Array | null,
    headers: Record<string, string>,
  ): Promise<Response> {
    const path = key.split('/').map(encode).join('/');
    const url = new URL(`${this.#origin}/${encode(this.#bucket)}/${path}`);
    url.search = canonicalQuery(new URLSearchParams(query));
    const bodySha256 = body === null ? EMPTY_SHA256 : createHash('sha256').update(body).digest('hex');
    const signed = signedHeaders({ method, url, headers, bodySha256 }, this.#signer, new Date());
    // A part that is read slowly may take its time; an answer that does not begin may not.
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(new Error('no answer in time')), ANSWER_WITHIN_MS);
    return fetch(url, {
      method,
      headers: signed,
      redirect: 'error',
      signal: patience.signal,
      ...(body === null ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    }).finally(() => clearTimeout(timer));
  }
}

/**
 * @throws {Error} saying what the URL should look like; never with the secret in it
 */
export function parseS3Url(text: string): { origin: string; bucket: string; prefix: string; signer: Signer } {
  const wrong = new Error('https://<access key id>:<secret>@<server>/<bucket>[/<prefix>][?region=<region>]');
  if (!URL.canParse(text)) throw wrong;
  const url = new URL(text);
  const [bucket = '', ...prefixes] = url.pathname
    .slice(1)
    .split('/')
    .filter((part) => part !== '');
  if (!/^https?:$/.test(url.protocol) || url.username === '' || url.password === '' || bucket === '') throw wrong;
  return {
    origin: url.origin,
    bucket: decodeURIComponent(bucket),
    prefix: prefixes.map((part) => `${decodeURIComponent(part)}/`).join(''),
    signer: {
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
      region: url.searchParams.get('region') ?? 'us-east-1',
    },
  };
}

/** The source in parts of one size; the last is what is left, and may be empty where it is the only one. */
async function* inParts(
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ part: Uint8Array; isLast: boolean }> {
  // One of them is filled while the one before is known to be not the last.
  let full: Uint8Array | null = null;
  let filling = new Uint8Array(size);
  let filled = 0;
  for await (const chunk of source)
    for (let at = 0; at < chunk.length; ) {
      const take = Math.min(size - filled, chunk.length - at);
      filling.set(chunk.subarray(at, at + take), filled);
      at += take;
      filled += take;
      if (filled < size) continue;
      if (full) yield { part: full, isLast: false };
      const free: Uint8Array<ArrayBuffer> = full ? (full as Uint8Array<ArrayBuffer>) : new Uint8Array(size);
      full = filling;
      filling = free;
      filled = 0;
    }
  if (full) yield { part: full, isLast: filled === 0 };
  if (full === null || filled > 0) yield { part: filling.subarray(0, filled), isLast: true };
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

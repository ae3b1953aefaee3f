import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type * as Sdk from '@aws-sdk/client-s3';
import {
  type ByteRange,
  type FileInfo,
  type Files,
  FilesAwayError,
  type PutFile,
  requireFileId,
  requireRange,
} from '../files.ts';

export interface S3Options {
  /**
   * `https://[<access key id>:<secret>@]<server>/<bucket>[/<prefix>][?region=…]`, or
   * `s3://<bucket>[/<prefix>][?region=…]` at AWS. Key and secret are percent-encoded. Without them the SDK finds
   * credentials: environment, shared files, roles of the machine.
   */
  url: string;
  /** Size of a part of an upload, which is about what an upload keeps in memory. S3 accepts 5 MiB and more. */
  partBytes?: number;
}

/** Smallest part that S3 accepts, except for the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
const DEFAULT_PART_BYTES = 8 * 1024 * 1024;
const ATTEMPTS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
const RESPONSE_TIMEOUT_MS = 60_000;

/** The store refused a request. */
export class S3Error extends Error {
  override name = 'S3Error';
  readonly status: number;
  constructor(what: string, status: number, code: string) {
    super(`${what}: the store answered ${status}${code === '' ? '' : ` ${code}`}`);
    this.status = status;
  }
}

/**
 * Files in a bucket of S3 or of a compatible store. The SDK is loaded with the first request.
 *
 * @throws {Error} when the URL has another form
 */
export function openS3(options: S3Options): Files {
  return new S3Files(options);
}

interface Connection {
  sdk: typeof Sdk;
  client: Sdk.S3Client;
}

class S3Files implements Files {
  readonly #address: S3Address;
  readonly #partBytes: number;
  #connection: Promise<Connection> | null = null;

  constructor({ url, partBytes = DEFAULT_PART_BYTES }: S3Options) {
    this.#address = parseS3Url(url);
    this.#partBytes = Math.max(partBytes, MIN_PART_BYTES);
  }

  async put(id: string, source: AsyncIterable<Uint8Array>): Promise<PutFile> {
    const object = this.#object(requireFileId(id));
    const { client } = await this.#connected();
    const { Upload } = await import('@aws-sdk/lib-storage');
    const hash = createHash('sha256');
    let bytes = 0;
    let sourceError: { error: unknown } | null = null;
    async function* hashed(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of source) {
          hash.update(chunk);
          bytes += chunk.length;
          yield chunk;
        }
      } catch (error) {
        sourceError = { error };
        throw error;
      }
    }
    const Body = Readable.from(hashed(), { objectMode: false });
    const upload = new Upload({ client, params: { ...object, Body }, partSize: this.#partBytes, queueSize: 1 });
    await upload.done().catch((error: unknown) => {
      throw sourceError === null ? failureOf(`PUT ${object.Key}`, error) : (sourceError as { error: unknown }).error;
    });
    return { bytes, sha256: hash.digest('hex') };
  }

  async info(id: string): Promise<FileInfo | null> {
    const object = this.#object(requireFileId(id));
    const { sdk, client } = await this.#connected();
    try {
      const { ContentLength = 0, LastModified } = await client.send(new sdk.HeadObjectCommand(object));
      return { id, bytes: ContentLength, storedAtMs: LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw failureOf(`HEAD ${object.Key}`, error);
    }
  }

  async get(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | null> {
    const known = await this.info(id);
    if (!known) return null;
    const wanted = range ?? { start: 0, end: known.bytes };
    requireRange(wanted, known.bytes);
    return this.#read(id, wanted);
  }

  async delete(id: string): Promise<void> {
    const object = this.#object(requireFileId(id));
    const { sdk, client } = await this.#connected();
    await client.send(new sdk.DeleteObjectCommand(object)).catch((error: unknown) => {
      if (statusOf(error) !== 404) throw failureOf(`DELETE ${object.Key}`, error);
    });
  }

  async *list(): AsyncIterable<FileInfo> {
    const { bucket, prefix } = this.#address;
    const { sdk, client } = await this.#connected();
    const pages = sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix });
    try {
      for await (const { Contents = [] } of pages)
        for (const { Key = '', Size = 0, LastModified } of Contents)
          yield { id: Key.slice(prefix.length), bytes: Size, storedAtMs: LastModified?.getTime() ?? 0 };
    } catch (error) {
      throw failureOf(`GET ${bucket}`, error);
    }
  }

  async ping(): Promise<void> {
    const { bucket } = this.#address;
    const { sdk, client } = await this.#connected();
    await client.send(new sdk.ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 })).catch((error: unknown) => {
      throw failureOf(`GET ${bucket}`, error);
    });
  }

  async *#read(id: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
    if (start === end) return;
    const object = this.#object(id);
    const { sdk, client } = await this.#connected();
    const { Body } = await client
      .send(new sdk.GetObjectCommand({ ...object, Range: `bytes=${start}-${end - 1}` }))
      .catch((error: unknown) => {
        throw failureOf(`GET ${object.Key}`, error);
      });
    let bytes = 0;
    for await (const chunk of Body as Readable) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== end - start) throw new Error(`received ${bytes} bytes of ${id} instead of ${end - start}`);
  }

  #object(id: string): { Bucket: string; Key: string } {
    return { Bucket: this.#address.bucket, Key: `${this.#address.prefix}${id}` };
  }

  #connected(): Promise<Connection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async #connect(): Promise<Connection> {
    const { endpoint, region, credentials } = this.#address;
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      ...(endpoint !== null && { endpoint, forcePathStyle: true }),
      ...(region !== null && { region }),
      ...(credentials !== null && { credentials }),
      maxAttempts: ATTEMPTS,
      // Not every compatible store supports checksums beyond those that S3 requires.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_TIMEOUT_MS,
        requestTimeout: RESPONSE_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      },
    });
    return { sdk, client };
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

/** Errors without a status come from the network, or from the search for credentials. */
function failureOf(what: string, error: unknown): Error {
  const status = statusOf(error);
  if (status === undefined) return new FilesAwayError(`${what}: the store is unavailable`, { cause: error });
  const { name, Code } = error as { name: string; Code?: string };
  return new S3Error(what, status, Code ?? name);
}

export interface S3Address {
  /** Null: AWS. */
  endpoint: string | null;
  bucket: string;
  prefix: string;
  /** Null: from the environment. */
  region: string | null;
  /** Null: found by the SDK. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
}

/**
 * @throws {Error} with the form that the URL must have; never with the secret in it
 */
export function parseS3Url(text: string): S3Address {
  const wrong = new Error(
    'https://[<access key id>:<secret>@]<server>/<bucket>[/<prefix>][?region=<region>] or s3://<bucket>[/<prefix>][?region=<region>]',
  );
  if (!URL.canParse(text)) throw wrong;
  const url = new URL(text);
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  const isAws = url.protocol === 's3:';
  if (isAws) segments.unshift(url.hostname);
  const [bucket = '', ...prefixes] = segments.map(decodeURIComponent);
  const hasBoth = (url.username === '') === (url.password === '');
  if (!(isAws || /^https?:$/.test(url.protocol)) || !hasBoth || bucket === '') throw wrong;
  const region = url.searchParams.get('region');
  return {
    endpoint: isAws ? null : url.origin,
    bucket,
    prefix: prefixes.map((segment) => `${segment}/`).join(''),
    region: region ?? (isAws ? null : 'us-east-1'),
    credentials:
      url.username === ''
        ? null
        : { accessKeyId: decodeURIComponent(url.username), secretAccessKey: decodeURIComponent(url.password) },
  };
}

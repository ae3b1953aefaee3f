import { createHash, createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const KEY = 'AKIAIOSFODNN7EXAMPLE';
export const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** An object store that speaks as much of S3 as files need, and refuses what is not signed as the documents say. */
export interface TestS3 {
  /** With key, secret and bucket. */
  url: string;
  objects: Map<string, { body: Buffer; at: Date }>;
  /** Security tokens that requests were sent with. */
  tokens: Set<string>;
  /** Uploads that were begun and neither ended nor given up. */
  uploads: Map<string, Map<number, Buffer>>;
  /** Answers the next requests with this status, one each. */
  failures: number[];
  /** The largest body of a request. */
  largestBody(): number;
  close(): Promise<void>;
}

const PAGE = 10;

export async function startS3(bucket = 'video'): Promise<TestS3> {
  const objects: TestS3['objects'] = new Map();
  const uploads: TestS3['uploads'] = new Map();
  const tokens: TestS3['tokens'] = new Set();
  const failures: number[] = [];
  let largest = 0;

  function answer(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const refuse = (status: number, code: string) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    const failure = failures.shift();
    if (failure !== undefined) return void refuse(failure, 'SlowDown');
    const token = request.headers['x-amz-security-token'];
    if (typeof token === 'string') tokens.add(token);
    const wrong = whatIsWrong(request, body);
    if (wrong !== null) return void refuse(403, wrong);
    const url = new URL(request.url ?? '/', 'http://s3.test');
    const [, inBucket, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    if (inBucket !== bucket) return void refuse(404, 'NoSuchBucket');
    const key = rest.join('/');
    const query = url.searchParams;
    const upload = query.get('uploadId');
    const etag = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;
    const xml = (text: string) => response.writeHead(200, { 'content-type': 'application/xml' }).end(text);

    if (key === '' && request.method === 'GET') {
      const prefix = query.get('prefix') ?? '';
      const after = query.get('continuation-token') ?? '';
      const all = [...objects].filter(([name]) => name.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
      const page = all.filter(([name]) => name > after).slice(0, PAGE);
      const isTruncated = page.length > 0 && page.at(-1)?.[0] !== all.at(-1)?.[0];
      const items = page.map(
        ([name, { body, at }]) =>
          `<Contents><Key>${name}</Key><LastModified>${at.toISOString()}</LastModified><Size>${body.length}</Size></Contents>`,
      );
      const next = isTruncated ? `<NextContinuationToken>${page.at(-1)?.[0]}</NextContinuationToken>` : '';
      return void xml(
        `<ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${items.join('')}</ListBucketResult>`,
      );
    }
    if (request.method === 'POST' && query.has('uploads')) {
      const id = randomUUID();
      uploads.set(id, new Map());
      return void xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
    }
    if (upload !== null) {
      const parts = uploads.get(upload);
      if (!parts) return void refuse(404, 'NoSuchUpload');
      switch (request.method) {
        case 'PUT':
          parts.set(Number(query.get('partNumber')), body);
          return void response.writeHead(200, { etag: etag(body) }).end();
        case 'DELETE':
          uploads.delete(upload);
          return void response.writeHead(204).end();
        case 'POST': {
          const named = [...body.toString().matchAll(/<Part>(.*?)<\/Part>/gs)];
          const chosen = named.map(([, named = '']) => {
            const [, number] = /<PartNumber>(\d+)<\/PartNumber>/.exec(named) ?? [];
            const [, tag] = /<ETag>(.*?)<\/ETag>/.exec(named) ?? [];
            const part = parts.get(Number(number));
            return part && etag(part) === tag?.replaceAll('&quot;', '"') ? part : null;
          });
          if (chosen.includes(null)) return void refuse(400, 'InvalidPart');
          const whole = chosen as Buffer[];
          if (whole.slice(0, -1).some((part) => part.length < 5 * 1024 * 1024))
            return void refuse(400, 'EntityTooSmall');
          objects.set(key, { body: Buffer.concat(whole), at: new Date() });
          uploads.delete(upload);
          return void xml('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
        }
      }
    }
    const object = objects.get(key);
    switch (request.method) {
      case 'PUT':
        objects.set(key, { body, at: new Date() });
        return void response.writeHead(200, { etag: etag(body) }).end();
      case 'DELETE':
        objects.delete(key);
        return void response.writeHead(204).end();
      case 'HEAD':
      case 'GET': {
        if (!object) return void refuse(404, 'NoSuchKey');
        const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
        const part = start === undefined ? object.body : object.body.subarray(Number(start), Number(end) + 1);
        if (start !== undefined && part.length === 0) return void refuse(416, 'InvalidRange');
        response.writeHead(start === undefined ? 200 : 206, {
          'content-length': part.length,
          'last-modified': object.at.toUTCString(),
          etag: etag(object.body),
        });
        return void response.end(request.method === 'HEAD' ? undefined : part);
      }
    }
    refuse(405, 'MethodNotAllowed');
  }

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    largest = Math.max(largest, body.length);
    answer(request, body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${KEY}:${encodeURIComponent(SECRET)}@127.0.0.1:${port}/${bucket}`,
    objects,
    tokens,
    uploads,
    failures,
    largestBody: () => largest,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads the request as it came over the wire, and signs it again. */
function whatIsWrong(request: IncomingMessage, body: Buffer): string | null {
  const [, date, region, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  if (!date || !region || !names || !signature) return 'AccessDenied';
  const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
  if (request.headers['x-amz-content-sha256'] !== hash(body)) return 'XAmzContentSHA256Mismatch';
  for (const name of ['host', 'x-amz-date', 'x-amz-content-sha256'])
    if (!names.split(';').includes(name)) return 'AccessDenied';
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const canonical = [
    request.method,
    path,
    query
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
      .sort()
      .join('&'),
    ...names.split(';').map((name) => `${name}:${request.headers[name]}`),
    '',
    names,
    hash(body),
  ].join('\n');
  const stamp = String(request.headers['x-amz-date']);
  const scope = `${date}/${region}/s3/aws4_request`;
  const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
  const key = [date, region, 's3', 'aws4_request'].reduce<string | Buffer>(mac, `AWS4${SECRET}`);
  const expected = mac(key, ['AWS4-HMAC-SHA256', stamp, scope, hash(canonical)].join('\n')).toString('hex');
  if (!stamp.startsWith(date) || Math.abs(Date.now() - parseStamp(stamp)) > 15 * 60_000) return 'RequestTimeTooSkewed';
  return expected === signature ? null : 'SignatureDoesNotMatch';
}

function parseStamp(stamp: string): number {
  return Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

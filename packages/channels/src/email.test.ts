import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, test } from 'vitest';
import { createEmailChannel, type EmailOptions } from './email.ts';

const nowMs = Date.UTC(2026, 0, 1, 12);
const message = {
  id: '018f2f6e-7c1a-7000-8000-00000000a001',
  to: ['ann@example.com'],
  subject: 'Łódź 7 entered Depot',
  text: 'Łódź 7 entered Depot.\n',
  html: '<p>Łódź 7 entered Depot.</p>',
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function channel(options: Partial<EmailOptions>) {
  const made = createEmailChannel({
    smtpUrl: null,
    from: 'Fleet <fleet@outrider.example>',
    folder: '/nowhere',
    now: () => nowMs,
    ...options,
  });
  cleanups.push(() => made.close());
  return made;
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'outrider-eml-'));
  cleanups.push(() => rm(path, { recursive: true }));
  return path;
}

interface Received {
  from: string;
  to: string[];
  raw: string;
}

/** A mail server on loopback that remembers what it took; recipients are answered by what their address says. */
async function mailServer(options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    onConnect(_session, done) {
      connections++;
      done();
    },
    onRcptTo({ address }, _session, done) {
      const code = /^reply-(\d{3})@/.exec(address)?.[1];
      if (code === undefined) return done();
      done(Object.assign(new Error(`not for ${address}`), { responseCode: Number(code) }));
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const raw = Buffer.concat(chunks).toString();
        received.push({ from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, port, received, connections: () => connections };
}

/** The headers of a message by name in lower case, unfolded. */
function headersOf(raw: string): Record<string, string> {
  const [head = ''] = raw.split('\r\n\r\n');
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
}

const HEADERS = {
  from: 'Fleet <fleet@outrider.example>',
  to: 'ann@example.com',
  date: 'Thu, 01 Jan 2026 12:00:00 +0000',
  'message-id': '<018f2f6e-7c1a-7000-8000-00000000a001@outrider.example>',
  'auto-submitted': 'auto-generated',
  'mime-version': '1.0',
};

describe('by SMTP', () => {
  test('a message arrives with its headers and both of its texts', async () => {
    const { url, received } = await mailServer();
    expect(await channel({ smtpUrl: url }).send(message)).toEqual({ ok: true, status: 250 });
    expect(received).toHaveLength(1);
    const [mail] = received as [Received];
    expect(mail.from).toBe('fleet@outrider.example');
    expect(mail.to).toEqual(['ann@example.com']);
    const headers = headersOf(mail.raw);
    expect(headers).toMatchObject(HEADERS);
    expect(headers['content-type']).toMatch(/^multipart\/alternative/);
    expect(headers.subject).toMatch(/^=\?UTF-8\?/);
    expect(mail.raw).toContain('Content-Type: text/plain; charset=utf-8');
    expect(mail.raw).toContain('Content-Type: text/html; charset=utf-8');
  });

  test('another attempt has the same message id, another message has another', async () => {
    const { url, received } = await mailServer();
    const open = channel({ smtpUrl: url });
    for (const id of [message.id, message.id, 'Some Other\r\nId: x']) await open.send({ ...message, id });
    const ids = received.map(({ raw }) => headersOf(raw)['message-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).toMatch(/^<x-[0-9a-f]{40}@outrider.example>$/);
  });

  test.each([
    ['550', { ok: false, retry: false, status: 550 }],
    ['552', { ok: false, retry: false, status: 552 }],
    ['503', { ok: false, retry: true, status: 503 }],
    ['450', { ok: false, retry: true, status: 450 }],
    ['421', { ok: false, retry: true, status: 421 }],
  ])('a recipient that is answered %s', async (code, result) => {
    const { url, received } = await mailServer();
    const sent = await channel({ smtpUrl: url }).send({ ...message, to: [`reply-${code}@example.com`] });
    expect(sent).toMatchObject(result);
    expect(sent.ok ? '' : sent.error).toContain(`${code} not for reply-${code}@example.com`);
    expect(received).toHaveLength(0);
  });

  test.each([
    [554, false],
    [451, true],
  ])('a message that is answered %i after its last line', async (responseCode, retry) => {
    const { url } = await mailServer({
      onData(stream, _session, done) {
        stream.resume();
        stream.on('end', () => done(Object.assign(new Error('looks like spam'), { responseCode })));
      },
    });
    const sent = await channel({ smtpUrl: url }).send(message);
    expect(sent).toMatchObject({
      ok: false,
      retry,
      status: responseCode,
      error: expect.stringContaining('looks like spam'),
    });
  });

  test('a message that only some recipients got is not sent again', async () => {
    const { url, received } = await mailServer();
    const to = ['ann@example.com', 'reply-450@example.com', 'reply-550@example.com'];
    const sent = await channel({ smtpUrl: url }).send({ ...message, to });
    expect(sent).toMatchObject({ ok: false, retry: false });
    expect(sent.ok ? '' : sent.error).toMatch(
      /^Delivered to 1 of 3\. reply-450@example.com: 450 .*; reply-550@example.com: 550 /,
    );
    expect(received.map((mail) => mail.to)).toEqual([['ann@example.com']]);
  });

  test('recipients that are all refused, one of them for now, are tried again', async () => {
    const { url } = await mailServer();
    const to = ['reply-550@example.com', 'reply-450@example.com'];
    expect(await channel({ smtpUrl: url }).send({ ...message, to })).toMatchObject({ ok: false, retry: true });
  });

  test('a login that is refused is the operator’s to mend: tried again', async () => {
    const { port } = await mailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(Object.assign(new Error('wrong password'), { responseCode: 535 })),
    });
    const open = channel({ smtpUrl: `smtp://fleet:secret@127.0.0.1:${port}?ignoreTLS=true` });
    const sent = await open.send(message);
    expect(sent).toMatchObject({ ok: false, retry: true, status: 535 });
    expect(await open.verify()).toMatch(/^The mail server refused the login: /);
    expect(JSON.stringify([sent, await open.verify()])).not.toContain('secret');
  });

  test('a password goes nowhere without TLS', async () => {
    let logins = 0;
    const { port } = await mailServer({
      allowInsecureAuth: true,
      onAuth(_auth, _session, done) {
        logins++;
        done(null, { user: 'fleet' });
      },
    });
    const sent = await channel({ smtpUrl: `smtp://fleet:secret@127.0.0.1:${port}` }).send(message);
    expect(sent).toMatchObject({ ok: false, retry: true });
    expect(logins).toBe(0);
    // Unless the operator says so.
    const open = channel({ smtpUrl: `smtp://fleet:secret@127.0.0.1:${port}?ignoreTLS=true` });
    expect(await open.send(message)).toEqual({ ok: true, status: 250 });
    expect(logins).toBe(1);
  });

  test('a server that is not there, cuts off, or talks nonsense is tried again', async () => {
    for (const greeting of [null, '', 'HTTP/1.1 400 Bad Request\r\n\r\n', '421 too busy\r\n', '554 go away\r\n']) {
      const server = net.createServer((socket) => {
        socket.on('error', () => {});
        socket.end(greeting ?? '');
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      if (greeting === null) server.close();
      else cleanups.push(() => server.close());
      const open = channel({ smtpUrl: `smtp://127.0.0.1:${port}` });
      expect(await open.send(message)).toMatchObject({ ok: false, retry: true });
      expect(await open.verify()).toMatch(/^The mail server /);
    }
  });

  test('the server is found well', async () => {
    const { url } = await mailServer();
    expect(await channel({ smtpUrl: url }).verify()).toBeNull();
  });

  test('many messages share few connections', async () => {
    const { url, received, connections } = await mailServer();
    const open = channel({ smtpUrl: url });
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, number) => open.send({ ...message, id: `m${number}` })),
    );
    expect(results.every((result) => result.ok)).toBe(true);
    expect(new Set(received.map(({ raw }) => headersOf(raw)['message-id'])).size).toBe(60);
    expect(connections()).toBeLessThanOrEqual(4);
  });

  test('closing waits for what is under way, and takes nothing more', async () => {
    let arrived = () => {};
    let release = () => {};
    const underWay = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { url } = await mailServer({
      onData(stream, _session, done) {
        stream.resume();
        stream.on('end', () => {
          release = () => done();
          arrived();
        });
      },
    });
    const open = channel({ smtpUrl: url });
    const sending = open.send(message);
    await underWay;
    const closing = open.close();
    expect(await open.send(message)).toEqual({
      ok: false,
      retry: true,
      status: null,
      error: 'The service is stopping.',
    });
    release();
    expect(await sending).toEqual({ ok: true, status: 250 });
    await closing;
  });

  test.each(['', 'mail.example.com', 'http://mail.example.com', 'smtp://', 'direct:mail', 'smtp://u:secret@:x'])(
    '%j is no server',
    (smtpUrl) => {
      expect(() => channel({ smtpUrl })).toThrow(TypeError);
      expect(() => channel({ smtpUrl })).not.toThrow(/secret/);
    },
  );
});

describe('into a folder', () => {
  test('a message is a whole .eml file, readable by its owner alone', async () => {
    const path = join(await folder(), 'made', 'when', 'needed');
    expect(await channel({ folder: path }).send(message)).toEqual({ ok: true, status: null });
    expect(await readdir(path)).toEqual([`${message.id}.eml`]);
    const file = join(path, `${message.id}.eml`);
    const raw = await readFile(file, 'utf8');
    expect(headersOf(raw)).toMatchObject(HEADERS);
    expect(raw.replaceAll('\r\n', '')).not.toContain('\n');
    expect((await stat(file)).mode & 0o077).toBe(0);
  });

  test('another attempt replaces the file of the first', async () => {
    const path = await folder();
    const open = channel({ folder: path });
    await Promise.all([open.send(message), open.send(message), open.send(message)]);
    await open.send({ ...message, text: 'again', html: undefined });
    expect(await readdir(path)).toEqual([`${message.id}.eml`]);
    expect(await readFile(join(path, `${message.id}.eml`), 'utf8')).toMatch(/\r\n\r\nagain/);
  });

  test.each(['../../evil', '/etc/passwd', '..', '', 'a\0b', 'CON', 'a.b', 'x'.repeat(300), '-rf'])(
    'the id %j makes a harmless name',
    async (id) => {
      const path = await folder();
      expect((await channel({ folder: path }).send({ ...message, id })).ok).toBe(true);
      const [name, ...others] = await readdir(path);
      expect(name).toMatch(/^x-[0-9a-f]{40}\.eml$/);
      expect(others).toEqual([]);
    },
  );

  test('that can’t be written is tried again, and leaves nothing half done', async () => {
    const path = await folder();
    const occupied = join(path, 'file');
    await writeFile(occupied, '');
    const open = channel({ folder: occupied });
    expect(await open.send(message)).toMatchObject({
      ok: false,
      retry: true,
      error: expect.stringMatching(/written \(E/),
    });
    expect(await open.verify()).toMatch(/written \(E/);
    expect(await readdir(path)).toEqual(['file']);
  });

  test.skipIf(process.getuid?.() === 0)('without the right to write is found out by verify', async () => {
    const path = await folder();
    await chmod(path, 0o500);
    expect(await channel({ folder: path }).verify()).toMatch(/EACCES/);
  });

  test('what a killed process left half written goes, and nothing else', async () => {
    const path = await folder();
    const hours = (count: number) => new Date(Date.now() - count * 3_600_000);
    const ages: [string, Date][] = [
      [`${message.id}.eml`, hours(9)],
      [`${message.id}.eml.77-0.tmp`, hours(2)],
      [`${message.id}.eml.78-12.tmp`, hours(0)],
      ['notes.tmp', hours(9)],
    ];
    for (const [name, at] of ages) {
      await writeFile(join(path, name), '');
      await utimes(join(path, name), at, at);
    }
    expect(await channel({ folder: path }).verify()).toBeNull();
    expect((await readdir(path)).toSorted()).toEqual(
      [`${message.id}.eml`, `${message.id}.eml.78-12.tmp`, 'notes.tmp'].toSorted(),
    );
  });

  test('that can be written is found well', async () => {
    expect(await channel({ folder: await folder() }).verify()).toBeNull();
  });
});

describe('nothing from outside becomes a header', () => {
  test('line breaks in a subject become spaces', async () => {
    const path = await folder();
    await channel({ folder: path }).send({ ...message, subject: 'a\r\nBcc: eve@example.com\n\nb\u0000c' });
    const headers = headersOf(await readFile(join(path, `${message.id}.eml`), 'utf8'));
    expect(headers.subject).toBe('a Bcc: eve@example.com b c');
    expect(headers.bcc).toBeUndefined();
  });

  test.each([
    [['ann@example.com\r\nBcc: eve@example.com']],
    [['Ann <ann@example.com>']],
    [['ann@example.com,eve@example.com']],
    [['ann@example.com> NOTIFY=NEVER']],
    [[]],
  ])('recipients %j are refused for good', async (to) => {
    const path = await folder();
    expect(await channel({ folder: path }).send({ ...message, to })).toMatchObject({
      ok: false,
      retry: false,
      status: null,
    });
    expect(await readdir(path)).toEqual([]);
  });

  test('a sender that is none is refused at once', () => {
    expect(() => channel({ from: 'a\r\nBcc: eve@example.com <a@example.com>' })).toThrow(TypeError);
  });
});

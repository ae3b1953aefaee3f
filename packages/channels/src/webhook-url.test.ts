import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkWebhookUrl } from './webhook-url.ts';

describe('takes', () => {
  test.each([
    'https://example.com/',
    'https://example.com',
    'https://hooks.example.com:8443/fleet?key=1&b=%20',
    'HTTPS://EXAMPLE.COM/x',
    'https://1.1.1.1/x',
    'https://[2606:4700::1111]/x',
    'https://пример.example/x',
    'https://localhost.example.com/',
  ])('%s', (url) => expect(checkWebhookUrl(url)).toBeNull());
});

describe('refuses', () => {
  test.each([
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['file:///etc/passwd', /absolute/],
    ['javascript:alert(1)', /absolute/],
    ['example.com/x', /absolute/],
    ['//example.com/x', /absolute/],
    ['https:example.com', /absolute/],
    ['https:///example.com', /absolute/],
    ['https://', /absolute/],
    ['https://exa mple.com/', /white space/],
    ['https://example.com/\r\nhost: x', /white space/],
    ['https:\\\\example.com\\', /white space/],
    [' https://example.com/', /white space/],
    ['https://user@example.com/', /user name/],
    ['https://user:secret@example.com/', /user name/],
    ['https://:secret@example.com/', /user name/],
    ['https://example.com/#part', /fragment/],
    ['https://example.com/#', /fragment/],
    ['https://example.com:0/', /port/],
    ['https://example.com:65536/', /absolute/],
    [`https://example.com/${'x'.repeat(2048)}`, /longer than 2048/],
    ['https://localhost/', /this machine/],
    ['https://api.localhost./', /this machine/],
    ['https://127.0.0.1/', /loopback/],
    ['https://127.1/', /loopback/],
    ['https://2130706433/', /loopback/],
    ['https://0x7f.0.0.1/', /loopback/],
    ['https://0177.0.0.1/', /loopback/],
    ['https://①②⑦.0.0.1/', /loopback/],
    ['https://0/', /unspecified/],
    ['https://169.254.169.254/latest/meta-data', /link-local/],
    ['https://[::1]/', /loopback/],
    ['https://[::ffff:10.0.0.1]/', /embedded/],
    ['https://[fd00:ec2::254]/', /private/],
  ])('%s', (url, why) => expect(checkWebhookUrl(url)).toMatch(why));

  test('every form that the parser reads as an address of this machine', () => {
    fc.assert(
      fc.property(fc.nat(0xffffff), fc.constantFrom(10, 8, 16), (host, base) => {
        const value = 0x7f000000 + host;
        const text = base === 10 ? String(value) : base === 8 ? `0${value.toString(8)}` : `0x${value.toString(16)}`;
        expect(checkWebhookUrl(`https://${text}/`)).toMatch(/loopback/);
      }),
    );
  });
});

test('with private addresses allowed, takes plain http and the own network, and nothing else more', () => {
  const allowed = { allowPrivateAddresses: true };
  for (const url of ['http://127.0.0.1:8080/x', 'https://localhost/', 'http://[::1]:1/', 'http://erp.local/'])
    expect(checkWebhookUrl(url, allowed)).toBeNull();
  for (const url of ['ftp://example.com/', 'http://a:b@example.com/', 'http://example.com/#x', 'http:x', ''])
    expect(checkWebhookUrl(url, allowed)).not.toBeNull();
});

test('never throws, and takes only URLs that stay what they are', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withFragments: true, withQueryParameters: true }),
    fc.string().map((rest) => `https://${rest}`),
  );
  fc.assert(
    fc.property(text, (url) => {
      if (checkWebhookUrl(url) !== null) return;
      const parsed = new URL(url);
      expect(parsed.protocol).toBe('https:');
      expect([parsed.username, parsed.password, parsed.hash]).toEqual(['', '', '']);
      expect(parsed.hostname).not.toBe('');
    }),
    { numRuns: runs(2000) },
  );
});

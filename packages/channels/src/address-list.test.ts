import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { emailAddress, MAX_RECIPIENTS, parseAddressList, parseSender } from './address-list.ts';

describe('an address', () => {
  test.each([
    ['ann@example.com', 'ann@example.com'],
    ["o'brien+fleet@Example.COM", "o'brien+fleet@example.com"],
    ['a.b-c_d@sub.example.co', 'a.b-c_d@sub.example.co'],
    ['ann@bücher.example', 'ann@xn--bcher-kva.example'],
    ['ann@xn--bcher-kva.example', 'ann@xn--bcher-kva.example'],
  ])('%s is taken', (text, address) => expect(emailAddress(text)).toBe(address));

  test.each([
    '',
    '@',
    'ann',
    'ann@',
    '@example.com',
    'ann@localhost',
    'ann@127.0.0.1',
    'ann@0x7f.1',
    'ann@[127.0.0.1]',
    'ann@[IPv6:::1]',
    'ann@@example.com',
    'ann@b@example.com',
    '"ann b"@example.com',
    'ann b@example.com',
    '.ann@example.com',
    'ann.@example.com',
    'a..b@example.com',
    'ann@example..com',
    'ann@-example.com',
    'ann@example.com.',
    'ann@exam_ple.com',
    'ann@example.com>',
    'Ann <ann@example.com>',
    'ann@example.com\r\nBcc: eve@example.com',
    'ann@exa\tmple.com',
    'änn@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ann@${'a'.repeat(64)}.com`,
    `ann@${'abcdefghi.'.repeat(25)}com`,
  ])('%j is refused', (text) => expect(emailAddress(text)).toBeNull());

  test('what is taken has nothing in it that could end a header, an angle bracket or a command', () => {
    const spiced = fc
      .tuple(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('', '\r\n', '\n', '\0', '<', '>', ',', ' ', ';'),
        fc.domain(),
      )
      .map(([local, spice, domain]) => `${local}${spice}@${spice}${domain}`);
    fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), spiced, fc.string({ unit: 'binary' })), (text) => {
        const address = emailAddress(text);
        if (address !== null) expect(address).toMatch(/^[!-~]+@[a-z0-9.-]+$/);
        if (address !== null) expect(address).not.toMatch(/[<>,;:"\\()[\]]/);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('is taken as fast-check makes them, and stays the same when read again', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (text) => {
        const at = text.lastIndexOf('@');
        const address = emailAddress(text);
        expect(address).toBe(text.slice(0, at) + text.slice(at).toLowerCase());
        expect(emailAddress(address ?? '')).toBe(address);
      }),
    );
  });
});

describe('a list', () => {
  test('is read from one text or from many', () => {
    const addresses = ['ann@example.com', 'bob@example.org'];
    expect(parseAddressList('ann@example.com, bob@example.org;')).toEqual({ ok: true, addresses });
    expect(parseAddressList([' ann@example.com', 'bob@example.org '])).toEqual({ ok: true, addresses });
  });

  test('names each address once', () => {
    const list = parseAddressList('ann@example.com,Ann@EXAMPLE.com,ann@example.com');
    expect(list).toEqual({ ok: true, addresses: ['ann@example.com'] });
  });

  test('refuses line breaks, wherever they are', () => {
    for (const text of ['ann@example.com\r\nBcc: eve@example.com', 'ann@example.com\n', '\rann@example.com'])
      for (const list of [text, [text]])
        expect(parseAddressList(list)).toEqual({ ok: false, error: 'Addresses must not contain line breaks.' });
  });

  test('says what is wrong', () => {
    expect(parseAddressList('ann@example.com, bob')).toEqual({ ok: false, error: 'Not an e-mail address: bob' });
    expect(parseAddressList(' ; ,')).toEqual({ ok: false, error: 'At least one address is needed.' });
    expect(parseAddressList([])).toEqual({ ok: false, error: 'At least one address is needed.' });
    // A comma inside an element is no separator: a list of one stays one.
    expect(parseAddressList(['ann@example.com,bob@example.com']).ok).toBe(false);
  });

  test('is bounded', () => {
    const many = Array.from({ length: MAX_RECIPIENTS + 1 }, (_, number) => `u${number}@example.com`);
    expect(parseAddressList(many.slice(1)).ok).toBe(true);
    expect(parseAddressList(many)).toEqual({ ok: false, error: `More than ${MAX_RECIPIENTS} addresses.` });
  });
});

describe('a sender', () => {
  test.each([
    ['fleet@example.com', '', 'fleet@example.com'],
    ['outrider@localhost', '', 'outrider@localhost'],
    ['Fleet <fleet@example.com>', 'Fleet', 'fleet@example.com'],
    [' "Fleet, Ltd." <fleet@example.com> ', 'Fleet, Ltd.', 'fleet@example.com'],
    ['<fleet@example.com>', '', 'fleet@example.com'],
  ])('%s', (text, name, address) => expect(parseSender(text)).toEqual({ name, address }));

  test.each([
    '',
    'fleet',
    'Fleet <fleet>',
    'a@b@c',
    'a b@localhost',
    'F <f@example.com> x',
    'F\r\nX: y <f@example.com>',
  ])('%j is refused', (text) => expect(() => parseSender(text)).toThrow(TypeError));
});

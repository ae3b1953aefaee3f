import { describe, expect, test } from 'vitest';
import { clientAddress, countedAs, sourceOf, trustedProxies } from './client-address.ts';

describe('the address of the client', () => {
  const trusted = trustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']);

  test('is that of the connection, whatever a stranger claims', () => {
    expect(clientAddress('203.0.113.9', '1.2.3.4', trusted)).toBe('203.0.113.9');
    expect(clientAddress('::ffff:203.0.113.9', undefined, trusted)).toBe('203.0.113.9');
    expect(clientAddress('10.1.1.1', '1.2.3.4', trustedProxies([]))).toBe('10.1.1.1');
    for (const same of [
      '::FFFF:203.0.113.9',
      '0:0:0:0:0:ffff:203.0.113.9',
      '::ffff:cb00:7109',
      '0000:0:0:0:0:FFFF:CB00:7109',
    ])
      expect(clientAddress(same, undefined, trusted)).toBe('203.0.113.9');
    expect(clientAddress('::ffff:1:cb00:7109', undefined, trusted)).toBe('::ffff:1:cb00:7109');
  });

  test('is what the outermost trusted proxy saw', () => {
    expect(clientAddress('10.1.1.1', '203.0.113.9', trusted)).toBe('203.0.113.9');
    expect(clientAddress('::ffff:10.1.1.1', '203.0.113.9, 192.0.2.7', trusted)).toBe('203.0.113.9');
    expect(clientAddress('fd00::1', '2001:db8::9', trusted)).toBe('2001:db8::9');
  });

  test('is never one that the client put in front', () => {
    expect(clientAddress('10.1.1.1', '10.9.9.9, 203.0.113.9, 10.2.2.2', trusted)).toBe('203.0.113.9');
    expect(clientAddress('10.1.1.1', '1.2.3.4, nonsense', trusted)).toBe('10.1.1.1');
    expect(clientAddress('10.1.1.1', undefined, trusted)).toBe('10.1.1.1');
  });

  test('a list of proxies that holds anything else is refused', () => {
    for (const wrong of ['proxy', '10.0.0.0/33', '10.0.0.0/x', '', 'fd00::/129'])
      expect(() => trustedProxies([wrong])).toThrow('not an IP address');
  });
});

test('connections from this machine are of no source', () => {
  for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(sourceOf(own), own).toBeNull();
  expect(sourceOf('127.0.0.2')).toBe('127.0.0.2');
  expect(sourceOf('2001:db8::7')).toBe('2001:db8:0:0::/64');
  expect(sourceOf(undefined)).toBe('unknown');
});

test('IPv6 counts per /64, IPv4 per address', () => {
  expect(countedAs('203.0.113.9')).toBe('203.0.113.9');
  for (const same of [
    '2001:db8:1:2::1',
    '2001:0db8:0001:0002:ffff:ffff:ffff:ffff',
    '2001:db8:1:2:3::',
    '2001:db8:1:2::192.0.2.1',
  ])
    expect(countedAs(same)).toBe('2001:db8:1:2::/64');
  expect(countedAs('2001:db8:1:3::1')).toBe('2001:db8:1:3::/64');
  expect(countedAs('2001:db8::1')).toBe('2001:db8:0:0::/64');
  expect(countedAs('::1')).toBe('0:0:0:0::/64');
  expect(countedAs('fe80::1%eth0')).toBe('fe80:0:0:0::/64');
  expect(countedAs('::ffff:203.0.113.9')).toBe('203.0.113.9');
  expect(countedAs('unknown')).toBe('unknown');
});

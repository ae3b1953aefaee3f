import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { refusedAddress } from './network-address.ts';

describe('refuses', () => {
  test.each([
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['100.64.0.1', 'carrier'],
    ['100.100.100.200', 'carrier'],
    ['100.127.255.255', 'carrier'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'link-local'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['192.0.0.192', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['192.168.255.255', 'private'],
    ['198.19.255.255', 'benchmarks'],
    ['198.51.100.7', 'documentation'],
    ['203.0.113.7', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['168.63.129.16', 'cloud'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    ['::7f00:1', 'embedded'],
    ['::8.8.8.8', 'embedded'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'embedded'],
    ['2002:7f00:1::', 'embedded'],
    ['2002:808:808::1', 'embedded'],
    ['::ffff:0:10.0.0.1', 'embedded'],
    ['64:ff9b::10.0.0.1', 'private'],
    ['64:ff9b::a9fe:a9fe', 'link-local'],
    ['64:ff9b:1::808:808', 'reserved'],
    ['100::1', 'reserved'],
    ['2001:db8::1', 'documentation'],
    ['3fff::1', 'documentation'],
    ['4000::1', 'reserved'],
    ['fc00::1', 'private'],
    ['fd00:ec2::254', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fec0::1', 'private'],
    ['ff02::1', 'multicast'],
    ['', 'not an IP'],
    ['example.com', 'not an IP'],
    ['127.1', 'not an IP'],
    ['[::1]', 'not an IP'],
  ])('%s: %s', (address, what) => expect(refusedAddress(address)).toContain(what));

  test('every IPv4 address mapped into IPv6, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(refusedAddress(`::ffff:${address}`)).not.toBeNull();
        expect(refusedAddress(`0:0:0:0:0:FFFF:${address}`)).not.toBeNull();
      }),
    );
    expect(refusedAddress('::ffff:7f00:1')).not.toBeNull();
  });
});

describe('lets through', () => {
  test.each(['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'])(
    '%s',
    (address) => expect(refusedAddress(address)).toBeNull(),
  );
  test.each(['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'])(
    '%s',
    (address) => expect(refusedAddress(address)).toBeNull(),
  );
  test.each(['223.255.255.255', '2606:4700::1111', '2001:4860:4860::8888', '2a00:1450::1', '64:ff9b::8.8.8.8'])(
    '%s',
    (address) => expect(refusedAddress(address)).toBeNull(),
  );
});

test('judges IPv4 as the registry of private addresses does, number by number', () => {
  const within = (value: number, base: number, bits: number) => value >>> (32 - bits) === base >>> (32 - bits);
  const ranges: [number, number][] = [
    [0x00000000, 8],
    [0x0a000000, 8],
    [0x64400000, 10],
    [0x7f000000, 8],
    [0xa9fe0000, 16],
    [0xac100000, 12],
    [0xc0a80000, 16],
    [0xe0000000, 3],
  ];
  const near = fc.tuple(fc.constantFrom(...ranges), fc.nat(3), fc.nat(0xffff)).map(([[base, bits], side, offset]) => {
    const size = 2 ** (32 - bits);
    const edge = side < 2 ? base : base + size;
    return (edge + (side % 2 === 0 ? offset : -offset) + 2 ** 32) % 2 ** 32;
  });
  // Small ranges of the registry that this oracle leaves out.
  const special = [0xc0, 0xc6, 0xcb, 0xa8];
  fc.assert(
    fc.property(fc.oneof(near, fc.nat(0xffffffff)), (value) => {
      fc.pre(!special.includes(value >>> 24) || within(value, 0xc0a80000, 16));
      const address = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
      expect(refusedAddress(address) !== null).toBe(ranges.some(([base, bits]) => within(value, base, bits)));
    }),
    { numRuns: runs(2000) },
  );
});

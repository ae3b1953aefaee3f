import { expect, test } from 'vitest';
import { headerFault } from './header-fault.ts';

test.each([
  ['Authorization', 'Bearer abc.def'],
  ['X-Tenant', '5'],
  ['Cookie', 'a=b; c=d'],
])('%s: %s may be sent', (name, value) => {
  expect(headerFault(name, value)).toBeNull();
});

test.each([
  ['Host', 'example.com'],
  ['content-length', '5'],
  ['Content-Type', 'text/plain'],
  ['Webhook-Signature', 'v1,x'],
  ['webhook-id', '1'],
  ['Transfer-Encoding', 'chunked'],
  ['Proxy-Authorization', 'x'],
  ['', 'x'],
  ['two words', 'x'],
  ['X-Break\r\nHost', 'x'],
  ['X-Value', ''],
  ['X-Value', ' x'],
  ['X-Value', 'a\r\nHost: b'],
  ['X-Value', 'ä'],
  ['X-Value', 'x'.repeat(2001)],
])('%j: %j is refused', (name, value) => {
  expect(headerFault(name, value)).toMatch(/\.$/);
});

import { blankPosition } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { guessProtocols, tcpProtocols } from './index.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

describe('the protocol of a device is guessed from its first bytes', () => {
  test.each(tcpProtocols)('$name', ({ name, exampleId, simulators }) => {
    for (const create of simulators) {
      const terminalId = exampleId(25);
      const simulator = create(terminalId);
      const first = simulator.hello() ?? simulator.encode([blankPosition(NOW_MS, 1, 2)]);
      expect(guessProtocols(first, NOW_MS)).toContainEqual({ protocol: name, terminalId });
    }
  });

  test('a request of HTTP', () => {
    const request = Buffer.from('GET /?id=phone-1&lat=1&lon=2 HTTP/1.1\r\n');
    expect(guessProtocols(request, NOW_MS)).toContainEqual({ protocol: 'osmand', terminalId: null });
  });

  test.each([
    ['nothing', ''],
    ['too few bytes', '2a'],
    ['a TLS handshake', '1603010200010001fc0303'],
    ['text of no protocol', Buffer.from('EHLO scanner.example\r\n').toString('hex')],
  ])('%s fits none', (_, hex) => {
    expect(guessProtocols(Buffer.from(hex, 'hex'), NOW_MS)).toEqual([]);
  });

  test('a frame that is longer than what was kept of it', () => {
    const line = `*HQ,9100000025,NBR,${'0,'.repeat(200)}`.slice(0, 256);
    const names = guessProtocols(Buffer.from(line), NOW_MS).map(({ protocol }) => protocol);
    expect(names).toContain('h02');
  });
});

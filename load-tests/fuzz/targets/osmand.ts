import type { TerminalId } from '@outrider/domain';
import { decodeOsmand, encodeOsmandJson, encodeOsmandQuery } from '@outrider/protocols';
import { checkPositions, somePosition } from '../positions.ts';
import { claim, type Target } from '../target.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const TERMINAL = 'phone-1' as TerminalId;

/** A request's first line, its content type and its body, with line feeds between the three. */
function requestOf(method: string, url: string, contentType: string, body: string): Buffer {
  return Buffer.from(`${method} ${url}\n${contentType}\n${body}`);
}

/** What phones send by HTTP: a query, a form, JSON. */
export const osmandTarget: Target = {
  name: 'decoder osmand',
  covers: ['/protocols/src/osmand/'],
  words: [
    'GET ',
    'POST ',
    '&lat=',
    '&lon=',
    '&timestamp=',
    '&location=1,2',
    '&valid=',
    '&alarm=sos',
    '&batt=',
    '&id=',
    '%',
    '%00',
    '%ff',
    '+',
    '1e99',
    '-1e308',
    'null',
    'true',
    '[]',
    '{}',
    '"',
    '\\u0000',
    '\\ud800',
    '"__proto__":',
    '"timestamp":',
    '"coords":',
    '"extras":',
    '2026-01-01T00:00:00Z',
    '99999999999999',
    'application/json',
    'application/x-www-form-urlencoded',
    '\n',
  ].map((text) => Buffer.from(text)),
  maxBytes: 8 * 1024,
  seeds(random) {
    const position = somePosition(random);
    const query = encodeOsmandQuery(TERMINAL, position);
    const json = encodeOsmandJson(TERMINAL, position);
    const { location } = JSON.parse(json) as { location: unknown };
    return [
      requestOf('GET', query, '', ''),
      requestOf('POST', '/', 'application/x-www-form-urlencoded', query.slice(2)),
      requestOf('POST', '/', 'application/json; charset=utf-8', json),
      requestOf(
        'POST',
        '/',
        'application/json',
        JSON.stringify({ device_id: TERMINAL, location: [location, location] }),
      ),
    ];
  },
  run(input) {
    const [first = '', contentType = '', ...rest] = input.toString('utf8').split('\n');
    const space = first.indexOf(' ');
    const decoded = decodeOsmand({
      method: first.slice(0, Math.max(0, space)),
      url: first.slice(space + 1),
      contentType: contentType === '' ? null : contentType,
      body: Buffer.from(rest.join('\n')),
      nowMs: NOW_MS,
    });
    if ('refused' in decoded) {
      claim(decoded.status >= 400 && decoded.status < 500, () => `refused with status ${decoded.status}`);
      claim(decoded.detail.length < 500, () => `a detail of ${decoded.detail.length} characters`);
      return 'refused';
    }
    claim(decoded.terminalId !== '', () => 'a report of nobody');
    checkPositions('osmand', decoded.terminalId, decoded.positions);
    return 'accepted';
  },
};

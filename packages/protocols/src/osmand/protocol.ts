import type { TerminalId } from '@outrider/domain';
import { bearerOf } from '../credentials.ts';
import type { HttpProtocol } from '../protocol.ts';
import { decodeOsmand } from './decode.ts';
import { encodeOsmandQuery } from './encode.ts';

export const osmand: HttpProtocol<'osmand'> = {
  name: 'osmand',
  title: 'OsmAnd, Traccar Client',
  settingPrefix: 'OSMAND',
  defaultPort: 5055,
  acknowledgement: 'status 200',
  secret: '`token` in the query, or `Authorization: Bearer`',
  help: 'The terminal id is the device identifier of the app. The server URL is `http://` and this address.',
  exampleId: (number) => `demo-phone-${number}` as TerminalId,
  maxBodyBytes: 64 * 1024,
  decode({ method, url, headers, body }, nowMs) {
    const decoded = decodeOsmand({ method, url, contentType: headers['content-type'] ?? null, body, nowMs });
    if ('refused' in decoded) return decoded;
    const { terminalId, positions, isInKnots = false, unread } = decoded;
    const secret = bearerOf(headers.authorization) ?? decoded.secret;
    return {
      reports: [{ terminalId, positions, isInKnots }],
      ...(unread && { unread }),
      ...(secret === undefined ? {} : { secret }),
    };
  },
  encode: (terminalId, position) => ({
    method: 'POST',
    url: encodeOsmandQuery(terminalId, position),
    headers: {},
    body: Buffer.alloc(0),
  }),
};

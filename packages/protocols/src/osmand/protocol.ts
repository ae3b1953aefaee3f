import type { TerminalId } from '@outrider/domain';
import type { HttpProtocol } from '../protocol.ts';

export const osmand: HttpProtocol<'osmand'> = {
  name: 'osmand',
  title: 'OsmAnd, Traccar Client',
  settingPrefix: 'OSMAND',
  defaultPort: 5055,
  acknowledgement: 'status 200',
  secret: '`token` in the query, or `Authorization: Bearer`',
  help: 'The terminal id is the device identifier of the app. The server URL is `http://` and this address.',
  exampleId: (number) => `demo-phone-${number}` as TerminalId,
};

import { isTrustedProxy, sourceOf, trustedProxies } from '@outrider/auth';
import { type Config, oneOf, port, textOr, type Variable, type Variables, whole } from '@outrider/runtime';

/** Texts separated by commas; none where it is unset. */
function list(description: string): Variable<readonly string[]> {
  return {
    description,
    fallback: ',',
    secret: false,
    parse: (value) =>
      value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
  };
}

/** Where a service keeps what no server keeps for it. */
export const folderVariables = {
  DATA_DIR: textOr('./data', 'Folder for everything that is kept; made where there is none.'),
} satisfies Variables;

/** What all that people and programs talk to must agree about. */
export const accessVariables = {
  ...folderVariables,
  PORT: port(8080, 'REST API, live API, health and metrics. Like every port: 0 takes a free one.'),
  JWT_TTL_SECONDS: whole(1, 31_536_000, 3600, 'Life of a token.'),
  SESSION_TTL_SECONDS: whole(1, 31_536_000, 2_592_000, 'How long after login a token can be refreshed.'),
  TRUSTED_PROXIES: list('Addresses or subnets of proxies whose `X-Forwarded-For` is believed, separated by commas.'),
  MAX_HTTP_CONNECTIONS: whole(
    1,
    1_000_000,
    4096,
    'Open HTTP connections, beside those of the live API; further ones are closed at once.',
  ),
  MAX_HTTP_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    256,
    'The same of one address; the own machine and `TRUSTED_PROXIES` are not bounded by it.',
  ),
  WEBHOOK_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether webhooks may go to plain http and to addresses inside the own network.',
  ),
} satisfies Variables;

/** How many HTTP connections may be open, as it stands in the settings, and what their peers are counted by. */
export function httpBoundsOf(config: Config<typeof accessVariables>) {
  const trusted = trustedProxies(config.TRUSTED_PROXIES);
  return {
    connections: { total: config.MAX_HTTP_CONNECTIONS, perKey: config.MAX_HTTP_CONNECTIONS_PER_ADDRESS },
    keyOf: (peer: string) => (isTrustedProxy(peer, trusted) ? null : sourceOf(peer)),
  };
}

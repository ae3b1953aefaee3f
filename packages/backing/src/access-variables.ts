import { isTrustedProxy, sourceOf, trustedProxies } from '@outrider/auth';
import { type Config, oneOf, port, textOr, type Variable, type Variables, whole } from '@outrider/runtime';

/** Comma-separated texts; empty if unset. */
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

/** Address of a web server without a path, or null. */
function webOrigin(description: string): Variable<string | null> {
  return {
    description,
    fallback: undefined,
    secret: false,
    parse(value) {
      const url = URL.canParse(value) ? new URL(value) : null;
      if (url === null || !/^https?:$/.test(url.protocol) || !/^\/?$/.test(url.pathname + url.search + url.hash))
        throw new Error('an address such as https://fleet.example.com, without a path');
      return url.origin;
    },
  };
}

/** Comma-separated origins of pages, as browsers send them. */
function origins(description: string): Variable<readonly string[]> {
  const texts = list(description);
  return {
    ...texts,
    parse(value) {
      const given = texts.parse(value);
      for (const origin of given)
        if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin)
          throw new Error('origins such as https://app.example.com, in lower case, without a path or *');
      return given;
    },
  };
}

/** Folder of a service for data that no server stores. */
export const folderVariables = {
  DATA_DIR: textOr('./data', 'Folder for all stored data; created if it does not exist.'),
} satisfies Variables;

/** Settings that all services with users or API clients must share. */
export const accessVariables = {
  ...folderVariables,
  PORT: port(8080, 'Port of the REST API, the live API, health and metrics. As for every port, 0 means any free port.'),
  JWT_TTL_SECONDS: whole(1, 31_536_000, 3600, 'Lifetime of a token.'),
  SESSION_TTL_SECONDS: whole(1, 31_536_000, 2_592_000, 'Time after login during which a token can be refreshed.'),
  REFRESH_EXPIRED_HOURS: whole(
    0,
    8760,
    24,
    'Time after its expiry during which a token alone can be refreshed. With the token `refresh` of the login, it can be refreshed during all of `SESSION_TTL_SECONDS`.',
  ),
  TRUSTED_PROXIES: list('Addresses or subnets of proxies whose `X-Forwarded-For` is trusted, separated by commas.'),
  CORS_ORIGINS: origins(
    'Origins of other sites whose pages may call the API and the live API with a token, such as `https://app.example.com`, separated by commas. They can never use the console’s cookie.',
  ),
  MAX_HTTP_CONNECTIONS: {
    ...whole(
      1,
      1_000_000,
      4096,
      'Maximum number of open HTTP connections, not counting the live API. Further ones are closed at once.',
    ),
    allowsConnections: true,
  },
  MAX_HTTP_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    256,
    'The same per address. Does not apply to connections from this machine and from `TRUSTED_PROXIES`.',
  ),
  PUBLIC_URL: webOrigin(
    'Public URL of the service, such as `https://fleet.example.com`, used for links in e-mails. Default: `http://localhost` and `PORT`.',
  ),
  MAIL_TRUSTED_DOMAINS: list(
    'Domains of e-mail addresses that need no confirmation, separated by commas, such as your own company’s. `*` for all domains: only if nobody but the operator enters addresses.',
  ),
  WEBHOOK_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether webhooks and forwarding may use plain http and private network addresses. The default of `npm run demo` is `yes`, because it forwards to itself.',
  ),
} satisfies Variables;

/** Limits of open HTTP connections from the settings, and how their peers are identified. */
export function httpBoundsOf(config: Config<typeof accessVariables>) {
  const trusted = trustedProxies(config.TRUSTED_PROXIES);
  return {
    connections: { total: config.MAX_HTTP_CONNECTIONS, perKey: config.MAX_HTTP_CONNECTIONS_PER_ADDRESS },
    keyOf: (peer: string) => (isTrustedProxy(peer, trusted) ? null : sourceOf(peer)),
  };
}

/** Beginning of links in e-mails. */
export function publicUrlOf({ PUBLIC_URL, PORT }: Pick<Config<typeof accessVariables>, 'PUBLIC_URL' | 'PORT'>): string {
  return PUBLIC_URL ?? `http://localhost:${PORT}`;
}

/** The e-mail addresses that need no confirmation by their holders. */
export function trustedAddresses({
  MAIL_TRUSTED_DOMAINS,
}: Pick<Config<typeof accessVariables>, 'MAIL_TRUSTED_DOMAINS'>): (address: string) => boolean {
  const domains = new Set(MAIL_TRUSTED_DOMAINS.map((domain) => domain.toLowerCase()));
  return (address) => domains.has('*') || domains.has(address.slice(address.lastIndexOf('@') + 1).toLowerCase());
}

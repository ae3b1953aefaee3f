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
  PORT: port(8080, 'REST API, live API, health and metrics. Like every port: 0 takes a free one.'),
  JWT_TTL_SECONDS: whole(1, 31_536_000, 3600, 'Life of a token.'),
  SESSION_TTL_SECONDS: whole(1, 31_536_000, 2_592_000, 'How long after login a token can be refreshed.'),
  REFRESH_EXPIRED_HOURS: whole(
    0,
    8760,
    24,
    'How long after it has expired a token can be refreshed by itself; the token `refresh` of a login can be for all of `SESSION_TTL_SECONDS`.',
  ),
  TRUSTED_PROXIES: list('Addresses or subnets of proxies whose `X-Forwarded-For` is believed, separated by commas.'),
  CORS_ORIGINS: origins(
    'Origins of other sites whose pages may call the API and the live API with a token, such as `https://app.example.com`, separated by commas; the cookie of the console is never theirs.',
  ),
  MAX_HTTP_CONNECTIONS: {
    ...whole(
      1,
      1_000_000,
      4096,
      'Open HTTP connections, beside those of the live API; further ones are closed at once.',
    ),
    allowsConnections: true,
  },
  MAX_HTTP_CONNECTIONS_PER_ADDRESS: whole(
    1,
    1_000_000,
    256,
    'The same of one address; the own machine and `TRUSTED_PROXIES` are not bounded by it.',
  ),
  PUBLIC_URL: webOrigin(
    'Where people reach the service, such as `https://fleet.example.com`: links in e-mails begin with it. Default: `http://localhost` and `PORT`.',
  ),
  MAIL_TRUSTED_DOMAINS: list(
    'Domains of e-mail addresses that need no confirmation, separated by commas, such as that of the own company; `*`: all, where only the operator names addresses.',
  ),
  WEBHOOK_ALLOW_PRIVATE: oneOf(
    ['no', 'yes'],
    'no',
    'Whether webhooks and forwarding may go to plain http and to addresses inside the own network. `npm run demo` has `yes` where it is not set: it forwards to itself.',
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

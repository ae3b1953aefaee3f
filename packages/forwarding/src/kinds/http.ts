import { checkWebhookSecret, checkWebhookUrl, createWebhookChannel, headerFault } from '@outrider/channels';
import { isoTime } from '@outrider/domain';
import { type Authorities, authoritiesFault } from '../authorities.ts';
import { type DestinationKind, ForwardingError, type Target, type TargetContext } from '../destination-kind.ts';

/** Batches as JSON, signed as webhooks are. */
export interface HttpDestination extends Authorities {
  url: string;
  /** Further headers by name, visible to everybody who sees the destination. */
  headers?: Readonly<Record<string, string>>;
}

/** Maximum number of headers: those of the settings and secret ones together. */
export const MAX_HEADERS = 20;

export const httpDestination: DestinationKind<HttpDestination> = {
  carriesEvents: true,
  settingNames: ['url', 'headers', 'ca'],
  fault({ url, headers = {}, ca = null }, { allowPrivateAddresses }) {
    const detail = checkWebhookUrl(url, { allowPrivateAddresses });
    if (detail !== null) return { pointer: '/url', detail };
    const fault = headersFault(headers, []);
    if (fault !== null) return { ...fault, pointer: `/headers${fault.pointer}` };
    return authoritiesFault({ ca }, url.startsWith('https:'));
  },
  secretHeadersFault: ({ headers = {} }, secretHeaders) => headersFault(secretHeaders, Object.keys(headers)),
  secretFault: (_, secret) =>
    secret === null ? 'Batches are signed: give a secret, whsec_ and base64.' : checkWebhookSecret(secret),
  endpointOf: ({ url }) => new URL(url).host,
  open: (settings, secret, context) => new HttpTarget(settings, secret ?? '', context),
};

/** @param others names of the other headers of the same calls */
function headersFault(headers: Readonly<Record<string, string>>, others: readonly string[]) {
  const names = new Set(others.map((name) => name.toLowerCase()));
  for (const [name, value] of Object.entries(headers)) {
    const pointer = `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const detail = headerFault(name, value);
    if (detail !== null) return { pointer, detail };
    if (names.has(name.toLowerCase())) return { pointer, detail: 'A header of this name is there already.' };
    names.add(name.toLowerCase());
  }
  return names.size <= MAX_HEADERS ? null : { pointer: '', detail: `It must be at most ${MAX_HEADERS} headers.` };
}

class HttpTarget implements Target {
  readonly #settings: HttpDestination;
  readonly #secret: string;
  readonly #context: TargetContext;

  constructor(settings: HttpDestination, secret: string, context: TargetContext) {
    this.#settings = settings;
    this.#secret = secret;
    this.#context = context;
  }

  async send({ id, items }: Parameters<Target['send']>[0]) {
    await this.#post(`batch-${id}`, 'forwarding.batch', { items: items.map((item) => item.json()) });
    return { count: 0, reason: null };
  }

  async test(): Promise<void> {
    await this.#post(`test-${this.#context.id}-${this.#context.now()}`, 'forwarding.test', { items: [] });
  }

  async close(): Promise<void> {}

  async #post(id: string, type: string, data: object): Promise<void> {
    const { http, now, isTest, allowPrivateAddresses, secretHeaders } = this.#context;
    const { url, headers, ca } = this.#settings;
    const options = { allowPrivateAddresses, now, timeoutMs: 0, maxResponseBytes: 0 };
    const result = await createWebhookChannel(options, http).send({
      id,
      url,
      secret: this.#secret,
      body: { type, timestamp: isoTime(now()), destinationId: this.#context.id, data },
      isUnproven: isTest,
      headers: { ...headers, ...secretHeaders },
      ca: ca ?? this.#context.ca,
    });
    if (!result.ok) throw new ForwardingError(result.error, result.retryAfterMs ?? null);
  }
}

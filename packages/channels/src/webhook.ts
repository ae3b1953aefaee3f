import { createGuardedHttp, type GuardedHttp, type GuardedHttpOptions } from './guarded-http.ts';
import { failedForGood, type SendResult } from './send-result.ts';
import { checkWebhookId, checkWebhookSecret, signWebhook } from './signature.ts';
import { checkWebhookUrl } from './webhook-url.ts';

export interface WebhookMessage {
  /** The same on every attempt: receivers drop duplicates by it. Letters, digits, hyphens, underscores. */
  id: string;
  url: string;
  /** `whsec_…`, see {@link createWebhookSecret}. */
  secret: string;
  /** Sent as JSON; Standard Webhooks suggests `{ type, timestamp, data }`. */
  body: object;
  /**
   * Whether the endpoint has never responded successfully: its name is then resolved separately from those that have.
   */
  isUnproven?: boolean;
  /** Additional headers, see {@link headerFault}. */
  headers?: Readonly<Record<string, string>>;
  /** Certificates of authorities in PEM, which replace those of the system. */
  ca?: string | undefined;
}

export interface WebhookChannel {
  /** Makes one attempt. Never rejects: a fault of the message or the endpoint is in the result. */
  send(message: WebhookMessage): Promise<SendResult>;
  /** Accepts no more messages, waits for pending ones (at most `timeoutMs` each), then closes all connections. */
  close(): Promise<void>;
}

export type WebhookOptions = GuardedHttpOptions;

/**
 * Webhooks by the conventions of Standard Webhooks (standardwebhooks.com): a POST with `webhook-id`,
 * `webhook-timestamp` and `webhook-signature`.
 *
 * 2xx is delivered; 408, 425, 429, 5xx, timeouts and failed connections may be retried; everything else is final,
 * including invalid certificates.
 */
export function createWebhookChannel(
  options: WebhookOptions,
  http: GuardedHttp = createGuardedHttp(options),
): WebhookChannel {
  return {
    async send({ id, url, secret, body, isUnproven = false, headers: more = {}, ca }) {
      const { allowPrivateAddresses } = options;
      const wrong = checkWebhookUrl(url, { allowPrivateAddresses }) ?? checkWebhookSecret(secret) ?? checkWebhookId(id);
      if (wrong !== null) return failedForGood(wrong);
      const bytes = Buffer.from(JSON.stringify(body));
      const timestampS = Math.floor(options.now() / 1000);
      const headers = {
        ...more,
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestampS),
        'webhook-signature': signWebhook(secret, id, timestampS, bytes),
      };
      return (await http.request({ method: 'POST', url, headers, body: bytes, isUnproven, ca })).result;
    },
    close: () => http.close(),
  };
}

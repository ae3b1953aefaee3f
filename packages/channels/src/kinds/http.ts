import { CONNECTION_HEADERS } from '../header-fault.ts';
import type { ChannelFault, ChannelKind } from '../message-channel.ts';
import { faultText, fillTemplate, templateFault } from '../message-template.ts';
import { checkWebhookUrl } from '../webhook-url.ts';

/** A call of any HTTP API, such as that of an SMS gateway, by templates. */
export interface HttpSettings {
  method: 'GET' | 'POST' | 'PUT';
  /** With placeholders after its host. */
  url: string;
  headers: readonly { name: string; value: string }[];
  contentType: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain' | 'application/xml';
  /** Not sent with GET. */
  body: string;
  /** Who gets it, such as the number of a phone. */
  to: string;
}

/** What templates of a call may hold. */
export const HTTP_PLACEHOLDERS = ['title', 'message', 'to', 'secret', 'id'] as const;

const ESCAPES: Readonly<Record<HttpSettings['contentType'], (value: string) => string>> = {
  'application/json': (value) => JSON.stringify(value).slice(1, -1),
  'application/x-www-form-urlencoded': encodeURIComponent,
  'text/plain': (value) => value,
  'application/xml': (value) => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
};

export const httpChannel: ChannelKind<HttpSettings> = {
  needsConfirmation: false,
  settingNames: ['method', 'url', 'headers', 'contentType', 'body', 'to'],
  fault(settings, { allowPrivateAddresses }) {
    const { url, headers, body, contentType } = settings;
    const templates: [pointer: string, template: string][] = [
      ['/url', url],
      ...headers.map(({ value }, nth): [string, string] => [`/headers/${nth}/value`, value]),
      ['/body', body],
    ];
    for (const [pointer, template] of templates) {
      const wrong = templateFault(template, HTTP_PLACEHOLDERS);
      if (wrong !== null) return { pointer, detail: faultText(wrong, HTTP_PLACEHOLDERS) };
    }
    if (/^[^/]*\/\/[^/?#]*[{}]/.test(url)) return { pointer: '/url', detail: 'Placeholders come after the host.' };
    const wrongUrl = checkWebhookUrl(filledUrl(url, SAMPLE), { allowPrivateAddresses });
    if (wrongUrl !== null) return { pointer: '/url', detail: wrongUrl };
    return headerFault(headers) ?? (contentType === 'application/json' ? jsonFault(body) : null);
  },
  secretFault: () => null,
  endpointOf: ({ url }) => new URL(filledUrl(url, SAMPLE)).origin,
  async send(settings, secret, { id, title, text }, { http, isUnproven }) {
    const values = { id, title, message: text, to: settings.to, secret: secret ?? '' };
    const { method, contentType } = settings;
    const headers = settings.headers.map(({ name, value }) => [name, fillTemplate(value, values, headerValue)]);
    const { result } = await http.request({
      method,
      url: filledUrl(settings.url, values),
      headers: { ...Object.fromEntries(headers), ...(method === 'GET' ? {} : { 'content-type': contentType }) },
      body: method === 'GET' ? '' : fillTemplate(settings.body, values, ESCAPES[contentType]),
      isUnproven,
      isTrusted: false,
    });
    return result;
  },
};

const SAMPLE = { id: 'x', title: 'x', message: 'x', to: 'x', secret: 'x' };

function filledUrl(url: string, values: Readonly<Record<string, string>>): string {
  return fillTemplate(url, values, encodeURIComponent);
}

/** Headers are Latin-1 on the wire, and of one line. */
function headerValue(value: string): string {
  return value.replace(/[^\x20-\x7e]+/g, ' ').trim();
}

function headerFault(headers: HttpSettings['headers']): ChannelFault | null {
  for (const [nth, { name, value }] of headers.entries()) {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name))
      return { pointer: `/headers/${nth}/name`, detail: 'It is no name of a header.' };
    if (CONNECTION_HEADERS.test(name))
      return { pointer: `/headers/${nth}/name`, detail: 'The connection itself sets this header.' };
    if (/[^\x20-\x7e]/.test(value))
      return { pointer: `/headers/${nth}/value`, detail: 'It may hold letters, digits and signs of ASCII.' };
  }
  return null;
}

function jsonFault(body: string): ChannelFault | null {
  if (body === '') return null;
  try {
    JSON.parse(fillTemplate(body, SAMPLE));
    return null;
  } catch {
    return { pointer: '/body', detail: 'It is no JSON.' };
  }
}

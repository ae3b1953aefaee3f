import { type ChannelFault, channelKind, everywhere } from '../channel-kind.ts';
import { CONNECTION_HEADERS } from '../header-fault.ts';

import { faultText, fillTemplate, templateFault } from '../message-template.ts';
import { checkWebhookUrl } from '../webhook-url.ts';

const METHODS = ['GET', 'POST', 'PUT'] as const;
const CONTENT_TYPES = [
  'application/json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'application/xml',
] as const;

/** A request to any HTTP API, such as that of an SMS gateway, built from templates. */
export interface HttpSettings {
  method: (typeof METHODS)[number];
  /** May have placeholders after its host. */
  url: string;
  headers: readonly { name: string; value: string }[];
  contentType: (typeof CONTENT_TYPES)[number];
  /** Not sent with GET. */
  body: string;
  /** The recipient, such as a phone number. */
  to: string;
}

/** Placeholders of the templates of a request. */
export const HTTP_PLACEHOLDERS = ['title', 'message', 'to', 'secret', 'id'] as const;

const ESCAPES: Readonly<Record<HttpSettings['contentType'], (value: string) => string>> = {
  'application/json': (value) => JSON.stringify(value).slice(1, -1),
  'application/x-www-form-urlencoded': encodeURIComponent,
  'text/plain': (value) => value,
  'application/xml': (value) => value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
};

const PLACEHOLDERS = HTTP_PLACEHOLDERS.map((name) => `{${name}}`);
const WITH_BODY = { setting: 'method', values: METHODS.filter((method) => method !== 'GET') };

export const httpChannel = channelKind<HttpSettings>({
  schemaName: 'HttpChannelSettings',
  example: {
    method: 'POST',
    url: 'https://sms.example.com/send',
    headers: [{ name: 'Authorization', value: 'Bearer {secret}' }],
    contentType: 'application/json',
    body: '{"to":"{to}","text":"{title}"}',
    to: '+4915112345678',
  },
  about: 'a call to any HTTP API such as that of an SMS gateway',
  name: {
    en: 'HTTP call',
    ru: 'Вызов HTTP',
    de: 'HTTP-Aufruf',
    es: 'Llamada HTTP',
    he: 'קריאת HTTP',
  },
  add: {
    en: 'SMS or other service',
    ru: 'SMS или другой сервис',
    de: 'SMS oder anderer Dienst',
    es: 'SMS u otro servicio',
    he: 'מסרון או שירות אחר',
  },
  note: {
    en: 'Placeholders: {title}, {message}, {to}, {secret}, {id}.',
    ru: 'Подстановки: {title}, {message}, {to}, {secret}, {id}.',
    de: 'Platzhalter: {title}, {message}, {to}, {secret}, {id}.',
    es: 'Marcadores: {title}, {message}, {to}, {secret}, {id}.',
    he: 'מצייני מקום: ‎{title}, {message}, {to}, {secret}, {id}.',
  },
  settings: {
    method: {
      type: 'choice',
      values: METHODS,
      default: 'POST',
      label: {
        en: 'Method',
        ru: 'Метод',
        de: 'Methode',
        es: 'Método',
        he: 'שיטה',
      },
    },
    url: {
      type: 'text',
      maxChars: 2048,
      doc: `May contain placeholders after the host: ${PLACEHOLDERS.map((each) => `\`${each}\``).join(', ')}.`,
      label: everywhere('URL'),
      placeholder: 'https://',
    },
    headers: {
      type: 'headers',
      maxHeaders: 20,
      label: {
        en: 'Headers, one in a line (Name: value)',
        ru: 'Заголовки, по одному в строке (Имя: значение)',
        de: 'Header, einer je Zeile (Name: Wert)',
        es: 'Cabeceras, una por línea (Nombre: valor)',
        he: 'כותרות, אחת בשורה (שם: ערך)',
      },
    },
    contentType: {
      type: 'choice',
      values: CONTENT_TYPES,
      default: 'application/json',
      doc: 'Media type of the body. The values of placeholders are escaped for it.',
      label: {
        en: 'Format of the body',
        ru: 'Формат тела',
        de: 'Format des Inhalts',
        es: 'Formato del cuerpo',
        he: 'תבנית הגוף',
      },
      onlyWith: WITH_BODY,
    },
    body: {
      type: 'text',
      maxChars: 10_000,
      default: '',
      suggested: '{"to":"{to}","text":"{title}"}',
      isLong: true,
      doc: 'Body of the request. May contain placeholders. Not sent with GET.',
      label: {
        en: 'Body',
        ru: 'Тело',
        de: 'Inhalt',
        es: 'Cuerpo',
        he: 'גוף',
      },
      onlyWith: WITH_BODY,
    },
    to: {
      type: 'text',
      maxChars: 200,
      default: '',
      doc: 'Recipient, such as a phone number.',
      label: {
        en: 'To',
        ru: 'Кому',
        de: 'An',
        es: 'Para',
        he: 'אל',
      },
      hint: {
        en: 'Such as the number of a phone.',
        ru: 'Например, номер телефона.',
        de: 'Etwa eine Telefonnummer.',
        es: 'Como un número de teléfono.',
        he: 'כגון מספר טלפון.',
      },
    },
  },
  target: 'to',
  secret: {
    isRequired: false,
    label: {
      en: 'Secret',
      ru: 'Секрет',
      de: 'Geheimnis',
      es: 'Secreto',
      he: 'סוד',
    },
    hint: {
      en: 'Such as an API key: {secret} in the URL, a header or the body. It is stored encrypted and never shown.',
      ru: 'Например, ключ API: {secret} в URL, заголовке или теле. Он хранится зашифрованным и не показывается.',
      de: 'Etwa ein API-Schlüssel: {secret} in URL, Header oder Inhalt. Es wird verschlüsselt gespeichert und nie angezeigt.',
      es: 'Como una clave de API: {secret} en la URL, una cabecera o el cuerpo. Se guarda cifrado y no se muestra nunca.',
      he: 'כגון מפתח API: ‎{secret} בכתובת, בכותרת או בגוף. הוא נשמר חתום ולעולם אינו מוצג.',
    },
    fault: () => null,
  },
  needsConfirmation: false,
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
    if (/^[^/]*\/\/[^/?#]*[{}]/.test(url))
      return { pointer: '/url', detail: 'Placeholders are allowed only after the host.' };
    const wrongUrl = checkWebhookUrl(filledUrl(url, SAMPLE), { allowPrivateAddresses });
    if (wrongUrl !== null) return { pointer: '/url', detail: wrongUrl };
    return headerFault(headers) ?? (contentType === 'application/json' ? jsonFault(body) : null);
  },
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
});

const SAMPLE = { id: 'x', title: 'x', message: 'x', to: 'x', secret: 'x' };

function filledUrl(url: string, values: Readonly<Record<string, string>>): string {
  return fillTemplate(url, values, encodeURIComponent);
}

/** Makes a value valid for a header: one line of printable ASCII. */
function headerValue(value: string): string {
  return value.replace(/[^\x20-\x7e]+/g, ' ').trim();
}

function headerFault(headers: HttpSettings['headers']): ChannelFault | null {
  for (const [nth, { name, value }] of headers.entries()) {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(name))
      return { pointer: `/headers/${nth}/name`, detail: 'It is not a valid header name.' };
    if (CONNECTION_HEADERS.test(name))
      return { pointer: `/headers/${nth}/name`, detail: 'This header is set by the connection itself.' };
    if (/[^\x20-\x7e]/.test(value))
      return { pointer: `/headers/${nth}/value`, detail: 'It must contain only printable ASCII characters.' };
  }
  return null;
}

function jsonFault(body: string): ChannelFault | null {
  if (body === '') return null;
  try {
    JSON.parse(fillTemplate(body, SAMPLE));
    return null;
  } catch {
    return { pointer: '/body', detail: 'It is not valid JSON.' };
  }
}

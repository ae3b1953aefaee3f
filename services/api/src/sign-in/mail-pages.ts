import { addressIdOf, escapeHtml, isMailLinkValid, type MailLinkPurpose, mailLinkToken } from '@outrider/channels';
import type { MailAddress, Registry } from '@outrider/registry';
import { type Language, languageOf } from '@outrider/words';
import { type MessageWords, messagesIn } from '@outrider/words/messages';
import { type Context, Hono } from 'hono';
import type { ApiEnv } from '../context.ts';

export interface MailPagesParts {
  registry: Pick<Registry, 'mailAddresses'>;
  /** Unix milliseconds. */
  now(): number;
}

/** Time for which people can undo an unsubscription on that page. */
const RECONSIDER_MS = 3_600_000;

const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

interface PageText {
  title: string;
  about: string;
  form?: { action: string; button: string };
}

type PageWords = MessageWords['addressPages'];

/**
 * Pages that links in e-mails open. A GET changes nothing, because mail programs and scanners follow links. It shows a
 * button, whose POST makes the change. The POST of `unsubscribe` also implements RFC 8058. The link alone authorizes:
 * its token is signed for one address and one purpose, and expires. A page is in the language of the e-mail, which the
 * link names.
 */
export function mailPages({ registry, now }: MailPagesParts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  async function addressFor(c: Context<ApiEnv>, purpose: MailLinkPurpose): Promise<MailAddress | null> {
    const token = c.req.query('token') ?? '';
    const id = addressIdOf(token);
    const address = id === null ? null : await registry.mailAddresses.get(id);
    return address !== null && isMailLinkValid(token, address, purpose, now()) ? address : null;
  }

  /** The page with a button that confirms the purpose of the link. */
  function question(c: Context<ApiEnv>, purpose: MailLinkPurpose, { address }: MailAddress): Response {
    const { title, about, button } = wordsOf(c)[purpose];
    return page(c, 200, { title, about: about(address), form: { action: formAction(purpose, c), button } });
  }

  app.get('/email/confirm', async (c) => {
    const address = await addressFor(c, 'confirm');
    return address === null ? page(c, 410, wordsOf(c).expired) : question(c, 'confirm', address);
  });
  app.post('/email/confirm', async (c) => {
    const address = await addressFor(c, 'confirm');
    const { confirmed, expired } = wordsOf(c);
    if (address === null || !(await registry.mailAddresses.change(address, 'confirmed'))) return page(c, 410, expired);
    return page(c, 200, { title: confirmed.title, about: confirmed.about(address.address) });
  });
  app.get('/email/unsubscribe', async (c) => {
    const address = await addressFor(c, 'unsubscribe');
    if (address === null) return page(c, 410, wordsOf(c).expired);
    return address.state === 'unsubscribed' ? unsubscribed(c, address) : question(c, 'unsubscribe', address);
  });
  app.post('/email/unsubscribe', async (c) => {
    const address = await addressFor(c, 'unsubscribe');
    if (address === null) return page(c, 410, wordsOf(c).expired);
    if (address.state === 'unsubscribed') return unsubscribed(c, address);
    // If the state changed in between, the mail program or the person tries again.
    if (!(await registry.mailAddresses.change(address, 'unsubscribed'))) return page(c, 409, wordsOf(c).changed);
    return unsubscribed(c, { ...address, generation: address.generation + 1 });
  });

  function unsubscribed(c: Context<ApiEnv>, address: MailAddress): Response {
    const token = mailLinkToken(address, 'confirm', now() + RECONSIDER_MS);
    const { title, about, button } = wordsOf(c).unsubscribed;
    const action = `/email/confirm?token=${token}&language=${pageLanguage(c)}`;
    return page(c, 200, { title, about: about(address.address), form: { action, button } });
  }

  return app;
}

function pageLanguage(c: Context<ApiEnv>): Language {
  return languageOf(c.req.query('language'));
}

function wordsOf(c: Context<ApiEnv>): PageWords {
  return messagesIn(pageLanguage(c)).words.addressPages;
}

function formAction(purpose: MailLinkPurpose, c: Context<ApiEnv>): string {
  return `/email/${purpose}?token=${encodeURIComponent(c.req.query('token') ?? '')}&language=${pageLanguage(c)}`;
}

function page(c: Context<ApiEnv>, status: 200 | 409 | 410, { title, about, form }: PageText): Response {
  const language = pageLanguage(c);
  const button =
    form === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(form.action)}"><button>${escapeHtml(form.button)}</button></form>`;
  const html = `<!doctype html>
<html lang="${language}" dir="${messagesIn(language).direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(about)}</p>${button}</body></html>
`;
  return c.body(html, status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
  });
}

import { addressIdOf, escapeHtml, isMailLinkValid, type MailLinkPurpose, mailLinkToken } from '@outrider/channels';
import type { MailAddress, Registry } from '@outrider/registry';
import { type Context, Hono } from 'hono';
import type { ApiEnv } from './context.ts';

export interface MailPagesParts {
  registry: Pick<Registry, 'mailAddresses'>;
  /** Unix milliseconds. */
  now(): number;
}

/** How long somebody who has just unsubscribed may think better of it on that page. */
const RECONSIDER_MS = 3_600_000;

const POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

interface PageText {
  title: string;
  about: string;
  form?: { action: string; button: string };
}

/**
 * Where links in e-mails lead. A GET changes nothing, as mail programs and scanners follow links: it shows a button,
 * whose POST does it. The POST of `unsubscribe` is that of RFC 8058 as well. A link is all that is needed: its token is
 * signed for one address and one purpose, and expires.
 */
export function mailPages({ registry, now }: MailPagesParts): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>();

  async function addressFor(c: Context<ApiEnv>, purpose: MailLinkPurpose): Promise<MailAddress | null> {
    const token = c.req.query('token') ?? '';
    const id = addressIdOf(token);
    const address = id === null ? null : await registry.mailAddresses.get(id);
    return address !== null && isMailLinkValid(token, address, purpose, now()) ? address : null;
  }

  app.get('/email/confirm', async (c) => {
    const address = await addressFor(c, 'confirm');
    if (address === null) return page(c, 410, EXPIRED);
    return page(c, 200, {
      title: 'Confirm your e-mail address',
      about: `Shall ${address.address} get notifications and reports about vehicles from this fleet service?`,
      form: { action: formAction('confirm', c), button: 'Confirm' },
    });
  });
  app.post('/email/confirm', async (c) => {
    const address = await addressFor(c, 'confirm');
    if (address === null || !(await registry.mailAddresses.change(address, 'confirmed'))) return page(c, 410, EXPIRED);
    return page(c, 200, {
      title: 'Confirmed',
      about: `${address.address} gets e-mails from now on. Each of them has a link that ends them.`,
    });
  });
  app.get('/email/unsubscribe', async (c) => {
    const address = await addressFor(c, 'unsubscribe');
    if (address === null) return page(c, 410, EXPIRED);
    if (address.state === 'unsubscribed') return page(c, 200, unsubscribed(address));
    return page(c, 200, {
      title: 'Unsubscribe',
      about: `Shall ${address.address} get no more e-mails of this fleet?`,
      form: { action: formAction('unsubscribe', c), button: 'Unsubscribe' },
    });
  });
  app.post('/email/unsubscribe', async (c) => {
    const address = await addressFor(c, 'unsubscribe');
    if (address === null) return page(c, 410, EXPIRED);
    if (address.state === 'unsubscribed') return page(c, 200, unsubscribed(address));
    // Where it changed in between, the mail program or the person tries again.
    if (!(await registry.mailAddresses.change(address, 'unsubscribed'))) return page(c, 409, CHANGED);
    return page(c, 200, unsubscribed({ ...address, generation: address.generation + 1 }));
  });

  function unsubscribed(address: MailAddress): PageText {
    const token = mailLinkToken(address, 'confirm', now() + RECONSIDER_MS);
    return {
      title: 'Unsubscribed',
      about: `${address.address} gets no more e-mails of this fleet. Was that a mistake?`,
      form: { action: `/email/confirm?token=${token}`, button: 'Get e-mails again' },
    };
  }

  return app;
}

const EXPIRED: PageText = {
  title: 'This link does not work any more',
  about: 'It was used, has expired, or is not complete.',
};
const CHANGED: PageText = { title: 'Try again', about: 'The address was changed at the same moment.' };

function formAction(purpose: MailLinkPurpose, c: Context<ApiEnv>): string {
  return `/email/${purpose}?token=${encodeURIComponent(c.req.query('token') ?? '')}`;
}

function page(c: Context<ApiEnv>, status: 200 | 409 | 410, { title, about, form }: PageText): Response {
  const button =
    form === undefined
      ? ''
      : `<form method="post" action="${escapeHtml(form.action)}"><button>${escapeHtml(form.button)}</button></form>`;
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(about)}</p>${button}</body></html>
`;
  return c.body(html, status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
  });
}

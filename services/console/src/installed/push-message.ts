/** A push message as it is shown. */
export interface PushMessage {
  title: string;
  options: NotificationOptions;
}

/** What the service sent; whatever else it may be is shown as a message without words of its own. */
export function readPush(data: { json(): unknown } | null): PushMessage {
  let sent: Record<string, unknown> = {};
  try {
    sent = (data?.json() ?? {}) as Record<string, unknown>;
  } catch {
    // Browsers demand that something is shown.
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    title: text(sent.title) || 'Outrider',
    options: {
      body: text(sent.body),
      lang: text(sent.lang),
      dir: sent.dir === 'rtl' || sent.dir === 'ltr' ? sent.dir : 'auto',
      icon: '/icons/192.png',
      data: { path: pathOf(sent) },
      // The same message again takes the place of itself.
      ...(text(sent.id) === '' ? {} : { tag: text(sent.id) }),
    },
  };
}

/** A view of this console: never another site. */
export function pathOf(data: unknown): string {
  const path = (data as { path?: unknown } | null)?.path;
  return typeof path === 'string' && /^\/(?![/\\])/.test(path) ? path : '/notifications';
}

/** A push message in the form in which it is shown. */
export interface PushMessage {
  title: string;
  options: NotificationOptions;
}

/** Parses the push data of the service. Any other data becomes a message without texts. */
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
      // A repeated message replaces its predecessor.
      ...(text(sent.id) === '' ? {} : { tag: text(sent.id) }),
    },
  };
}

/** A path within this console, never another site. */
export function pathOf(data: unknown): string {
  const path = (data as { path?: unknown } | null)?.path;
  return typeof path === 'string' && /^\/(?![/\\])/.test(path) ? path : '/notifications';
}

/** Values for the placeholders of a recording's URL template. */
export interface StreamFragment {
  channel: number;
  quality: 'main' | 'sub';
  startMs: number;
  endMs: number;
  /** IANA name of the time zone in which `local` times are written. */
  timeZone: string;
}

const MAX_TEMPLATE_CHARACTERS = 2048;
const PLACEHOLDER = /\{(\w+)(?::(\w+))?\}/g;
const SCHEMES: ReadonlySet<string> = new Set(['rtsp:', 'rtsps:', 'http:', 'https:']);

type Writer = (fragment: StreamFragment) => string;
/** Formats of times, which differ between recorders. */
const TIMES: Readonly<Record<string, (timeMs: number, timeZone: string) => string>> = {
  // The format that most recorders accept in the query of an RTSP URL.
  basic: (timeMs) => `${isoSeconds(timeMs).replaceAll(/[-:]/g, '')}Z`,
  iso: (timeMs) => `${isoSeconds(timeMs)}Z`,
  unix: (timeMs) => String(Math.floor(timeMs / 1000)),
  local: (timeMs, timeZone) => localTime(timeMs, timeZone),
};
const VALUES: Readonly<Record<string, Writer>> = {
  channel: ({ channel }) => String(channel),
  quality: ({ quality }) => quality,
  // Many recorders number their streams: the main one is 1.
  stream: ({ quality }) => (quality === 'main' ? '1' : '2'),
  seconds: ({ startMs, endMs }) => String(Math.ceil((endMs - startMs) / 1000)),
};

/**
 * Why `template` can't be the address of recordings, as a sentence for its author; null when it can. It must be an RTSP
 * or HTTP URL with `{start}` and, where the recorder needs them, `{end}`, `{seconds}`, `{channel}`, `{stream}`,
 * `{quality}`. Times are `20260115T120000Z`, or `{start:iso}`, `{start:unix}`, `{start:local}`.
 */
export function checkStreamAddress(template: string): string | null {
  if (template.length > MAX_TEMPLATE_CHARACTERS) return `The URL is longer than ${MAX_TEMPLATE_CHARACTERS} characters.`;
  if (/[\p{Cc}\s\\#]/u.test(template)) return 'The URL contains white space, control characters, backslashes or #.';
  let hasStart = false;
  for (const [text, name = '', form] of template.matchAll(PLACEHOLDER)) {
    const isTime = name === 'start' || name === 'end';
    const isKnown = isTime ? form === undefined || form in TIMES : form === undefined && name in VALUES;
    if (!isKnown) return `${text} means nothing.`;
    hasStart ||= name === 'start';
  }
  if (/[{}]/.test(template.replaceAll(PLACEHOLDER, ''))) return 'The URL has an unmatched brace.';
  if (!hasStart) return 'The URL must contain {start}.';
  const [authority = ''] = /^[a-z]+:\/\/[^/?]*/i.exec(template) ?? [];
  if (authority.includes('{')) return 'The host of the URL must not depend on the fragment.';
  const filled = fillStreamAddress(template, SAMPLE);
  if (!/^[a-z]+:\/\/[^/]/i.test(filled) || !URL.canParse(filled)) return 'This is not an absolute URL.';
  if (!SCHEMES.has(new URL(filled).protocol)) return 'The URL must begin with rtsp://, rtsps://, http:// or https://.';
  return null;
}

const SAMPLE: StreamFragment = { channel: 1, quality: 'main', startMs: 0, endMs: 1000, timeZone: 'Etc/UTC' };

/** The URL of one fragment. No inserted value can change the meaning of the rest of the URL. */
export function fillStreamAddress(template: string, fragment: StreamFragment): string {
  return template.replaceAll(PLACEHOLDER, (text, name: string, form = 'basic') => {
    const write = VALUES[name];
    if (write) return write(fragment);
    const time = TIMES[form];
    return time ? time(name === 'start' ? fragment.startMs : fragment.endMs, fragment.timeZone) : text;
  });
}

function isoSeconds(timeMs: number): string {
  return new Date(Math.floor(timeMs / 1000) * 1000).toISOString().slice(0, 19);
}

/** `20260115T120000`, in local time of the zone. */
function localTime(timeMs: number, timeZone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(Math.floor(timeMs / 1000) * 1000).toZonedDateTimeISO(timeZone);
  return local.toPlainDateTime().toString({ smallestUnit: 'second' }).replaceAll(/[-:]/g, '');
}

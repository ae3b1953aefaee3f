import { LiveConnection, type LiveMessage } from '@outrider/client';
import { type CliCommand, CommandError, type Invocation } from '../command.ts';

type Event = Extract<LiveMessage, { type: 'event' }>;

export const eventCommands: CliCommand[] = [
  {
    name: 'events tail',
    summary: 'show events as they happen, until Ctrl-C; reconnects if the connection is lost',
    options: {
      since: { value: 'CURSOR', summary: 'first what came since then: the last column of a line, or `cursor`' },
      vehicle: { value: 'ID', summary: 'only of this vehicle', isList: true },
    },
    run: tail,
  },
];

async function tail(invocation: Invocation): Promise<void> {
  const { options, session, terminal } = invocation;
  await invocation.client();
  let since = typeof options.since === 'string' ? options.since : null;
  // A token expires before the login does.
  for (let hasOpened = true; !terminal.signal.aborted; ) {
    if (!hasOpened) throw new CommandError('the service does not take the key or the login');
    const ended = await follow(invocation, since);
    since = ended.cursor;
    hasOpened = ended.hasOpened;
    if (!terminal.signal.aborted && session.apiKey === null) await session.renew();
  }
}

/** Resolves when the token is no longer accepted or Ctrl-C is pressed. */
function follow(
  { options, isJson, session, terminal }: Invocation,
  since: string | null,
): Promise<{ cursor: string | null; hasOpened: boolean }> {
  const { vehicle: vehicles } = options;
  const { apiKey } = session;
  return new Promise((resolve) => {
    let hasOpened = false;
    const connection = new LiveConnection({
      url: `${session.url.replace(/^http/, 'ws')}/live`,
      subscription: { events: true, ...(Array.isArray(vehicles) ? { vehicles: vehicles as readonly string[] } : {}) },
      token: () => session.token,
      ...(apiKey === null ? {} : { apiKey }),
      ...(since === null ? {} : { since }),
      onMessage(message) {
        if (message.type === 'event') terminal.print(isJson ? JSON.stringify(message) : lineOf(message));
        else if (message.type === 'gap' || message.type === 'error') terminal.note(message.detail);
      },
      onStatus(status) {
        if (status === 'open') hasOpened = true;
        if (status === 'open' || status === 'waiting')
          terminal.note(status === 'open' ? 'connected' : 'not connected: trying again');
        if (status === 'unauthorized' || status === 'closed') {
          terminal.signal.removeEventListener('abort', close);
          resolve({ cursor: connection.cursor, hasOpened });
        }
      },
    });
    const close = () => connection.close();
    terminal.signal.addEventListener('abort', close, { once: true });
    if (terminal.signal.aborted) close();
  });
}

export function lineOf({
  fixTime,
  kind,
  phase,
  vehicleId,
  cursor,
}: Pick<Event, 'fixTime' | 'kind' | 'phase' | 'vehicleId' | 'cursor'>): string {
  return [fixTime, kind.padEnd(16), phase.padEnd(5), vehicleId, cursor].join('  ');
}

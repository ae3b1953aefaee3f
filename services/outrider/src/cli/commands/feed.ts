import { ApiError } from '@outrider/client';
import { type CliCommand, type Invocation, UsageError } from '../command.ts';

const FEEDS = ['events', 'positions'] as const;

export const feedCommands: CliCommand[] = [
  {
    name: 'feed',
    summary: 'print every record of a feed (events or positions) as a line of JSON, until Ctrl-C; nothing is missed',
    operands: ['FEED'],
    options: {
      cursor: { value: 'CURSOR', summary: 'go on behind this record' },
      from: { value: 'TIME', summary: 'where to begin without a cursor: latest (default), earliest, or a time' },
    },
    run: follow,
  },
];

async function follow({ operands, options, session, client, terminal }: Invocation): Promise<void> {
  const feed = FEEDS.find((name) => name === operands.FEED);
  if (feed === undefined) throw new UsageError(`FEED is one of ${FEEDS.join(', ')}`);
  const { signal } = terminal;
  let cursor = typeof options.cursor === 'string' ? options.cursor : null;
  const from = typeof options.from === 'string' ? { from: options.from } : {};
  let isRenewed = false;
  while (!signal.aborted)
    try {
      for await (const record of (await client()).feed(feed, { cursor, signal, ...from })) {
        terminal.print(JSON.stringify(record));
        cursor = record.cursor;
        isRenewed = false;
      }
    } catch (error) {
      // A token expires before the login does.
      if (!(error instanceof ApiError) || error.status !== 401 || session.apiKey !== null || isRenewed) throw error;
      await session.renew();
      isRenewed = true;
    }
}

import { CHANNEL_DESCRIPTIONS } from '@outrider/channels';

export const CHANNEL_KINDS_FILE = new URL('../src/channel-kinds.ts', import.meta.url);

/** Generates a module with the kinds of message channels, their texts and the fields of their forms. */
export function channelKinds(): string {
  const kinds = CHANNEL_DESCRIPTIONS.map(([kind, { name, add, note, target, settings, secret }]) => {
    const fields = add === null ? {} : settings;
    const { doc: _, fault: __, ...shown } = secret;
    return [kind, { name, add, note, target, fields: withoutDocs(fields), secret: shown }];
  });
  return `// Generated from the descriptions of channels by \`npm run openapi\`. Do not edit.
import type { ChannelKindForm } from './pages/me/channel-kind.ts';

export const CHANNEL_KINDS = ${JSON.stringify(Object.fromEntries(kinds), null, 2)} as const satisfies Record<string, ChannelKindForm>;
`;
}

const withoutDocs = (fields: object) =>
  Object.fromEntries(Object.entries(fields).map(([name, { doc: _, ...field }]) => [name, field]));

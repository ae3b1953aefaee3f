import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS_FILE, channelKinds } from './channel-kinds.ts';

test('the console has the kinds of channels as they are described: npm run openapi', () => {
  expect(readFileSync(CHANNEL_KINDS_FILE, 'utf8')).toBe(channelKinds());
});

import { expect, test } from 'vitest';
import { readDevicePage } from './device-page.ts';

const PAGE = `# GT06

Many devices. Port \`5023\`.

## Point the terminal here

By SMS:

1. \`SERVER,1,<name>,5023,0#\` for a name, or
   \`SERVER,0,<address>,5023,0#\`
2. **Save** it, see [GPS103](gps103.md)

- one \`*old*\` [not a link]

| you see | cause |
|---|---|
| the IMEI under **Terminals** | no vehicle has it |
`;

const plain = (text: string) => ({ text, style: 'plain' as const });
const code = (text: string) => ({ text, style: 'code' as const });
const strong = (text: string) => ({ text, style: 'strong' as const });

test('a page becomes blocks, with the address and port of this service', () => {
  expect(readDevicePage(PAGE, { host: 'gps.example.com', port: 6023 })).toEqual([
    { type: 'text', pieces: [plain('Many devices. Port '), code('6023'), plain('.')] },
    { type: 'heading', text: 'Point the terminal here' },
    { type: 'text', pieces: [plain('By SMS:')] },
    {
      type: 'list',
      isOrdered: true,
      items: [
        [code('SERVER,1,gps.example.com,6023,0#'), plain(' for a name, or '), code('SERVER,0,gps.example.com,6023,0#')],
        [strong('Save'), plain(' it, see '), plain('GPS103')],
      ],
    },
    { type: 'list', isOrdered: false, items: [[plain('one '), code('*old*'), plain(' [not a link]')]] },
    {
      type: 'table',
      head: [[plain('you see')], [plain('cause')]],
      rows: [[[plain('the IMEI under '), strong('Terminals')], [plain('no vehicle has it')]]],
    },
  ]);
});

test('without a port of its own the page keeps that of the protocol', () => {
  const [first] = readDevicePage(PAGE, { host: 'a', port: null });
  expect(first).toEqual({ type: 'text', pieces: [plain('Many devices. Port '), code('5023'), plain('.')] });
});

test('every page of the documents is read without a rest', async () => {
  const pages = import.meta.glob('../../../../../docs/devices/*.md', {
    query: '?raw',
    import: 'default',
    eager: true,
  });
  expect(Object.keys(pages).length).toBeGreaterThan(10);
  for (const [path, markdown] of Object.entries(pages)) {
    const blocks = readDevicePage(markdown as string, { host: 'gps.example.com', port: null });
    const plainTexts = JSON.stringify(blocks).matchAll(/\{"text":"([^"]*)","style":"plain"\}/g);
    for (const [, text] of plainTexts) expect(text, path).not.toMatch(/[<>`]|\*\*|\]\(/);
    for (const block of blocks)
      if (block.type === 'table')
        for (const row of block.rows) expect(row.length, `${path}: ${JSON.stringify(row)}`).toBe(block.head.length);
  }
});

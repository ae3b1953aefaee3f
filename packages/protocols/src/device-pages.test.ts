import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { protocols } from './index.ts';

const FOLDER = new URL('../../../docs/devices/', import.meta.url);
const SECTIONS = ['Point the terminal here', 'Its id', 'When nothing arrives', 'What is decoded'];

const pageOf = (name: string) => readFileSync(new URL(`${name}.md`, FOLDER), 'utf8');

describe.each(protocols)('docs/devices/$name.md', ({ name, defaultPort, help }) => {
  test('has its sections, in their order', () => {
    const sections = [...pageOf(name).matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections.filter((title) => SECTIONS.includes(title ?? ''))).toEqual(SECTIONS);
  });

  test('begins with its port, and names the port of no other protocol', () => {
    const [, port] = /port `(\d+)`/i.exec(pageOf(name)) ?? [];
    expect(port).toBe(String(defaultPort));
    const others = protocols.filter((other) => other.name !== name).map((other) => String(other.defaultPort));
    const named = pageOf(name).match(/\b\d{4}\b/g) ?? [];
    expect(named.filter((number) => others.includes(number))).toEqual([]);
  });

  test('has every setting and command of the short help', () => {
    const spans = [...help.matchAll(/`([^`]+)`/g)].map(([, span]) => span ?? '');
    expect(spans.filter((span) => !pageOf(name).includes(span))).toEqual([]);
  });
});

test('the index has a row for each page and port', () => {
  const rows = [...pageOf('README').matchAll(/^\| .+ \| \[(.+)\.md\]\(\1\.md\) \| (\d+) \|$/gm)];
  expect(rows.map(([, name, port]) => `${name} ${port}`)).toEqual(
    protocols.map(({ name, defaultPort }) => `${name} ${defaultPort}`),
  );
});

test('no page is of a protocol that is not spoken', () => {
  const pages = readdirSync(FOLDER).map((file) => file.replace(/\.md$/, ''));
  const names: string[] = protocols.map(({ name }) => name);
  expect(pages.filter((page) => page !== 'README' && !names.includes(page))).toEqual([]);
});

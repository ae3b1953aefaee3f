import type { Language } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';

/** A message as a whole document, in the direction of its language. */
export function messageHtml(language: Language, title: string, body: readonly string[]): string {
  const { direction } = messagesIn(language);
  const lines = [
    '<!doctype html>',
    `<html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>`,
    // Mail programs take the body alone.
    `<body dir="${direction}" style="font-family:sans-serif">`,
    ...body,
    '</body></html>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Facts with their labels, as lines of a document; none for no facts. */
export function tableHtml(rows: readonly (readonly [label: string, value: string])[]): string[] {
  const cells = rows.map(
    ([label, value]) =>
      `<tr><th align="start" style="text-align:start;padding-inline-end:1em">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return cells.length === 0 ? [] : ['<table>', ...cells, '</table>'];
}

/** Text for a place between or inside tags, attributes in either kind of quotes included. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

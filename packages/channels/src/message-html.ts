import type { Language } from '@outrider/words';
import { messagesIn } from '@outrider/words/messages';

/** Renders a message as a complete document, in the direction of its language. */
export function messageHtml(language: Language, title: string, body: readonly string[]): string {
  const { direction } = messagesIn(language);
  const lines = [
    '<!doctype html>',
    `<html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>`,
    // Mail programs use only the body.
    `<body dir="${direction}" style="font-family:sans-serif">`,
    ...body,
    '</body></html>',
  ];
  return `${lines.join('\n')}\n`;
}

/** Renders labelled facts as a table; returns no lines for no facts. */
export function tableHtml(rows: readonly (readonly [label: string, value: string])[]): string[] {
  const cells = rows.map(
    ([label, value]) =>
      `<tr><th align="start" style="text-align:start;padding-inline-end:1em">${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return cells.length === 0 ? [] : ['<table>', ...cells, '</table>'];
}

/** Escapes text for use between or inside tags, including attributes in either kind of quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

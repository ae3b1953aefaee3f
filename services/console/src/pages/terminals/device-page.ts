/** A piece of a line: text, code, or emphasised text. */
export interface Piece {
  text: string;
  style: 'plain' | 'code' | 'strong';
}

/** A block of a page, between blank lines. */
export type Block =
  | { type: 'heading'; text: string }
  | { type: 'text'; pieces: Piece[] }
  | { type: 'list'; isOrdered: boolean; items: Piece[][] }
  | { type: 'table'; head: Piece[][]; rows: Piece[][][] };

/** Values that replace the examples in a page. */
export interface Place {
  host: string;
  /** Null: the port that the page names. */
  port: number | null;
}

/**
 * Parses a page of `docs/devices`, which has headings, paragraphs, lists of one level and tables, and inserts the
 * address and the port of this service. Its title is omitted.
 */
export function readDevicePage(markdown: string, { host, port }: Place): Block[] {
  const [, usual = ''] = /port `(\d+)`/i.exec(markdown) ?? [];
  const filled = markdown
    .replaceAll(/<(?:address|name)>/g, host)
    .replaceAll(port === null || usual === '' ? /$^/g : new RegExp(`\\b${usual}\\b`, 'g'), String(port));
  return filled
    .split(/\n\s*\n/)
    .flatMap((part) => readPart(part.trim()))
    .filter((block) => block !== null);
}

function readPart(part: string): (Block | null)[] {
  if (part === '' || part.startsWith('# ')) return [];
  if (part.startsWith('## ')) return [{ type: 'heading', text: part.slice(3) }];
  const lines = part.split('\n');
  if (part.startsWith('|')) {
    const [head = [], , ...rows] = lines.map((line) => line.slice(1, -1).split('|').map(piecesOf));
    return [{ type: 'table', head, rows }];
  }
  const bullet = /^(?:\d+\.|-) +/;
  if (!bullet.test(part)) return [{ type: 'text', pieces: piecesOf(lines.join(' ')) }];
  const items: string[] = [];
  for (const line of lines)
    if (bullet.test(line)) items.push(line.replace(bullet, ''));
    else items.push(`${items.pop()} ${line.trim()}`);
  return [{ type: 'list', isOrdered: /^\d/.test(part), items: items.map(piecesOf) }];
}

/** Splits a line: code between backticks, bold between two stars, and the text of links. */
function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  for (const [, code, strong, link, plain] of line
    .trim()
    .matchAll(/`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\([^)]+\)|((?:[^`*[]|\*(?!\*)|\[(?![^\]]+\]\())+)/g)) {
    if (code !== undefined) pieces.push({ text: code, style: 'code' });
    else if (strong !== undefined) pieces.push({ text: strong, style: 'strong' });
    else pieces.push({ text: link ?? plain ?? '', style: 'plain' });
  }
  return pieces;
}

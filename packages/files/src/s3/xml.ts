const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The inside of each element of a name, for the flat answers of S3: none of their elements holds one of its own name. */
export function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  const [opening, closing] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(opening); at !== -1; at = xml.indexOf(opening, at)) {
    const end = xml.indexOf(closing, at);
    if (end === -1) break;
    found.push(xml.slice(at + opening.length, end));
    at = end + closing.length;
  }
  return found;
}

/** The text of the first element of a name; empty where there is none. */
export function textOf(xml: string, name: string): string {
  return (elements(xml, name)[0] ?? '').replaceAll(/&(#x?[0-9a-f]+|\w+);/gi, (entity, inside: string) => {
    if (!inside.startsWith('#')) return NAMED[inside] ?? entity;
    const code = inside.slice(1).toLowerCase();
    return String.fromCodePoint(Number.parseInt(code.replace('x', ''), code.startsWith('x') ? 16 : 10));
  });
}

import { SaxesParser } from 'saxes';
import { FileError } from './feature.ts';

/** An element of a document, without the prefix of its namespace. */
export interface XmlNode {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: XmlNode[];
  /** What stands between its tags, without that of its children. */
  text: string;
}

const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;

/**
 * Reads a document. Entities are those of XML alone: what a DOCTYPE declares is not looked at, so nothing expands and
 * nothing is fetched.
 *
 * @throws {FileError} when it is no XML, or is deeper or larger than any map
 */
export function readXml(text: string): XmlNode {
  const parser = new SaxesParser();
  const root: XmlNode = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let nodes = 0;
  parser.on('error', (error) => {
    throw new FileError(`It is no XML: ${error.message.slice(0, 200)}`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > MAX_DEPTH) throw new FileError(`It has elements in more than ${MAX_DEPTH} others.`);
    if (++nodes > MAX_NODES) throw new FileError(`It has more than ${MAX_NODES} elements.`);
    const node: XmlNode = { name: name.slice(name.indexOf(':') + 1), attributes, children: [], text: '' };
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  parser.on('closetag', () => {
    open.pop();
  });
  const add = (part: string) => {
    const node = open.at(-1);
    if (node !== undefined) node.text += part;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(text).close();
  const [document] = root.children;
  if (document === undefined) throw new FileError('It is no XML: there is no element.');
  return document;
}

export function childOf(node: XmlNode, name: string): XmlNode | undefined {
  return node.children.find((child) => child.name === name);
}

/** Text of the first child of this name; null where it says nothing. */
export function textOf(node: XmlNode, name: string): string | null {
  return childOf(node, name)?.text.trim() || null;
}

/** All elements of some names within another, in their order. */
export function* allIn(node: XmlNode, names: ReadonlySet<string>): Generator<XmlNode> {
  for (const child of node.children) {
    if (names.has(child.name)) yield child;
    else yield* allIn(child, names);
  }
}

import { SaxesParser } from 'saxes';
import { FileError } from './feature.ts';

/** An XML element, without the prefix of its namespace. */
export interface XmlNode {
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: XmlNode[];
  /** Text directly in the element, without that of its children. */
  text: string;
}

const MAX_DEPTH = 64;
const MAX_NODES = 1_000_000;

/**
 * Parses a document. Only the predefined XML entities are known. Declarations of a DOCTYPE are ignored, so that nothing
 * expands and nothing is fetched.
 *
 * @throws {FileError} when the text is not XML, or exceeds the limits on depth and size
 */
export function readXml(text: string): XmlNode {
  const parser = new SaxesParser();
  const root: XmlNode = { name: '', attributes: {}, children: [], text: '' };
  const open = [root];
  let nodes = 0;
  parser.on('error', (error) => {
    throw new FileError(`It is not XML: ${error.message.slice(0, 200)}`);
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (open.length > MAX_DEPTH) throw new FileError(`It nests elements more than ${MAX_DEPTH} deep.`);
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
  if (document === undefined) throw new FileError('It is not XML: it has no element.');
  return document;
}

export function childOf(node: XmlNode, name: string): XmlNode | undefined {
  return node.children.find((child) => child.name === name);
}

/** Text of the first child of this name; null where it is missing or empty. */
export function textOf(node: XmlNode, name: string): string | null {
  return childOf(node, name)?.text.trim() || null;
}

/** All descendants with one of the names, in document order. */
export function* allIn(node: XmlNode, names: ReadonlySet<string>): Generator<XmlNode> {
  for (const child of node.children) {
    if (names.has(child.name)) yield child;
    else yield* allIn(child, names);
  }
}

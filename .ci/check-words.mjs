// Reports words of `words.json` in names and comments, and comment and Markdown lines of more than 120 characters.
//
// npm run words                    all files
// npm run words -- packages/geo    files under a path
//
// Names are identifiers (split at capitals and underscores) and file names. Strings, templates and regular expressions
// are data and are not checked; neither is code in Markdown. Tables and targets of links may be longer than a line.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const WIDTH = 120;
const root = new URL('..', import.meta.url);
const list = JSON.parse(readFileSync(new URL('words.json', import.meta.url), 'utf8'));
const words = list.words.map(({ pattern, use, in: places = ['names', 'comments'] }) => ({
  pattern,
  use,
  places,
  regexp: new RegExp(`(?<![\\p{L}\\d_])(?:${pattern})(?![\\p{L}\\d_])`, 'giu'),
}));
for (const { words: excepted } of list.exceptions)
  for (const pattern of excepted)
    if (!words.some((word) => word.pattern === pattern)) throw new Error(`words.json: no word has pattern ${pattern}`);

const KINDS = [
  [/\.(ts|mts|tsx|js|mjs|cjs)$/, scanCode],
  [/\.md$/, scanMarkdown],
  [/\.css$/, scanCode],
  [/\.(ya?ml|sh)$|(^|\/)Dockerfile$|^\.ci\/(run|verify|nightly)$/, scanScript],
  [/\.avsc$/, scanSchema],
];

const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...process.argv.slice(2)];
const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const counts = new Map();
let problems = 0;

for (const path of new Set(files)) {
  const scan = KINDS.find(([name]) => name.test(path))?.[1];
  if (!scan || list.ignored.some((each) => new RegExp(each.path).test(path))) continue;
  let text;
  try {
    text = readFileSync(new URL(path, root), 'utf8');
  } catch {
    continue; // Deleted, and not committed yet.
  }
  const excepted = new Set(list.exceptions.flatMap((each) => (new RegExp(each.path).test(path) ? each.words : [])));
  const active = words.filter(({ pattern }) => !excepted.has(pattern));
  check(path, active, [{ place: 'names', line: 0, text: path }, ...scan(text)]);
}

function check(path, active, pieces) {
  for (const { place, line, text, width = 0 } of pieces) {
    if (width > WIDTH) report(path, line, 'long line', `${width} characters, ${WIDTH} at most`);
    const parts = place === 'names' ? splitName(text) : text;
    for (const { places, regexp, use, pattern } of active) {
      if (!places.includes(place)) continue;
      for (const [found] of parts.matchAll(regexp)) report(path, line, pattern, `${found} (${text.trim()}): ${use}`);
    }
  }
}

function report(path, line, what, detail) {
  console.log(`${path}${line === 0 ? '' : `:${line}`}: ${detail.length > 200 ? `${detail.slice(0, 200)}…` : detail}`);
  counts.set(what, (counts.get(what) ?? 0) + 1);
  problems++;
}

/** `FleetEvents` and `FLEET_EVENTS` as words. */
function splitName(name) {
  return name
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[_$]+/g, ' ');
}

/** Identifiers and comments of TypeScript and JavaScript. */
function scanCode(text) {
  const pieces = [];
  const lines = text.split('\n');
  // A `/` begins a regular expression where no value can have ended.
  const token =
    /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*")|(?<tick>`)|(?<name>[\p{L}_$][\p{L}\d_$]*)|(?<number>\d[\w.]*)|(?<slash>\/)|(?<brace>[{}])|(?<other>[^\s])|(?<newline>\n)/gu;
  const templates = []; // The depth of braces at which each open `${` ends.
  let depth = 0;
  let line = 1;
  let hasValue = false; // Whether the last token can end a value.
  const skipTemplate = () => {
    const rest = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(`|\$\{)/uy;
    rest.lastIndex = token.lastIndex;
    const match = rest.exec(text);
    if (match === null) return;
    line += match[0].split('\n').length - 1;
    token.lastIndex = rest.lastIndex;
    if (match[1] === '${') templates.push(depth);
    hasValue = match[1] === '`';
  };
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const { comment, string, tick, name, number, slash, brace, newline } = match.groups;
    if (newline !== undefined) line++;
    else if (comment !== undefined) {
      for (const each of comment.split('\n')) {
        pieces.push({ place: 'comments', line, text: withoutCode(each), width: widthOf(lines[line - 1]) });
        line++;
      }
      line--;
    } else if (tick !== undefined) skipTemplate();
    else if (slash !== undefined && !hasValue) {
      const regexp = /(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy;
      regexp.lastIndex = token.lastIndex;
      if (regexp.exec(text) !== null) token.lastIndex = regexp.lastIndex;
      hasValue = true;
    } else if (brace === '{') {
      depth++;
      hasValue = false;
    } else if (brace === '}' && templates.at(-1) === depth) {
      templates.pop();
      skipTemplate();
    } else if (brace === '}') {
      depth--;
      hasValue = false;
    } else if (name !== undefined) {
      pieces.push({ place: 'names', line, text: name });
      hasValue = !/^(return|typeof|case|in|of|yield|await|throw|new|delete|void|else|do)$/.test(name);
    } else hasValue = string !== undefined || number !== undefined || /[)\]]/.test(match[0]);
  }
  return pieces;
}

function scanMarkdown(text) {
  let fence;
  return text.split('\n').flatMap((each, index) => {
    const mark = /^\s*(```+|~~~+)/.exec(each)?.[1];
    if (mark !== undefined) fence = fence === undefined ? mark : each.trim() === fence ? undefined : fence;
    if (mark !== undefined || fence !== undefined) return [];
    const width = /^\s*\|/.test(each) ? 0 : widthOf(each.replace(/\]\([^)]*\)/g, ']').replace(/^\[[^\]]*\]: .*/, ''));
    return [{ place: 'comments', line: index + 1, text: withoutCode(each.replace(/\]\([^)]*\)/g, ']')), width }];
  });
}

/** Lines that begin with `#`, and what stands behind one. */
function scanScript(text) {
  return text.split('\n').flatMap((each, index) => {
    const comment = /(?:^|\s)#(?!!)(.*)$/.exec(each)?.[1];
    if (comment === undefined) return [];
    return [{ place: 'comments', line: index + 1, text: withoutCode(comment), width: widthOf(each) }];
  });
}

/** The descriptions of an Avro schema. */
function scanSchema(text) {
  return text.split('\n').flatMap((each, index) => {
    const doc = /"doc":\s*"((?:\\.|[^"\\])*)"/.exec(each)?.[1];
    return doc === undefined ? [] : [{ place: 'comments', line: index + 1, text: withoutCode(doc) }];
  });
}

function withoutCode(text) {
  return text.replace(/`[^`]*`|<!--.*?-->/g, '``').replace(/https?:\S+/g, '');
}

/** The width of a line, without an address that can't be broken. */
function widthOf(line) {
  return [...line.replace(/https?:\S+/g, '')].length;
}

for (const [what, count] of [...counts].sort(([, a], [, b]) => b - a)) console.log(`${count}\t${what}`);
console.log(`${problems} problems in names, comments and Markdown`);
process.exitCode = problems === 0 ? 0 : 1;

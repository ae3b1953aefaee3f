// How large things are: lines of product code, and the classes, functions and folders that are larger than they may be,
// which fails: `npm run structure`; with `-- --all` every one of them.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseAst } from 'vite';

const MOST_CLASS_LINES = 300;
const MOST_FUNCTION_LINES = 120;
const MOST_FOLDER_FILES = 25;
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const SHOWN = process.argv.includes('--all') ? Infinity : 10;

const NOT_PRODUCT = /\.(test|fixture|conformance|bench|setup)\.tsx?$|\.d\.ts$|\/(test|tests|golden)\//;
/** Data in the form of code, and what is written by a program. */
const TABLES = /\/words\/|\/generated|packages\/client\/src\/(openapi|schema)|\/migrations\/|packages\/words\/src\//;

const files = execFileSync('git', ['ls-files', '-z', 'packages', 'services'], { encoding: 'utf8' })
  .split('\0')
  .filter((file) => /\.tsx?$/.test(file) && !NOT_PRODUCT.test(file));

const lines = new Map();
const classes = [];
const functions = [];
const folders = new Map();

for (const file of files) {
  const text = readFileSync(file, 'utf8');
  const part = file.split('/').slice(0, 2).join('/');
  lines.set(part, (lines.get(part) ?? 0) + text.split('\n').length - 1);
  // Migrations are looked up by their number, not by their subject.
  if (!file.includes('/migrations/')) folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
  if (TABLES.test(file)) continue;
  const lineOf = (position) => text.slice(0, position).split('\n').length;
  const sizeOf = ({ start, end }) => text.slice(start, end).split('\n').length;
  const visit = (node, name) => {
    const place = () => `${name ?? 'without a name'} ${file}:${lineOf(node.start)}`;
    if (node.type === 'ClassDeclaration' && sizeOf(node) > MOST_CLASS_LINES) classes.push([sizeOf(node), place()]);
    if (FUNCTIONS.has(node.type) && node.body && sizeOf(node) > MOST_FUNCTION_LINES)
      functions.push([sizeOf(node), place()]);
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === 'string') visit(child, child.id?.name ?? node.key?.name ?? node.id?.name ?? name);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), null);
}

const sum = (parts) => parts.reduce((total, [, count]) => total + count, 0);
const ofPeople = (part) => part === 'services/console' || part.startsWith('packages/client');
const all = [...lines];
console.log(
  `product code: ${sum(all)} lines, ${sum(all.filter(([part]) => !ofPeople(part)))} without console and clients`,
);
show(`classes over ${MOST_CLASS_LINES} lines`, classes);
show(`functions over ${MOST_FUNCTION_LINES} lines`, functions);
show(
  `folders over ${MOST_FOLDER_FILES} files`,
  [...folders].filter(([, count]) => count > MOST_FOLDER_FILES).map(([folder, count]) => [count, folder]),
);

function show(title, found) {
  if (found.length > 0) process.exitCode = 1;
  console.log(`\n${title}: ${found.length}`);
  for (const [size, what] of found.toSorted((a, b) => b[0] - a[0]).slice(0, SHOWN)) console.log(`  ${size} ${what}`);
}

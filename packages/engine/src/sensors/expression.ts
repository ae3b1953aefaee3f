import { type ASTNode, Environment, EvaluationError, ParseError, TypeError as TypeFault } from '@marcbachmann/cel-js';
import { type AttributeValue, MAX_SOURCE_CHARACTERS, type Position } from '@outrider/domain';

/** Evaluates an expression for a record; NaN where it has no value. */
export type Evaluate = (record: Position) => number;

/** An expression of one attribute or field that, apart from rounding, equals `value * factor + offset`. */
export interface Line {
  /** Name of the attribute; null: `field` is read. */
  attribute: string | null;
  field: Leaf | null;
  /** Whether states count as values: 1 or 0. */
  takesStates: boolean;
  factor: number;
  offset: number;
  /** Largest intermediate constant, scaled to the result: the reference for rounding errors. */
  magnitude: number;
}

/** A sensor's source in compiled form. */
export interface Expression {
  evaluate: Evaluate;
  /** Null where the expression is not linear in one attribute or field. */
  line: Line | null;
}

/** The text can't be the source of a sensor. */
export class ExpressionError extends Error {
  override name = 'ExpressionError';
  /** Index of the error in the text, from 0. */
  readonly at: number;

  constructor(reason: string, at: number) {
    super(reason);
    this.at = at;
  }
}

const MAX_NODES = 100;
const MAX_DEPTH = 12;
const MAX_LIST = 20;

/** Fields of a record that an expression may use; all other names are attributes. */
export const RECORD_NUMBERS = [
  'speedKmh',
  'courseDeg',
  'altitudeM',
  'satellites',
  'odometerM',
  'supplyV',
  'fuelL',
] as const satisfies readonly (keyof Position)[];
export const RECORD_STATES = ['ignition', 'valid'] as const satisfies readonly (keyof Position)[];
type RecordField = (typeof RECORD_NUMBERS)[number] | (typeof RECORD_STATES)[number];
const FIELDS: ReadonlySet<string> = new Set([...RECORD_NUMBERS, ...RECORD_STATES]);
const ATTRIBUTES = 'attributes';

/** Functions on numbers, here and in the closures of {@link compileExpression}. */
const FUNCTIONS = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  round: Math.round,
  bit: (value: number, index: number) => Math.floor(value / 2 ** index) % 2,
} as const satisfies Record<string, (...args: never[]) => number>;
type FunctionName = keyof typeof FUNCTIONS;
/** CEL's own functions and methods whose cost is that of their arguments. */
const CALLS: ReadonlySet<string> = new Set([...Object.keys(FUNCTIONS), 'has', 'double', 'int', 'string', 'size']);
const METHODS: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'size']);

const ARITHMETIC = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
} as const;
type ArithmeticOperator = keyof typeof ARITHMETIC;

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  limits: { maxAstNodes: MAX_NODES, maxDepth: MAX_DEPTH, maxListElements: MAX_LIST, maxMapEntries: 0 },
});
for (const [operator, handler] of Object.entries(ARITHMETIC)) {
  const ofNumbers = (a: number | bigint, b: number | bigint) => handler(Number(a), Number(b));
  environment.registerOperator(`double ${operator} int`, ofNumbers);
  environment.registerOperator(`int ${operator} double`, ofNumbers);
}
environment.registerOperator('double % double', ARITHMETIC['%']);
for (const name of ['abs', 'floor', 'ceil', 'round'] as const)
  environment.registerFunction(`${name}(double): double`, FUNCTIONS[name]);
for (const name of ['min', 'max', 'bit'] as const)
  environment.registerFunction(`${name}(double, double): double`, FUNCTIONS[name]);
for (const name of RECORD_NUMBERS) environment.registerVariable(name, 'double');
for (const name of RECORD_STATES) environment.registerVariable(name, 'bool');
environment.registerVariable(ATTRIBUTES, 'map');

/**
 * Compiles a CEL expression (Common Expression Language) over the fields and attributes of a record. All its numbers
 * are of type double: `5 / 2` is 2.5. It has no loops, so its cost is bounded by its length.
 *
 * A record has no value where it lacks something that the expression needs, or where the result is neither a number nor
 * a state; true is 1, false is 0.
 *
 * @throws {ExpressionError} where the source is no valid expression, or uses what sensors must not use
 */
export function compileExpression(source: string): Expression {
  if (source.length > MAX_SOURCE_CHARACTERS)
    throw new ExpressionError(`It must have at most ${MAX_SOURCE_CHARACTERS} characters.`, MAX_SOURCE_CHARACTERS);
  const given = parsed(source);
  refuseCostly(given);
  const text = withDoubles(source, given);
  const program = environment.parse(text);
  const check = program.check();
  if (!check.valid) throw faultOf(check.error, source, text);
  if (check.type !== undefined && !['double', 'int', 'bool', 'dyn'].includes(check.type))
    throw new ExpressionError(`It must be a number or a state, and is of type ${check.type}.`, 0);
  const evaluate = direct(program.ast) ?? interpreted(program, namesOf(program.ast, new Set()));
  return { evaluate, line: lineOf(program.ast) };
}

function parsed(source: string): ASTNode {
  try {
    return environment.parse(source).ast;
  } catch (error) {
    throw faultOf(error, source, source);
  }
}

function faultOf(error: unknown, source: string, text: string): Error {
  const isFault = error instanceof ParseError || error instanceof TypeFault || error instanceof EvaluationError;
  if (!isFault) return error instanceof Error ? error : new Error(String(error));
  const at = error.range?.start ?? 0;
  return new ExpressionError(`${error.summary}.`, source === text ? at : originalPlace(source, text, at));
}

/** Maps a position in the text with doubles to the source: before it, `.0` was added to some numbers. */
function originalPlace(source: string, text: string, at: number): number {
  let from = 0;
  for (let to = 0; to < at && from < source.length; from++, to++) while (to < at && text[to] !== source[from]) to++;
  return Math.min(from, source.length);
}

/** Whether an operand from the parser is another node. */
function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

function childrenOf({ args }: ASTNode): ASTNode[] {
  return Array.isArray(args) ? (args as unknown[]).flat().filter(isNode) : isNode(args) ? [args] : [];
}

function refuseCostly(node: ASTNode): void {
  const { op, args, start } = node as ASTNode & { start: number };
  if (op === 'value' && typeof args === 'object' && args !== null)
    throw new ExpressionError('Numbers have no suffix, and there are no bytes.', start);
  if (op === 'map') throw new ExpressionError('There are no maps.', start);
  if (op === 'call' || op === 'rcall') {
    const [name] = args as unknown as [string];
    const known = op === 'call' ? CALLS : METHODS;
    if (!known.has(name))
      throw new ExpressionError(`There is no function ${name}; there are ${[...known].join(', ')}.`, start);
  }
  for (const child of childrenOf(node)) refuseCostly(child);
}

/** The source with integers written as doubles. */
function withDoubles(source: string, ast: ASTNode): string {
  const literals: { start: number; end: number; value: bigint }[] = [];
  const collect = (node: ASTNode) => {
    const { op, args, start, end } = node as ASTNode & { start: number; end: number };
    if (op === 'value' && typeof args === 'bigint') literals.push({ start, end, value: args });
    for (const child of childrenOf(node)) collect(child);
  };
  collect(ast);
  let text = source;
  for (const { start, end, value } of literals.sort((a, b) => b.start - a.start))
    text = `${text.slice(0, start)}${value}.0${text.slice(end)}`;
  return text;
}

/** The expression as a linear function of its only attribute or field; null for any other. */
function lineOf(node: ASTNode, isWhole = true): Line | null {
  const leaf = leafOf(node);
  if (leaf !== null) {
    const isAttribute = typeof leaf === 'string';
    // Properties that every object inherits are not attributes.
    if (isAttribute && leaf in {}) return null;
    const read = { attribute: isAttribute ? leaf : null, field: isAttribute ? null : leaf };
    return { ...read, takesStates: isWhole, factor: 1, offset: 0, magnitude: 0 };
  }
  const { op, args } = node as { op: string; args: unknown };
  if (!(op in ARITHMETIC) || op === '%') return null;
  const [a, b] = args as [ASTNode, ASTNode];
  const line = lineOf(a, false);
  const constant = constantOf(b);
  if (line === null || constant === null) return null;
  const { factor, offset, magnitude } = line;
  if (op === '+' || op === '-')
    return {
      ...line,
      offset: op === '+' ? offset + constant : offset - constant,
      magnitude: Math.max(magnitude, Math.abs(constant)),
    };
  const by = op === '*' ? constant : 1 / constant;
  return { ...line, factor: factor * by, offset: offset * by, magnitude: magnitude * Math.abs(by) };
}

function constantOf({ op, args }: { op: string; args: unknown }): number | null {
  if (op === '-_') {
    const positive = constantOf(args as ASTNode);
    return positive === null ? null : -positive;
  }
  return op === 'value' && typeof args === 'number' ? args : null;
}

/** Compiles an expression of numbers into closures; null for any other. */
function direct(node: ASTNode): Evaluate | null {
  const leaf = leafOf(node);
  if (leaf === null) return arithmetic(node);
  return typeof leaf === 'string' ? attributeAs(leaf, numberOf) : fieldAs(leaf, numberOf);
}

function arithmetic(node: ASTNode): Evaluate | null {
  const { op, args } = node as { op: string; args: unknown };
  if (op === 'value') return typeof args === 'number' ? () => args : null;
  const leaf = leafOf(node);
  if (leaf !== null) return typeof leaf === 'string' ? attributeAs(leaf, onlyNumber) : fieldAs(leaf, onlyNumber);
  if (op === '-_') {
    const operand = arithmetic(args as ASTNode);
    return operand && ((record) => -operand(record));
  }
  if (op === 'call') {
    const [name, operands] = args as [string, ASTNode[]];
    return called(name, operands);
  }
  return op in ARITHMETIC ? combined(op as ArithmeticOperator, args as [ASTNode, ASTNode]) : null;
}

function combined(operator: ArithmeticOperator, [a, b]: [ASTNode, ASTNode]): Evaluate | null {
  const left = arithmetic(a);
  const right = arithmetic(b);
  if (left === null || right === null) return null;
  const constant = constantOf(b);
  if (constant !== null) return withConstant(operator, left, constant);
  switch (operator) {
    case '+':
      return (record) => left(record) + right(record);
    case '-':
      return (record) => left(record) - right(record);
    case '*':
      return (record) => left(record) * right(record);
    case '/':
      return (record) => left(record) / right(record);
    default:
      return (record) => left(record) % right(record);
  }
}

/** Fast path for an operator with a constant: most sources are an attribute and a constant. */
function withConstant(operator: ArithmeticOperator, left: Evaluate, constant: number): Evaluate {
  switch (operator) {
    case '+':
      return (record) => left(record) + constant;
    case '-':
      return (record) => left(record) - constant;
    case '*':
      return (record) => left(record) * constant;
    case '/':
      return (record) => left(record) / constant;
    default:
      return (record) => left(record) % constant;
  }
}

function called(name: string, operands: readonly ASTNode[]): Evaluate | null {
  if (!Object.hasOwn(FUNCTIONS, name)) return null;
  const compute = FUNCTIONS[name as FunctionName] as (...values: number[]) => number;
  const [a, b] = operands.map(arithmetic);
  if (!a || b === null || operands.length !== (b === undefined ? 1 : 2)) return null;
  return b === undefined ? (record) => compute(a(record)) : (record) => compute(a(record), b(record));
}

type Leaf = (record: Position) => AttributeValue | null | undefined;

/** Access by a constant property name costs a fraction of access by a variable one. */
const FIELD_LEAVES: { readonly [Name in RecordField]: Leaf } = {
  speedKmh: ({ speedKmh }) => speedKmh,
  courseDeg: ({ courseDeg }) => courseDeg,
  altitudeM: ({ altitudeM }) => altitudeM,
  satellites: ({ satellites }) => satellites,
  odometerM: ({ odometerM }) => odometerM,
  supplyV: ({ supplyV }) => supplyV,
  fuelL: ({ fuelL }) => fuelL,
  ignition: ({ ignition }) => ignition,
  valid: ({ valid }) => valid,
};

/** How a node reads a field, or the name of the attribute that it reads; null for other nodes. */
function leafOf({ op, args }: ASTNode): Leaf | string | null {
  if (op === 'id') {
    const name = args as string;
    if (FIELDS.has(name)) return FIELD_LEAVES[name as RecordField];
    return name === ATTRIBUTES ? null : name;
  }
  if (op !== '.' && op !== '[]') return null;
  const [of, key] = args as unknown as [ASTNode, string | ASTNode];
  if (of.op !== 'id' || of.args !== ATTRIBUTES) return null;
  const name = typeof key === 'string' ? key : key.op === 'value' ? key.args : null;
  return typeof name === 'string' ? name : null;
}

function fieldAs(leaf: Leaf, convert: (value: unknown) => number): Evaluate {
  return (record) => {
    const value = leaf(record);
    return typeof value === 'number' ? value : convert(value);
  };
}

function attributeAs(key: string, convert: (value: unknown) => number): Evaluate {
  // Properties that every object inherits are not attributes.
  if (key in {})
    return ({ attributes }) =>
      attributes !== null && Object.hasOwn(attributes, key) ? convert(attributes[key]) : Number.NaN;
  return ({ attributes }) => {
    if (attributes === null) return Number.NaN;
    const value = attributes[key];
    return typeof value === 'number' ? value : convert(value);
  };
}

function onlyNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

type Program = ReturnType<Environment['parse']>;

function interpreted(program: Program, names: ReadonlySet<string>): Evaluate {
  const fields = [...names].filter((name) => FIELDS.has(name)) as RecordField[];
  const attributes = [...names].filter((name) => !FIELDS.has(name) && name !== ATTRIBUTES);
  const takesAll = names.has(ATTRIBUTES);
  return (record) => {
    const context = new Map<string, unknown>();
    for (const name of fields) if (record[name] !== null) context.set(name, record[name]);
    const has = record.attributes ?? {};
    for (const name of attributes) if (Object.hasOwn(has, name)) context.set(name, has[name]);
    if (takesAll) context.set(ATTRIBUTES, has);
    try {
      return numberOf(program(context as never));
    } catch (error) {
      if (error instanceof EvaluationError || error instanceof TypeFault) return Number.NaN;
      throw error;
    }
  };
}

function namesOf(node: ASTNode, names: Set<string>): Set<string> {
  if (node.op === 'id') names.add(node.args as string);
  for (const child of childrenOf(node)) namesOf(child, names);
  return names;
}

function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'bigint' ? Number(value) : Number.NaN;
}

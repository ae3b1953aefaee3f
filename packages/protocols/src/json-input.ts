import type { AttributeValue, TerminalId } from '@outrider/domain';
import type { RefusedReports } from './protocol.ts';

const MAX_ATTRIBUTES = 96;
const MAX_NAME_LENGTH = 64;
const MAX_TEXT_LENGTH = 1024;
/** Maximum number of characters of a peer's value quoted in a refusal. */
const MAX_QUOTED = 80;

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Quotes a value of a peer, truncated to fit a log line. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

/** @param status HTTP status; 400 unless another one is more precise */
export function refused(reason: RefusedReports['refused'], detail: string, status = 400): RefusedReports {
  return { refused: reason, detail, status };
}

/** Parses a JSON text; returns the reason where it is invalid. */
export function parseJson(body: Buffer): { value: unknown } | RefusedReports {
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch (error) {
    return refused('bad-content', `the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A valid terminal id; null for anything else. */
export function terminalIdOf(given: unknown): TerminalId | null {
  const id = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  return typeof id === 'string' && /^[\x21-\x7e]{1,64}$/.test(id) ? (id as TerminalId) : null;
}

/** Attributes of one position. The number of attributes, and the length of names and values, are bounded. */
export class AttributeList {
  #attributes: Record<string, AttributeValue> | null = null;
  #count = 0;

  /**
   * Ignores values other than numbers, texts and booleans, and whatever exceeds the bounds. The first value of a name
   * wins.
   */
  set(name: string, value: unknown): void {
    if (this.#count >= MAX_ATTRIBUTES || name === '' || name.length > MAX_NAME_LENGTH || name === '__proto__') return;
    if (this.#attributes !== null && Object.hasOwn(this.#attributes, name)) return;
    const kept = attributeOf(value);
    if (kept === null) return;
    this.#attributes ??= {};
    this.#attributes[name] = kept;
    this.#count++;
  }

  /** All attributes; null where none was set. */
  get all(): Record<string, AttributeValue> | null {
    return this.#attributes;
  }
}

function attributeOf(value: unknown): AttributeValue | null {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH ? value : null;
}

/** A finite number within the bounds; null for anything else. */
export function numberWithin(value: unknown, least: number, most: number): number | null {
  return typeof value === 'number' && value >= least && value <= most ? value + 0 : null;
}

/** What is wrong with a geometry, and where: `pointer` is a JSON pointer (RFC 6901) into the feature. */
export interface GeometryError {
  pointer: string;
  detail: string;
}

/** Collects errors, up to a number that a person can still use. */
export class ErrorList {
  readonly errors: GeometryError[] = [];

  add(pointer: string, detail: string): void {
    if (!this.isFull) this.errors.push({ pointer, detail });
  }

  /** Whether to stop looking for more. */
  get isFull(): boolean {
    return this.errors.length >= 20;
  }

  get isEmpty(): boolean {
    return this.errors.length === 0;
  }
}

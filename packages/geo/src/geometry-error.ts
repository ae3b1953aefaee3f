/** An error in a geometry. `pointer` is a JSON pointer (RFC 6901) into the feature. */
export interface GeometryError {
  pointer: string;
  detail: string;
}

/** Collects errors, up to a number that is still useful to a person. */
export class ErrorList {
  readonly errors: GeometryError[] = [];

  add(pointer: string, detail: string): void {
    if (!this.isFull) this.errors.push({ pointer, detail });
  }

  /** Whether the limit of errors is met, so that the search can stop. */
  get isFull(): boolean {
    return this.errors.length >= 20;
  }

  get isEmpty(): boolean {
    return this.errors.length === 0;
  }
}

/** Live data of vehicles, in typed arrays by index: the map draws from them without an object per vehicle. */
export class Columns {
  /**
   * Position in the Mercator square, 0 to 1. A vehicle is drawn gliding from `from` to the target, which is ahead of
   * the fix while it moves. NaN: no position yet.
   */
  fromX = new Float64Array(0);
  fromY = new Float64Array(0);
  x = new Float64Array(0);
  y = new Float64Array(0);
  /** When the glide started, by `performance.now()`, and how long it takes. */
  startMs = new Float64Array(0);
  glideMs = new Float64Array(0);
  latitude = new Float64Array(0);
  longitude = new Float64Array(0);
  fixMs = new Float64Array(0);
  speedKmh = new Float32Array(0);
  courseDeg = new Float32Array(0);
  /** The vehicle's own colour, as 24 bits; `NO_TINT` without one. */
  tint = new Float32Array(0);
  state = new Uint8Array(0);
  sinceMs = new Float64Array(0);
  contactMs = new Float64Array(0);
  /** Moving average of the time between fixes, weighted towards the newest; 0: not known yet. */
  rhythmMs = new Float64Array(0);
  /** 1: the vehicle moves, and its next fix is long overdue. */
  overdue = new Uint8Array(0);
  /** Current problems: `ALARMED`, `SPEEDING`, both, or 0. */
  trouble = new Uint8Array(0);
  /** 1: passes the list's filter. */
  shown = new Uint8Array(0);

  hasPosition(index: number): boolean {
    return !Number.isNaN(this.x[index]);
  }

  /** X at which the vehicle is drawn at a time. */
  drawnX(index: number, nowMs: number): number {
    return this.#between(this.fromX[index] as number, this.x[index] as number, index, nowMs);
  }

  drawnY(index: number, nowMs: number): number {
    return this.#between(this.fromY[index] as number, this.y[index] as number, index, nowMs);
  }

  #between(from: number, to: number, index: number, nowMs: number): number {
    const glideMs = this.glideMs[index] as number;
    const part = glideMs === 0 ? 1 : Math.min(1, (nowMs - (this.startMs[index] as number)) / glideMs);
    return from + (to - from) * part;
  }

  /** Clears the live data of a vehicle. */
  protected forget(index: number): void {
    this.x[index] = this.y[index] = this.fromX[index] = this.fromY[index] = Number.NaN;
    this.state[index] = 0;
    this.speedKmh[index] = this.courseDeg[index] = Number.NaN;
    for (const times of [this.fixMs, this.contactMs, this.sinceMs, this.startMs, this.glideMs]) times[index] = 0;
    this.rhythmMs[index] = this.overdue[index] = this.trouble[index] = 0;
  }

  /** Copies the data of one index to another. */
  protected copy(from: number, to: number): void {
    for (const column of this.#columns()) column[to] = column[from] ?? 0;
  }

  #columns(): (Float64Array | Float32Array | Uint8Array)[] {
    const places = [this.fromX, this.fromY, this.x, this.y, this.latitude, this.longitude];
    const times = [this.startMs, this.glideMs, this.fixMs, this.sinceMs, this.contactMs];
    const flags = [this.state, this.overdue, this.trouble, this.shown];
    return [...places, ...times, this.rhythmMs, this.speedKmh, this.courseDeg, this.tint, ...flags];
  }

  /** Ensures capacity for a number of vehicles. */
  protected reserve(count: number): void {
    if (count <= this.x.length) return;
    const capacity = Math.max(64, 2 ** Math.ceil(Math.log2(count)));
    const doubles = ['fromX', 'fromY', 'x', 'y', 'startMs', 'glideMs', 'latitude', 'longitude'] as const;
    const more = ['fixMs', 'sinceMs', 'contactMs', 'rhythmMs'] as const;
    for (const name of [...doubles, ...more]) {
      const grown = new Float64Array(capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
    for (const name of ['speedKmh', 'courseDeg', 'tint'] as const) {
      const grown = new Float32Array(capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
    for (const name of ['state', 'overdue', 'trouble', 'shown'] as const) {
      const grown = new Uint8Array(capacity);
      grown.set(this[name]);
      this[name] = grown;
    }
  }
}

import { sourceOf } from '@outrider/auth';
import { type ConnectionBounds, ConnectionCounts } from '@outrider/runtime';

/** Why a connection is closed before a byte of it is read. */
export type NotAdmitted = 'too-many-connections' | 'too-many-of-address' | 'too-many-unidentified';

/** An address may have this part of its connections open without having identified itself. */
const UNIDENTIFIED_PART = 6;
const MIN_UNIDENTIFIED = 50;

/** The place of one connection among those of its listener. */
export interface Place {
  /** The terminal identified itself. */
  identified(): void;
  /** The connection is closed. */
  leave(): void;
}

/**
 * Counts the connections of one listener: in all, by address, and by address those whose terminal has not identified itself. One address can
 * neither take all places, nor more than a few without knowing the id of a terminal.
 */
export class Admission {
  readonly #open: ConnectionCounts;
  readonly #unidentified: ConnectionCounts;

  constructor(bounds: ConnectionBounds) {
    this.#open = new ConnectionCounts(bounds);
    const perKey = Math.max(MIN_UNIDENTIFIED, Math.ceil(bounds.perKey / UNIDENTIFIED_PART));
    this.#unidentified = new ConnectionCounts({ total: bounds.total, perKey });
  }

  admit(remoteAddress: string | undefined): Place | NotAdmitted {
    const source = sourceOf(remoteAddress);
    const exceeded = this.#open.admit(source);
    if (exceeded !== null) return exceeded === 'total' ? 'too-many-connections' : 'too-many-of-address';
    if (this.#unidentified.admit(source) !== null) {
      this.#open.release(source);
      return 'too-many-unidentified';
    }
    let isUnidentified = true;
    const identified = () => {
      if (isUnidentified) this.#unidentified.release(source);
      isUnidentified = false;
    };
    return {
      identified,
      leave: () => {
        identified();
        this.#open.release(source);
      },
    };
  }
}

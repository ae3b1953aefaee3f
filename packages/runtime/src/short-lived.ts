import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 allocate all objects in the young generation. From the survivors during the start of a service, V8 concludes
 * that positions and packets live long, and would allocate them in the old generation. They fill it, and under load V8
 * marks all live objects several times a second to free them. Nearly all of them die before the next scavenge.
 *
 * Applies to all threads of the process; must be called before they begin their work. See decision 0023.
 */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

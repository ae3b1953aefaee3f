import { setFlagsFromString } from 'node:v8';

/**
 * Has the engine make all objects where those are made that soon die. From how many outlived a collection while a
 * service starts it concludes that positions and packets live long, and makes them among what does: they fill it and
 * are found dead there by marking all that lives, several times a second under load. Nearly all of them are dead before
 * the next collection of the young.
 *
 * For all threads of the process; to be called before they begin their work. See decision 0023.
 */
export function expectShortLives(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

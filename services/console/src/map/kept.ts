/** An object that outlives its screen and is reused by the next one. */
interface Kept {
  remove(): void;
}

let isKeeping = false;
let kept: Kept | null = null;

/**
 * Lets screens hand objects on to the next screen.
 *
 * @returns function that ends this: another user may log in, and must not see the previous user's data
 */
export function keepThings(): () => void {
  isKeeping = true;
  return () => {
    isKeeping = false;
    takeKept()?.remove();
  };
}

/** Keeps one object for the next screen; any further one is removed. */
export function keep(thing: Kept): void {
  if (isKeeping && kept === null) kept = thing;
  else thing.remove();
}

/** Takes the kept object, which the caller then owns; null: none was kept. */
export function takeKept<T extends Kept>(): T | null {
  const taken = kept as T | null;
  kept = null;
  return taken;
}

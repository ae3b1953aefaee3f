/** Something that lives on between two screens. */
interface Kept {
  remove(): void;
}

let isKeeping = false;
let kept: Kept | null = null;

/**
 * Lets screens hand things on.
 *
 * @returns ends that: who comes next may be somebody else, and is not shown what the last one saw
 */
export function keepThings(): () => void {
  isKeeping = true;
  return () => {
    isKeeping = false;
    takeKept()?.remove();
  };
}

/** Hands a thing on to the screen that comes next, one at most; otherwise it is removed. */
export function keep(thing: Kept): void {
  if (isKeeping && kept === null) kept = thing;
  else thing.remove();
}

/** What was handed on, which is then the caller's own; null: nothing was. */
export function takeKept<T extends Kept>(): T | null {
  const taken = kept as T | null;
  kept = null;
  return taken;
}

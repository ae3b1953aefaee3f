const MOST = 30;
/** Elements that usually remain when an element inside them is removed. */
const PLACES = 'section, aside, dialog, form, fieldset';
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';

interface Focused {
  element: HTMLElement;
  /** Ancestors, nearest first: once the element is removed, its former position cannot be found. */
  parents: Element[];
  /** The element lost the focus while disabled, and gets it back as soon as it can. */
  isWaiting: boolean;
}

/** Focuses the heading of the page: a screen reader announces the page, and Tab continues in it. */
export function focusPage(): void {
  const known = ['main [autofocus]', 'main h1', 'main'].map((name) => document.querySelector<HTMLElement>(name));
  known.some((element) => element !== null && focusOn(element));
}

/**
 * Restores a lost focus. When the focused element is removed, hidden or disabled, the focus moves to where a person
 * expects it, and is never lost.
 *
 * 1. A row was removed: the list's current row.
 * 2. A part of a section, a dialog or a panel was removed: what had the focus there before, or its first control.
 * 3. A whole dialog, panel or form was removed: what opened it, which is what had the focus before.
 * 4. None of these exists: the heading of the page.
 */
export function keepFocus(): void {
  let last: Focused | null = null;
  let trail: HTMLElement[] = [];
  const check = (wasMoved: boolean) => {
    if (last === null || document.activeElement !== document.body) return;
    const { element, parents } = last;
    const isShown = element.isConnected && element.checkVisibility();
    if (isShown && element.matches(':disabled')) last.isWaiting = true;
    else if (isShown && (wasMoved || last.isWaiting)) focusOn(element);
    else if (isShown) return;
    else if (![...candidates(parents, trail)].some(focusOn)) focusPage();
  };
  document.addEventListener('focusin', ({ target }) => {
    const element = target as HTMLElement;
    const parents: Element[] = [];
    for (let at = element.parentElement; at !== null; at = at.parentElement) parents.push(at);
    last = { element, parents, isWaiting: false };
    trail = [...trail.filter((one) => one !== element && one.isConnected), element].slice(-MOST);
  });
  document.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget !== null) return;
    setTimeout(() => {
      check(false);
      // The user moved the focus away, such as by a click on an empty area.
      if (document.activeElement === document.body && last?.isWaiting === false) last = null;
    });
  });
  new MutationObserver((changes) => {
    if (last === null) return;
    const { element } = last;
    if (element.matches(':disabled')) last.isWaiting = true;
    check(changes.some(({ removedNodes }) => [...removedNodes].some((node) => node.contains(element))));
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

function* candidates(parents: readonly Element[], trail: readonly HTMLElement[]): Iterable<HTMLElement> {
  const before = trail.toReversed();
  const list = parents.find((parent) => parent.isConnected && parent.querySelector(':scope [data-row]') !== null);
  if (parents.some((parent) => parent.matches('[data-row]')) && list !== undefined)
    yield* list.querySelectorAll<HTMLElement>('[data-row] [tabindex="0"]');
  // Another panel replaced it, such as that of a newly created object.
  if (parents.some((parent) => parent.matches('aside') && !parent.isConnected))
    yield* document.querySelectorAll<HTMLElement>('aside > header h2');
  const place = parents.find((parent) => parent.isConnected && parent.matches(PLACES));
  if (place !== undefined) {
    yield* before.filter((element) => place.contains(element));
    yield* place.querySelectorAll<HTMLElement>(FOCUSABLE);
  }
  yield* before;
}

/** @returns whether the element has the focus now */
export function focusOn(element: HTMLElement): boolean {
  if (!element.isConnected || !element.checkVisibility()) return false;
  if (element.matches('h1, h2, main')) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  return document.activeElement === element;
}

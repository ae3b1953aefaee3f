/** One rem in pixels: the size of the text, which readers choose. */
export function remPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/**
 * Whether the page is narrow, as in the style sheets: `@container page (max-width: 45rem)`. Larger text makes a page
 * narrower.
 */
export function isNarrow(): boolean {
  return innerWidth <= 45 * remPx();
}

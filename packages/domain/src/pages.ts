/**
 * What is read page by page: the next page once this one was dealt with, until none follows.
 *
 * @param read the page after a place; null: the first one
 */
export async function* pagesOf<After, Page extends { next: After | null }>(
  read: (after: After | null) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let after: After | null = null; ; ) {
    const page: Page = await read(after);
    yield page;
    if (page.next === null) return;
    after = page.next;
  }
}

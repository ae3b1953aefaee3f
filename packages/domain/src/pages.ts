/**
 * Yields pages until none follows. The next page is read once the consumer has processed the current one.
 *
 * @param read reads the page after a cursor; null: the first one
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

/** The pages of `docs/devices`, by the name of their protocol. */
const PAGES: Readonly<Record<string, string>> = import.meta.glob('../../../../../docs/devices/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** How a terminal of the protocol is pointed here, in Markdown; null where there is no page. */
export function devicePageOf(protocol: string): string | null {
  const suffix = `/${protocol}.md`;
  return Object.entries(PAGES).find(([path]) => path.endsWith(suffix))?.[1] ?? null;
}

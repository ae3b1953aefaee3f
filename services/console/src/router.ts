import { signal } from '@preact/signals';

export interface Route {
  path: string;
  query: URLSearchParams;
}

const here = (): Route => ({ path: location.pathname, query: new URLSearchParams(location.search) });

/** The route in the address bar. Every view is a link. */
export const route = signal<Route>({ path: '/', query: new URLSearchParams() });

/**
 * Opens another view. A change that is no step of its own, such as moving the map, replaces the current history entry.
 */
export function navigate(href: string, { replace = false } = {}): void {
  if (href === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', href);
  route.value = here();
}

/** The current view with other parameters; null removes one. */
export function withQuery(changes: Record<string, string | null>, { path, query } = route.peek()): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') next.delete(name);
    else next.set(name, value);
  }
  const search = next.toString().replaceAll('%2F', '/').replaceAll('%3A', ':').replaceAll('%2C', ',');
  return search === '' ? path : `${path}?${search}`;
}

export function setQuery(changes: Record<string, string | null>, options = { replace: true }): void {
  navigate(withQuery(changes), options);
}

/** Follows the browser's history, and takes over links to views: those with a path that the console has. */
export function startRouter(isView: (path: string) => boolean): void {
  addEventListener('popstate', () => {
    route.value = here();
  });
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const link = (event.target as Element | null)?.closest?.('a[href]');
    if (!isPlain || event.defaultPrevented || !(link instanceof HTMLAnchorElement) || link.target !== '') return;
    if (link.origin !== location.origin || !isView(link.pathname)) return;
    event.preventDefault();
    navigate(link.pathname + link.search);
  });
  route.value = here();
}

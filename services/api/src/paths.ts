import { Problem } from '@outrider/access';
import type { Route } from './route.ts';
import { DESCRIBED, ROUTES } from './routes.ts';

/** Every path with its routes. Paths with fewer parameters come first, because others may match them too. */
export const PATHS = [...Map.groupBy(ROUTES, ({ path }) => path)]
  .map(([path, routes]) => ({
    path,
    routes,
    /** Whether another path with parameters matches it as well. */
    isAlsoOther: ROUTES.some((other) => other.path !== path && patternOf(other.path).test(path)),
    pattern: patternOf(path),
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** First segments of the paths that are not views of the console. */
export const SERVED: ReadonlySet<string> = new Set([
  ...DESCRIBED.map(({ path }) => path.split('/')[1] ?? ''),
  ...['assets', 'docs', 'email', 'live', 'maps'],
]);

/** Documentation group of each path. */
export const GROUPS = new Map(ROUTES.map(({ path, group }) => [path as string, group]));

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

export function notAllowed(served: readonly Route[]): Problem {
  const allowed = served.map(({ method }) => method.toUpperCase()).join(', ');
  return new Problem('method-not-allowed', `Served here: ${allowed}.`, { headers: { allow: allowed } });
}

import { Problem } from '@outrider/access';
import type { Route } from './route.ts';
import { DESCRIBED, ROUTES } from './routes.ts';

/** Every path with what is served there; one that names fewer things goes before others that it looks like. */
export const PATHS = [...Map.groupBy(ROUTES, ({ path }) => path)]
  .map(([path, routes]) => ({
    path,
    routes,
    /** Whether it could be taken for another path, that something is named in. */
    isAlsoOther: ROUTES.some((other) => other.path !== path && patternOf(other.path).test(path)),
    pattern: patternOf(path),
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** First parts of the paths that are no views of the console. */
export const SERVED: ReadonlySet<string> = new Set([
  ...DESCRIBED.map(({ path }) => path.split('/')[1] ?? ''),
  ...['assets', 'docs', 'email', 'live', 'maps'],
]);

/** The group of routes that a path belongs to. */
export const GROUPS = new Map(ROUTES.map(({ path, group }) => [path as string, group]));

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

export function notAllowed(served: readonly Route[]): Problem {
  const allowed = served.map(({ method }) => method.toUpperCase()).join(', ');
  return new Problem('method-not-allowed', `Served here: ${allowed}.`, { headers: { allow: allowed } });
}

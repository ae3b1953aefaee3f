import { asChange, type Definition } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import type { Scope } from './history-run.ts';

/** Cached engines, at most. */
const KEPT = 4;

/**
 * Engines for recalculations. To make one ready takes time for each geofence; vehicles that the same people see have
 * the same ones, and late data often comes of many vehicles at once: so an engine is used again where its definitions
 * are those that are wanted.
 */
export class Engines {
  /** The one used last comes last. */
  readonly #ready: { scope: Scope; engine: Engine }[] = [];

  /** An engine that knows the definitions of a scope, and of its vehicle nothing more. */
  engineFor(scope: Scope): Engine {
    const at = this.#ready.findIndex(
      (ready) => isAlike(ready.scope.geofences, scope.geofences) && isAlike(ready.scope.owners, scope.owners),
    );
    const [known] = at < 0 ? [] : this.#ready.splice(at, 1);
    const engine = known?.engine ?? made(scope);
    engine.forget(scope.vehicle.id);
    engine.applyDefinition(asChange(scope.vehicle, 0));
    this.#ready.push({ scope, engine });
    if (this.#ready.length > KEPT) this.#ready.shift();
    return engine;
  }

  /** The vehicle of a scope is done with: nothing of it is kept. */
  release(engine: Engine, { vehicle }: Scope): void {
    engine.forget(vehicle.id);
  }
}

function made({ vehicle, owners, geofences }: Scope): Engine {
  const engine = new Engine({ origin: 'recalculated' });
  engine.load([...owners, vehicle, ...geofences].map((definition) => asChange(definition, 0)));
  return engine;
}

/** The very same definitions, in the same order: a change makes another object of one. */
function isAlike(one: readonly Definition[], other: readonly Definition[]): boolean {
  return one.length === other.length && one.every((definition, nth) => definition === other[nth]);
}

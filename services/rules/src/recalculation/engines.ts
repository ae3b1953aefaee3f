import { asChange, type Definition } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import type { Scope } from './history-run.ts';

/** Maximum number of cached engines. */
const KEPT = 4;

/**
 * Cache of engines for recalculations. Preparing an engine takes time for each geofence. Vehicles that the same people
 * see have the same geofences, and late data often comes from many vehicles at once: so an engine is reused for the
 * same definitions.
 */
export class Engines {
  /** Least recently used first. */
  readonly #ready: { scope: Scope; engine: Engine }[] = [];

  /** Returns an engine with the definitions of a scope, and without a state of its vehicle. */
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

  /** Removes the vehicle of a scope, including its state, from the engine. */
  release(engine: Engine, { vehicle }: Scope): void {
    engine.forget(vehicle.id);
  }
}

function made({ vehicle, owners, geofences }: Scope): Engine {
  const engine = new Engine({ origin: 'recalculated' });
  engine.load([...owners, vehicle, ...geofences].map((definition) => asChange(definition, 0)));
  return engine;
}

/** Whether both are identical objects in the same order: a change of a definition creates another object. */
function isAlike(one: readonly Definition[], other: readonly Definition[]): boolean {
  return one.length === other.length && one.every((definition, nth) => definition === other[nth]);
}

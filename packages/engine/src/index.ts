export {
  type CounterRecord,
  type CounterRun,
  type CounterState,
  countOn,
  countUntil,
  freshCounters,
  type Reached,
  sumsOf,
} from './counters/counters.ts';
export { type CountedBy, goesBySensors } from './counters/custom.ts';
export { Engine } from './engine.ts';
export {
  ANYWHERE_MS,
  type FixPlace,
  impliesJump,
  JumpJudge,
  type JumpState,
  REANCHOR_FIXES,
  REANCHOR_MS,
} from './intake/jump.ts';
export * from './sensors/index.ts';
export { STATE_VERSION } from './state-codec.ts';
export { MAX_EVENTS_PER_MINUTE, MAX_GEOFENCES_AT_ONCE, type SurplusCount } from './surplus.ts';

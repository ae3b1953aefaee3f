export { Engine } from './engine.ts';
export {
  ANYWHERE_MS,
  type FixPlace,
  impliesJump,
  JumpJudge,
  type JumpState,
  REANCHOR_FIXES,
  REANCHOR_MS,
} from './jump.ts';
export { STATE_VERSION } from './state-codec.ts';
export { MAX_EVENTS_PER_MINUTE, MAX_GEOFENCES_AT_ONCE, type SurplusCount } from './surplus.ts';

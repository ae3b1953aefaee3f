export { Engine, type VehicleLatest } from './engine.ts';
export { impliesJump, REANCHOR_FIXES, REANCHOR_MS } from './jump.ts';

export { Engine, type VehicleLatest } from './engine.ts';
export { impliesJump } from './jump.ts';

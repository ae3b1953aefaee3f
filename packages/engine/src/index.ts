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

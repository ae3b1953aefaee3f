export * from './checkpoints.ts';
export * from './log.ts';

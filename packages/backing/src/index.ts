export * from './backing.ts';
export * from './open.ts';
export * from './variables.ts';

export * from './access-variables.ts';
export * from './backing.ts';
export * from './checks.ts';
export * from './open.ts';
export * from './patient.ts';
export * from './tokens.ts';
export * from './variables.ts';

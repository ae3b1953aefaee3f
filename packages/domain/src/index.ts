export * from './definitions.ts';
export * from './directory.ts';
export * from './event.ts';
export * from './ids.ts';
export * from './json.ts';
export * from './position.ts';
export * from './quality.ts';
export * from './rights.ts';

export * from './bridge.ts';
export * from './hub.ts';
export * from './memory.ts';
export * from './terminal-commands.ts';

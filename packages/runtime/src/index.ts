export * from './config.ts';
export * from './lifecycle.ts';
export * from './logger.ts';
export * from './metrics.ts';
export { type Readiness, type ReadyCheck, readiness } from './readiness.ts';
export * from './service.ts';
export * from './start-error.ts';
export { stopSignal } from './stop-signal.ts';
export * from './tracing/index.ts';

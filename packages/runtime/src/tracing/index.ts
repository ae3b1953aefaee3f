export { openTracing } from './open.ts';
export { type TracingConfig, tracingConfigOf, tracingVariables } from './settings.ts';
export * from './tracing.ts';

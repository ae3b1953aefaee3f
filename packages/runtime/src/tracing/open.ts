import type { Logger } from '../logger.ts';
import type { TracingConfig } from './settings.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/** Opens the way to a collector where one is set. The SDK is loaded only then. */
export async function openTracing(config: TracingConfig, logger: Logger): Promise<Tracing> {
  if (config.endpoint === null) return NO_TRACING;
  const { openOpenTelemetry } = await import('./opentelemetry.ts');
  return openOpenTelemetry({ ...config, endpoint: config.endpoint }, logger);
}

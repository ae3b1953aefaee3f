import type { Logger } from '../logger.ts';
import type { TracingConfig } from './settings.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

/** Opens the export to a collector if one is set. Only then is the SDK loaded. */
export async function openTracing(config: TracingConfig, logger: Logger): Promise<Tracing> {
  if (config.endpoint === null) return NO_TRACING;
  const { openOpenTelemetry } = await import('./opentelemetry.ts');
  return openOpenTelemetry({ ...config, endpoint: config.endpoint }, logger);
}

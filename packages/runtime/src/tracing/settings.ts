import { type Config, oneOf, secret, text, type Variable, type Variables } from '../config.ts';

const SAMPLERS = [
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
  'always_on',
  'always_off',
  'traceidratio',
] as const;

/** Settings of the trace export, with the standard variables of OpenTelemetry. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    ...text(
      'Collector for traces over OTLP/HTTP (JSON), such as `http://collector:4318`. If unset, nothing is traced and the library is not loaded.',
    ),
    parse(value) {
      const url = URL.parse(value);
      if (url === null || !/^https?:$/.test(url.protocol)) throw new Error('an http or https URL');
      return value;
    },
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    ...secret('Headers for the collector: `name=value,name=value`.'),
    parse(value) {
      headersOf(value);
      return value;
    },
  },
  OTEL_SERVICE_NAME: text('Name of the service in traces. If unset, `outrider` followed by the name of the process.'),
  OTEL_TRACES_SAMPLER: oneOf(
    SAMPLERS,
    'parentbased_always_on',
    'Which traces are recorded. Each gateway records at most 500 packets a second. Use `parentbased_traceidratio` in production. It must be the same in all services.',
  ),
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'Fraction of traces that `traceidratio` records, from 0 to 1. It must be the same in all services.',
    fallback: '1',
    secret: false,
    parse(value) {
      const share = Number(value);
      if (value.trim() === '' || !(share >= 0 && share <= 1)) throw new Error('a number from 0 to 1');
      return share;
    },
  } satisfies Variable<number>,
} satisfies Variables;

export interface TracingConfig {
  /** Base URL of the collector; null: no traces. */
  endpoint: string | null;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  sampler: (typeof SAMPLERS)[number];
  /** Share of traces from 0 to 1, for the samplers that use one. */
  share: number;
}

/** @param processName name of the service if none is set */
export function tracingConfigOf(config: Config<typeof tracingVariables>, processName: string): TracingConfig {
  return {
    endpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: headersOf(config.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
    serviceName: config.OTEL_SERVICE_NAME ?? processName,
    sampler: config.OTEL_TRACES_SAMPLER,
    share: config.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** Parses pairs as in W3C Baggage: `name=value,name=value`, percent-encoded. */
function headersOf(list: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of list.split(',')) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    if (at < 1) throw new Error('a list such as name=value,name=value');
    try {
      headers[pair.slice(0, at).trim()] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch {
      throw new Error('a list whose values are percent-encoded');
    }
  }
  return headers;
}

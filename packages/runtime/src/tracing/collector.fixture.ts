import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span of an OTLP/JSON request, with its attributes and the service that sent it. */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: number;
  startNs: bigint;
  endNs: bigint;
  failed: boolean;
  facts: Record<string, string | number | boolean>;
  links: { traceId: string; spanId: string }[];
}

export interface Collector {
  /** What `OTEL_EXPORTER_OTLP_ENDPOINT` is set to. */
  url: string;
  spans: readonly CollectedSpan[];
  headers: readonly IncomingHttpHeaders[];
  /** @param status what it answers from here on; null: nothing at all */
  willAnswer(status: number | null): void;
  close(): Promise<void>;
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
}
type Attributes = { key: string; value: Value }[];
interface Body {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes?: Attributes;
        links?: { traceId: string; spanId: string }[];
        status?: { code?: number };
      }[];
    }[];
  }[];
}

/** A collector that takes traces by OTLP/HTTP in JSON, and keeps them. */
export async function openCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let answer: number | null = 200;
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    headers.push(request.headers);
    if (answer === null) return;
    if (request.url !== '/v1/traces' || request.method !== 'POST') return response.writeHead(404).end();
    if (answer === 200) take(JSON.parse(text) as Body);
    response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function take({ resourceSpans }: Body): void {
    for (const { resource, scopeSpans } of resourceSpans)
      for (const scope of scopeSpans)
        for (const span of scope.spans)
          spans.push({
            service: String(factsOf(resource.attributes)['service.name']),
            traceId: span.traceId,
            spanId: span.spanId,
            parentSpanId: span.parentSpanId,
            name: span.name,
            kind: span.kind,
            startNs: BigInt(span.startTimeUnixNano),
            endNs: BigInt(span.endTimeUnixNano),
            failed: span.status?.code === 2,
            facts: factsOf(span.attributes ?? []),
            links: (span.links ?? []).map(({ traceId, spanId }) => ({ traceId, spanId })),
          });
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    willAnswer(status) {
      answer = status;
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function factsOf(attributes: Attributes): CollectedSpan['facts'] {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue ?? '') : Number(intValue)),
    ]),
  );
}

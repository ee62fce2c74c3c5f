/** A minimal OpenTelemetry collector for tests: receives spans and counters over OTLP/HTTP as JSON, and keeps them. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty or absent for the first span of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  /** Related spans in other traces. */
  readonly links?: readonly { readonly traceId: string }[];
  /** The app that reported the span. */
  readonly service: string;
}

interface ResourceSpans {
  readonly resource: { readonly attributes: { readonly key: string; readonly value: { stringValue?: string } }[] };
  readonly scopeSpans: { readonly spans: Omit<Span, 'service'>[] }[];
}

interface DataPoint {
  readonly asInt?: number | string;
  readonly asDouble?: number;
  readonly attributes?: readonly { readonly key: string; readonly value: object }[];
}

interface ResourceMetrics {
  readonly scopeMetrics: {
    readonly metrics: {
      readonly name: string;
      readonly unit?: string;
      readonly sum?: { readonly dataPoints: DataPoint[] };
      readonly gauge?: { readonly dataPoints: DataPoint[] };
      readonly histogram?: { readonly dataPoints: DataPoint[] };
    }[];
  }[];
}

/** A metric with one combination of its labels. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'sum' | 'gauge' | 'histogram';
  readonly labels: Readonly<Record<string, string>>;
}

export class TraceCollector {
  readonly spans: Span[] = [];
  private readonly counts = new Map<string, number>();
  private readonly seriesByKey = new Map<string, Series>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(Buffer.concat(chunks).toString()) as {
          resourceSpans?: ResourceSpans[];
          resourceMetrics?: ResourceMetrics[];
        };
        collector.keepCounts(resourceMetrics);
        for (const { resource, scopeSpans } of resourceSpans) {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
          for (const { spans } of scopeSpans) collector.spans.push(...spans.map((span) => ({ ...span, service })));
        }
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    return collector;
  }

  /** Environment variables that make every service of a platform export to this collector without delay. */
  get environment(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    };
  }

  /**
   * Value of a counter since its process began, or 0 if it was never increased. It is correct only if one process
   * counts.
   */
  countOf(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  private keepCounts(resourceMetrics: readonly ResourceMetrics[]): void {
    const metrics = resourceMetrics.flatMap((resource) => resource.scopeMetrics.flatMap((scope) => scope.metrics));
    for (const { name, sum } of metrics)
      for (const { asInt, asDouble } of sum?.dataPoints ?? []) this.counts.set(name, Number(asInt ?? asDouble));
    for (const { name, unit = '', ...data } of metrics)
      for (const kind of ['sum', 'gauge', 'histogram'] as const)
        for (const { attributes = [] } of data[kind]?.dataPoints ?? []) {
          const labels = Object.fromEntries(
            attributes.map(({ key, value }) => [key, String(Object.values(value as Record<string, unknown>)[0])]),
          );
          this.seriesByKey.set(JSON.stringify([name, labels]), { name, unit, kind, labels });
        }
  }

  /** Every series that a process has reported. */
  get series(): Series[] {
    return [...this.seriesByKey.values()];
  }

  of(traceId: string): Span[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

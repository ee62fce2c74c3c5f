/** What an OpenTelemetry collector is, as far as a test is concerned: takes spans over OTLP/HTTP as JSON, and keeps them. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty or absent for the first of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  /** Spans of other traces that it has to do with. */
  readonly links?: readonly { readonly traceId: string }[];
  /** The app that reported it. */
  readonly service: string;
}

interface ResourceSpans {
  readonly resource: { readonly attributes: { readonly key: string; readonly value: { stringValue?: string } }[] };
  readonly scopeSpans: { readonly spans: Omit<Span, 'service'>[] }[];
}

export class TraceCollector {
  readonly spans: Span[] = [];

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
        const { resourceSpans = [] } = JSON.parse(Buffer.concat(chunks).toString()) as {
          resourceSpans?: ResourceSpans[];
        };
        for (const { resource, scopeSpans } of resourceSpans) {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
          for (const { spans } of scopeSpans) collector.spans.push(...spans.map((span) => ({ ...span, service })));
        }
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    return collector;
  }

  /** Variables that make every service of a platform report here, soon after it happened. */
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

  of(traceId: string): Span[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

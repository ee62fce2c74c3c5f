import { ClientRequest } from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename, dirname } from 'node:path';
import { context, type Span, trace } from '@opentelemetry/api';
import type * as Http from '@opentelemetry/instrumentation-http';
import type * as Runtime from '@opentelemetry/instrumentation-runtime-node';
import type * as Undici from '@opentelemetry/instrumentation-undici';
import type * as Resources from '@opentelemetry/resources';
import type * as Metrics from '@opentelemetry/sdk-metrics';
import type * as Sdk from '@opentelemetry/sdk-node';
import { VERSION } from './version.js';

/**
 * Starts OpenTelemetry's traces and metrics if OTEL_EXPORTER_OTLP_ENDPOINT is set, or OTEL_METRICS_EXPORTER is `prometheus`.
 * The OpenTelemetry specification defines these variables and further variables. Without them, no OpenTelemetry SDK is
 * loaded.
 *
 * Every main.ts imports this file first. This file loads the libraries with require, because they must be loaded before
 * the next imports of main.ts are evaluated, and an awaited import would be too late.
 */
/** Maximum length of a constant word in a path. A longer segment is an id, a code or a card token. */
const MAX_WORD_LENGTH = 15;

let stop: () => Promise<void> = () => Promise.resolve();

if (process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] || process.env['OTEL_METRICS_EXPORTER'] === 'prometheus') {
  const require = createRequire(import.meta.url);
  const { NodeSDK } = require('@opentelemetry/sdk-node') as typeof Sdk;
  const { defaultResource, resourceFromAttributes } = require('@opentelemetry/resources') as typeof Resources;
  const { createDenyListAttributesProcessor } = require('@opentelemetry/sdk-metrics') as typeof Metrics;
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http') as typeof Http;
  const { RuntimeNodeInstrumentation } = require('@opentelemetry/instrumentation-runtime-node') as typeof Runtime;
  const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici') as typeof Undici;

  const sdk = new NodeSDK({
    serviceName: process.env['OTEL_SERVICE_NAME'] ?? appNameOf(process.argv[1] ?? ''),
    resource: defaultResource().merge(resourceFromAttributes({ 'service.version': VERSION })),
    views: [
      {
        // Each merchant has a host for its webhooks, and a series for each would have no bound.
        instrumentName: 'http.client.request.duration',
        attributesProcessors: [createDenyListAttributesProcessor(['server.address', 'server.port'])],
      },
    ],
    instrumentations: [
      new RuntimeNodeInstrumentation(),
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => request.url?.startsWith('/health') ?? false,
        // Only calls within a trace have a span. The option requireParentforOutgoingSpans would also omit the spans of
        // calls whose parent is in another process.
        ignoreOutgoingRequestHook: () => trace.getSpan(context.active()) === undefined,
        requestHook: (span, request) => {
          if (!span.isRecording()) return;
          if (request instanceof ClientRequest)
            recordOnlyHost(span, { origin: `${request.protocol}//${String(request.getHeader('host'))}` });
          else recordPathWithoutIds(span, request);
        },
      }),
      new UndiciInstrumentation({ requireParentforSpans: true, requestHook: recordOnlyHost }),
    ],
  });
  sdk.start();
  // The instrumentation changes these modules when they are required. ES modules see its changes only after the call.
  for (const name of ['http', 'https']) require(name);
  syncBuiltinESMExports();
  stop = () => sdk.shutdown();
}

/** The name of this app: `apps/<app>/dist/main.js` when compiled, `dist/<app>/main.js` when bundled. */
function appNameOf(program: string): string {
  return basename(dirname(program.replace('/dist/main.js', '/main.js')));
}

/** Records the path without query and ids, because the id or code of a session gives access to its page. */
function recordPathWithoutIds(span: Span, request: { url?: string | undefined; path?: string | undefined }): void {
  const path = (request.url ?? request.path ?? '').split('?', 1)[0]!;
  const segments = path.split('/').map((segment) => (segment.length > MAX_WORD_LENGTH ? '{id}' : segment));
  const maskedPath = segments.join('/');
  span.setAttributes({ 'url.path': maskedPath, 'url.query': '', 'http.target': maskedPath, 'http.url': '' });
}

/** Records only the origin of a called URL, because path and query of a merchant's webhook URL may contain a secret. */
function recordOnlyHost(span: Span, { origin }: { origin: string | URL }): void {
  const url = String(origin);
  span.setAttributes({ 'url.full': url, 'url.path': '', 'url.query': '', 'http.url': url, 'http.target': '' });
}

/** Sends the remaining data. Ignores errors, so that the process exits even if the collector is unavailable. */
export async function stopTelemetry(): Promise<void> {
  await stop().catch(() => undefined);
}

import { createRequire } from 'node:module';
import { basename, dirname } from 'node:path';
import type { Span } from '@opentelemetry/api';
import type * as Http from '@opentelemetry/instrumentation-http';
import type * as Undici from '@opentelemetry/instrumentation-undici';
import type * as Sdk from '@opentelemetry/sdk-node';

/**
 * Traces and metrics by OpenTelemetry, if the environment has an endpoint for them (OTEL_EXPORTER_OTLP_ENDPOINT and the other
 * variables of the OpenTelemetry specification); otherwise nothing of it is loaded.
 *
 * Imported first by every main.ts. Loaded with require: an import would have to be awaited, and meanwhile the next imports of
 * main.ts would be evaluated, too early to be traced.
 */
/** Longer than the words of our paths: ids, codes, tokens of cards. */
const MAX_WORD_LENGTH = 15;

let stop: () => Promise<void> = () => Promise.resolve();

if (process.env['OTEL_EXPORTER_OTLP_ENDPOINT']) {
  const require = createRequire(import.meta.url);
  const { NodeSDK } = require('@opentelemetry/sdk-node') as typeof Sdk;
  const { HttpInstrumentation } = require('@opentelemetry/instrumentation-http') as typeof Http;
  const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici') as typeof Undici;

  const sdk = new NodeSDK({
    serviceName: process.env['OTEL_SERVICE_NAME'] ?? appOf(process.argv[1] ?? ''),
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request) => request.url?.startsWith('/health') ?? false,
        requestHook: withoutIds,
      }),
      new UndiciInstrumentation({ requireParentforSpans: true, requestHook: hostAlone }),
    ],
  });
  sdk.start();
  stop = () => sdk.shutdown();
}

/** The app of this program: `apps/<app>/dist/main.js` when compiled, `dist/<app>/main.js` when bundled. */
function appOf(program: string): string {
  return basename(dirname(program.replace('/dist/main.js', '/main.js')));
}

/** A session's id or code gives access to its page, so addresses are recorded without their query and without ids. */
function withoutIds(span: Span, request: { url?: string | undefined; path?: string | undefined }): void {
  const path = (request.url ?? request.path ?? '').split('?', 1)[0]!;
  const words = path.split('/').map((word) => (word.length > MAX_WORD_LENGTH ? '{id}' : word));
  const shown = words.join('/');
  span.setAttributes({ 'url.path': shown, 'url.query': '', 'http.target': shown, 'http.url': '' });
}

/** A merchant's webhook address may contain a secret in any of its parts. */
function hostAlone(span: Span, { origin }: { origin: string | URL }): void {
  span.setAttributes({ 'url.full': String(origin), 'url.path': '', 'url.query': '' });
}

/** Sends the remaining data. An unavailable collector must not keep a process from ending. */
export async function stopTelemetry(): Promise<void> {
  await stop().catch(() => undefined);
}

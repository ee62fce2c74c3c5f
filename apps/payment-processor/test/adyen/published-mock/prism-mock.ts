import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CHECKOUT_DOCUMENT, type RecordedRequest } from '../adyen-documents.js';

/** Installed by `npm run adyen-mock-check`. */
export const PRISM = join(import.meta.dirname, '../../../../../tools/adyen-mock/node_modules/.bin/prism');
const LISTENING = /Prism is listening on (http:\/\/\S+)/;
/** The mock's header with the reasons why it rejected a request, and the field of its own error responses. */
const VIOLATIONS_HEADER = 'sl-violations';

export interface CheckedRequest extends RecordedRequest {
  /** The mock's reason to reject the request. Undefined if the mock accepted it. */
  readonly rejection: string | undefined;
}

/**
 * The mock server Prism, which knows Adyen only by its OpenAPI document of the Checkout API. It validates requests and
 * responds with examples, so the outcomes mean nothing. A recorder in front of it keeps each request with the mock's
 * verdict, because the adapter hides the response.
 */
export class PrismMock {
  readonly requests: CheckedRequest[] = [];
  /** Changes each request on its way to the mock. */
  tamper: (request: RecordedRequest) => RecordedRequest = (request) => request;
  /** Base URL of the recorder. */
  readonly url: string;

  private constructor(
    private readonly recorder: Server,
    private readonly prismUrl: string,
    private readonly endPrism: () => Promise<void>,
  ) {
    recorder.on('request', (request, response) => void this.forward(request, response));
    this.url = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
  }

  /** @throws Error if the program is missing or ends before it listens */
  static async start(program = PRISM): Promise<PrismMock> {
    const prism = spawn(program, ['mock', CHECKOUT_DOCUMENT, '--errors', '--host', '127.0.0.1', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const closed = once(prism, 'close');
    const lines: string[] = [];
    const { promise: listening, resolve, reject } = Promise.withResolvers<string>();
    prism.on('error', reject);
    closed.then(() => reject(new Error(`${program} has ended: ${lines.join('\n')}`)), reject);
    for (const input of [prism.stdout, prism.stderr])
      createInterface({ input }).on('line', (line) => {
        lines.push(line);
        const [, url] = LISTENING.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
    const prismUrl = await listening;
    const recorder = createServer().listen(0, '127.0.0.1');
    await once(recorder, 'listening');
    return new PrismMock(recorder, prismUrl, async () => {
      prism.kill();
      await closed;
    });
  }

  /** Sends a request to the mock. Returns the mock's reason to reject it, undefined if the mock accepted it. */
  async check(request: RecordedRequest): Promise<string | undefined> {
    return findRejection(await this.send(request));
  }

  async stop(): Promise<void> {
    this.recorder.closeAllConnections();
    this.recorder.close();
    await this.endPrism();
  }

  private async forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url, headers } = incoming;
    const body = (await incoming.toArray()).join('');
    const request = this.tamper({ method: method!, path: url!, headers, body });
    const response = await this.send(request);
    this.requests.push({ ...request, rejection: findRejection(response) });
    outgoing.writeHead(response.status, { 'content-type': 'application/json' }).end(response.text);
  }

  private async send({ method, path, headers, body }: RecordedRequest): Promise<MockResponse> {
    const names = ['content-type', 'x-api-key', 'idempotency-key'].filter((name) => name in headers);
    const response = await fetch(`${this.prismUrl}${path}`, {
      method,
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
      ...(body === '' ? {} : { body }),
    });
    const violations = response.headers.get(VIOLATIONS_HEADER);
    return { status: response.status, violations, text: await response.text() };
  }
}

export interface MockResponse {
  readonly status: number;
  /** The header with the reasons. Also an accepted request can have it. */
  readonly violations: string | null;
  readonly text: string;
}

/** A success without violations is an acceptance, and nothing else. */
export function findRejection({ status, violations, text }: MockResponse): string | undefined {
  if (status >= 200 && status < 300 && violations === null) return undefined;
  return `${status}: ${violations ?? text}`;
}

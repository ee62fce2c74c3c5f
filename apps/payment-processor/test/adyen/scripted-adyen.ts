import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AdyenAcquirer } from '../../src/acquirers/adyen/adyen-acquirer.js';
import type { AdyenSettings } from '../../src/acquirers/adyen/adyen-config.js';
import { findRequestProblems, type RecordedRequest } from './adyen-documents.js';

/** A response, or a function that handles the connection itself. */
export type ScriptedResponse =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | ((response: ServerResponse, request: IncomingMessage) => void);

export interface LogLine {
  readonly level: 'error' | 'info';
  readonly fields: object;
  readonly message: string;
}

const CALL_TIMEOUT_MS = 500;

/** An HTTP server that plays the next response of a script for each request. The last response is repeated. */
export class ScriptedAdyen {
  readonly requests: RecordedRequest[] = [];
  readonly logLines: LogLine[] = [];
  acquirer!: AdyenAcquirer;
  url!: string;
  private script: ScriptedResponse[] = [];
  private readonly server: Server = createServer((request, response) => void this.handle(request, response));

  static async start(settings: Partial<AdyenSettings> = {}): Promise<ScriptedAdyen> {
    const scripted = new ScriptedAdyen();
    await new Promise<void>((resolve) => scripted.server.listen(0, '127.0.0.1', resolve));
    scripted.url = `http://127.0.0.1:${(scripted.server.address() as AddressInfo).port}/v71`;
    scripted.acquirer = scripted.newAcquirer({ test: { ...SETTINGS, checkoutUrl: scripted.url, ...settings } });
    return scripted;
  }

  newAcquirer(settings: ConstructorParameters<typeof AdyenAcquirer>[0]): AdyenAcquirer {
    const writeLine =
      (level: LogLine['level']) =>
      (fields: object, message: string): void =>
        void this.logLines.push({ level, fields, message });
    const log = { error: writeLine('error'), info: writeLine('info') } as ConstructorParameters<
      typeof AdyenAcquirer
    >[1];
    return new AdyenAcquirer(settings, log, { callTimeoutMs: CALL_TIMEOUT_MS, firstRepeatMs: 1, maxConnections: 4 });
  }

  respondWith(...script: ScriptedResponse[]): void {
    this.script = script;
  }

  /** Forgets the recorded requests. Returns the reasons why they do not follow Adyen's document. */
  takeRequestProblems(): string[] {
    this.logLines.splice(0);
    return this.requests.splice(0).flatMap(findRequestProblems);
  }

  /** The parsed body of the only request. */
  get onlyBody(): Record<string, unknown> {
    if (this.requests.length !== 1) throw new Error(`There were ${this.requests.length} requests.`);
    return JSON.parse(this.requests[0]!.body) as Record<string, unknown>;
  }

  /** Further connections are refused. */
  stopListening(): void {
    if (this.server.listening) this.server.close();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await this.acquirer.onApplicationShutdown();
    this.stopListening();
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('');
    const path = request.url!.replace(/^\/v71/, '');
    this.requests.push({ method: request.method!, path, headers: request.headers, body });
    const scripted = this.script.length > 1 ? this.script.shift()! : this.script[0]!;
    if (typeof scripted === 'function') return scripted(response, request);
    const { status = 200, headers = {}, body: json } = scripted;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(json === undefined ? '' : typeof json === 'string' ? json : JSON.stringify(json));
  }
}

export const SETTINGS: AdyenSettings = {
  apiKey: 'test-api-key-0001',
  hmacKeys: ['44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056'],
  webhookUser: 'adyen',
  webhookPassword: 'webhook-password-1',
  reportUser: 'report@Company.Example',
  reportPassword: 'report-password-01',
  checkoutUrl: 'https://checkout-test.adyen.com/v71',
  vaultAccount: 'ExampleVault',
};

/** The response is lost: the connection breaks after the request has arrived. */
export const LOST: ScriptedResponse = (_response, request) => void request.socket.destroy();
/** No response arrives. */
export const SILENT: ScriptedResponse = () => undefined;
export const IN_PROGRESS: ScriptedResponse = {
  status: 422,
  headers: { 'transient-error': 'true' },
  body: { status: 422, errorCode: '704', message: 'request already processed or in progress', errorType: 'validation' },
};
export const TRANSIENT: ScriptedResponse = {
  status: 500,
  headers: { 'transient-error': 'true' },
  body: { status: 500, errorCode: '905', message: 'No connection available', errorType: 'internal' },
};
export const errorResponse = (status: number, errorCode: string, errorType = 'validation'): ScriptedResponse => ({
  status,
  body: { status, errorCode, errorType, message: 'The value 4111111111111111 is not valid: 2030, 737' },
});

import type { Mode } from '@svc/contracts';
import { type AddressPolicy, AddressRefusedError, checkUrl, guardedConnector } from '@svc/outbound';
import { Agent, type Dispatcher } from 'undici';
import type { CodeFragments } from './code-format.js';
import { type CodeProvider, type ProviderResult, ProviderUnavailableError } from './code-provider.js';
import { parseDecodeResponse } from './parse-decode-response.js';
import type { ProviderSettings } from './provider-settings.js';

/** Limit for a response; 500 line items of maximum length are smaller. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
/** Concurrent requests to one provider; further requests wait, within their deadlines. */
const MAX_CONNECTIONS = 20;

/**
 * Queries a provider over HTTP: `GET <baseUrl>/codes/<code as base64url>` returns the response of the
 * specification, 404 for an unknown code, or 410 for an expired one. Its address is checked like a
 * merchant's (E7), so that the configuration cannot point this service at hosts of an internal network.
 */
export class HttpCodeProvider implements CodeProvider {
  readonly name: string;
  readonly mode: Mode;
  readonly fragments: CodeFragments;
  readonly verifiesUnknown: boolean;
  private readonly agent: Agent;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly policy: AddressPolicy,
  ) {
    this.name = settings.name;
    this.mode = settings.mode;
    this.fragments = { hosts: settings.hosts, shortLinks: settings.shortLinks };
    this.verifiesUnknown = settings.verifiesUnknown;
    this.agent = new Agent({
      connect: guardedConnector({ policy, connectTimeoutMs: settings.timeoutMs }),
      connections: MAX_CONNECTIONS,
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: MAX_RESPONSE_HEADER_BYTES,
    });
  }

  async find(code: string): Promise<ProviderResult> {
    const { url, refused } = checkUrl(`${this.settings.baseUrl}/codes/${toBase64Url(code)}`, this.policy);
    if (refused) throw new ProviderUnavailableError(this.name, `its address is not allowed (${refused})`);
    // Covers the whole request: DNS look-up, the wait for a connection, and reading the response.
    const signal = AbortSignal.timeout(this.settings.timeoutMs);
    try {
      const answer = await this.agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'GET',
        headers: { accept: 'application/json', authorization: `Bearer ${this.settings.apiKey}` },
        signal,
      });
      return await this.read(answer);
    } catch (error) {
      if (error instanceof ProviderUnavailableError) throw error;
      throw new ProviderUnavailableError(this.name, signal.aborted ? 'no response in time' : reasonOf(error), error);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async read({ statusCode, body }: Dispatcher.ResponseData): Promise<ProviderResult> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Also read the body of a 404: otherwise the connection cannot be reused.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the body and its connection.
      if (bytes > MAX_RESPONSE_BYTES) throw new ProviderUnavailableError(this.name, 'the response is too large');
      chunks.push(chunk);
    }
    if (statusCode === 404) return { kind: 'unknown' };
    if (statusCode === 410) return { kind: 'expired' };
    if (statusCode !== 200) throw new ProviderUnavailableError(this.name, `the response status is ${statusCode}`);
    return { kind: 'known', decoded: parseDecodeResponse(JSON.parse(Buffer.concat(chunks).toString('utf8'))) };
  }
}

function toBase64Url(code: string): string {
  return Buffer.from(code, 'utf8').toString('base64url');
}

function reasonOf(error: unknown): string {
  if (error instanceof AddressRefusedError) return `its address is not allowed (${error.refusal})`;
  if (error instanceof SyntaxError) return 'the response is not JSON';
  return error instanceof Error && error.name === 'InvalidResponseError' ? error.message : 'the connection failed';
}

import type { Mode } from '@svc/contracts';
import { type AddressPolicy, AddressRefusedError, checkUrl, guardedConnector } from '@svc/outbound';
import { Agent, type Dispatcher } from 'undici';
import type { CodeFragments } from './code-format.js';
import { type CodeProvider, type ProviderResult, ProviderUnavailableError } from './code-provider.js';
import { parseDecodeResponse } from './parse-decode-response.js';
import type { ProviderSettings } from './provider-settings.js';

/** Limit for the size of a response. A response with 500 line items of maximum length is below this limit. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_RESPONSE_HEADER_BYTES = 16 * 1024;
/** Limit of concurrent requests to one provider. Further requests wait, at most until their timeout. */
const MAX_CONNECTIONS = 20;

/**
 * Queries a provider over HTTP: `GET <baseUrl>/codes/<code as base64url>`. The provider responds with the decoded code
 * in the format of the specification, with 404 for an unknown code, or with 410 for an expired code. The address of the
 * provider is checked like the webhook address of a merchant (E7), so that this service cannot be configured to send
 * requests to hosts of an internal network.
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
    // The timeout includes the DNS look-up, the wait for a connection, and reading the response.
    const signal = AbortSignal.timeout(this.settings.timeoutMs);
    try {
      const response = await this.agent.request({
        origin: url.origin,
        path: url.pathname,
        method: 'GET',
        headers: { accept: 'application/json', authorization: `Bearer ${this.settings.apiKey}` },
        signal,
      });
      return await this.readResult(response);
    } catch (error) {
      if (error instanceof ProviderUnavailableError) throw error;
      throw new ProviderUnavailableError(
        this.name,
        signal.aborted ? 'no response in time' : describeFailure(error),
        error,
      );
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async readResult({ statusCode, body }: Dispatcher.ResponseData): Promise<ProviderResult> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // The body of a 404 is read too, because otherwise the connection could not be reused.
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

function describeFailure(error: unknown): string {
  if (error instanceof AddressRefusedError) return `its address is not allowed (${error.refusal})`;
  if (error instanceof SyntaxError) return 'the response is not JSON';
  return error instanceof Error && error.name === 'InvalidResponseError' ? error.message : 'the connection failed';
}

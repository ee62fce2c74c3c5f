import type { Mode } from '@svc/contracts';
import {
  type AddressPolicy,
  AddressRefusedError,
  checkUrl,
  ConnectTimeoutError,
  HttpClient,
  type OutboundResponse,
  RequestTimeoutError,
  ResponseTooLargeError,
} from '@svc/outbound';
import type { CodeFragments } from './code-format.js';
import { type CodeProvider, type ProviderResult, ProviderUnavailableError } from './code-provider.js';
import { InvalidResponseError, parseDecodeResponse } from './parse-decode-response.js';
import type { ProviderSettings } from './provider-settings.js';

/** Limit for the size of a response. A response with 500 line items of maximum length is below this limit. */
const MAX_RESPONSE_BYTES = 1024 * 1024;
/** Limit of concurrent requests to one provider. Further requests wait, at most until their timeout. */
const MAX_CONNECTIONS = 20;
const KEEP_ALIVE_MS = 4_000;

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
  private readonly client: HttpClient;

  constructor(
    private readonly settings: ProviderSettings,
    private readonly policy: AddressPolicy,
  ) {
    this.name = settings.name;
    this.mode = settings.mode;
    this.fragments = { hosts: settings.hosts, shortLinks: settings.shortLinks };
    this.verifiesUnknown = settings.verifiesUnknown;
    this.client = new HttpClient({
      policy,
      connectTimeoutMs: settings.timeoutMs,
      maxConnectionsPerOrigin: MAX_CONNECTIONS,
      keepAliveMs: KEEP_ALIVE_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
  }

  async find(code: string): Promise<ProviderResult> {
    const urlText = `${this.settings.baseUrl}/codes/${toBase64Url(code)}`;
    const { url, refused } = checkUrl(urlText, this.policy);
    if (refused) throw new ProviderUnavailableError(this.name, `its address is not allowed (${refused})`);
    try {
      const response = await this.client.call({
        method: 'GET',
        url,
        urlText,
        headers: { accept: 'application/json', authorization: `Bearer ${this.settings.apiKey}` },
        timeoutMs: this.settings.timeoutMs,
      });
      return this.readResult(response);
    } catch (error) {
      if (error instanceof ProviderUnavailableError) throw error;
      throw new ProviderUnavailableError(this.name, describeFailure(error), error);
    }
  }

  close(): Promise<void> {
    this.client.destroy();
    return Promise.resolve();
  }

  private readResult({ statusCode, body, bodyError }: OutboundResponse): ProviderResult {
    if (bodyError !== undefined) throw bodyError;
    if (statusCode === 404) return { kind: 'unknown' };
    if (statusCode === 410) return { kind: 'expired' };
    if (statusCode !== 200) throw new ProviderUnavailableError(this.name, `the response status is ${statusCode}`);
    return { kind: 'known', decoded: parseDecodeResponse(JSON.parse(body.toString('utf8'))) };
  }
}

function toBase64Url(code: string): string {
  return Buffer.from(code, 'utf8').toString('base64url');
}

function describeFailure(error: unknown): string {
  if (error instanceof RequestTimeoutError || error instanceof ConnectTimeoutError) return 'no response in time';
  if (error instanceof ResponseTooLargeError) return 'the response is too large';
  if (error instanceof AddressRefusedError) return `its address is not allowed (${error.refusal})`;
  if (error instanceof SyntaxError) return 'the response is not JSON';
  return error instanceof InvalidResponseError ? error.message : 'the connection failed';
}

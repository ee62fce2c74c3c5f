import type { Mode } from '@svc/contracts';
import { type AddressPolicy, AddressRefused, checkUrl, guardedConnector } from '@svc/outbound';
import { Agent, type Dispatcher } from 'undici';
import type { CodeFragments } from './support-test.js';
import { type CodeProvider, type ProviderAnswer, ProviderUnavailable } from './code-provider.js';
import type { ProviderSettings } from './provider-settings.js';
import { readDecoded } from './read-decoded.js';

/** At most this much of an answer is read; 500 line items of the longest take less. */
const ANSWER_BYTES_MAX = 1024 * 1024;
const ANSWER_HEADER_BYTES_MAX = 16 * 1024;
/** Questions to one provider at once; what comes beyond waits within its own deadline. */
const CONNECTIONS_MAX = 20;

/**
 * Asks a provider over HTTP: `GET <baseUrl>/codes/<code as base64url>` is answered with the response of the
 * specification, 404 for a code that it does not know, or 410 for one that has expired. Its address is checked like a
 * merchant's (E7): whoever may write the configuration still cannot point this service at the inside of a network.
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
      connections: CONNECTIONS_MAX,
      allowH2: false,
      pipelining: 1,
      maxHeaderSize: ANSWER_HEADER_BYTES_MAX,
    });
  }

  async find(code: string): Promise<ProviderAnswer> {
    const { url, refused } = checkUrl(`${this.settings.baseUrl}/codes/${toBase64Url(code)}`, this.policy);
    if (refused) throw new ProviderUnavailable(this.name, `its address is refused (${refused})`);
    // From begin to end: name look-up, the wait for a connection, the reading of the answer.
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
      if (error instanceof ProviderUnavailable) throw error;
      throw new ProviderUnavailable(this.name, signal.aborted ? 'no answer in time' : reasonOf(error), error);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async read({ statusCode, body }: Dispatcher.ResponseData): Promise<ProviderAnswer> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    // Also of a 404: a connection whose answer was not read cannot be used again.
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // Leaving the loop destroys the body, and its connection with it.
      if (bytes > ANSWER_BYTES_MAX) throw new ProviderUnavailable(this.name, 'its answer is too large');
      chunks.push(chunk);
    }
    if (statusCode === 404) return { kind: 'unknown' };
    if (statusCode === 410) return { kind: 'expired' };
    if (statusCode !== 200) throw new ProviderUnavailable(this.name, `it answered ${statusCode}`);
    return { kind: 'known', decoded: readDecoded(JSON.parse(Buffer.concat(chunks).toString('utf8'))) };
  }
}

function toBase64Url(code: string): string {
  return Buffer.from(code, 'utf8').toString('base64url');
}

function reasonOf(error: unknown): string {
  if (error instanceof AddressRefused) return `its address is refused (${error.refusal})`;
  if (error instanceof SyntaxError) return 'its answer is not JSON';
  return error instanceof Error && error.name === 'UnreadableAnswer' ? error.message : 'the connection failed';
}

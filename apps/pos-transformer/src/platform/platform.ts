import { Inject, Injectable } from '@nestjs/common';
import { MerchantClient, type MerchantSite } from '@svc/sdk';
import { PlatformClock } from '../clock/platform-clock.js';
import { type SiteSettings, TransformerSettings } from '../settings.js';

/** Timeout of one attempt of a call that a till waits for. With retries, the SDK takes at most three times as long. */
const CALL_TIMEOUT_MS = 5_000;
/** Timeout of one attempt to refund. It is longer than the 20 s within which the platform responds (M5). */
const REFUND_TIMEOUT_MS = 30_000;

interface PlatformSite {
  readonly settings: SiteSettings;
  readonly site: MerchantSite;
  readonly client: MerchantClient;
  readonly refundClient: MerchantClient;
  /**
   * When the last bytes of the event stream arrived, including heartbeats, by the monotonic clock. -Infinity if no
   * stream is open.
   */
  lastStreamActivityMs: number;
}

const NO_STREAM = Number.NEGATIVE_INFINITY;
/** Content types of the platform. A page of a proxy has another one, and its time may be wrong. */
const PLATFORM_CONTENT_TYPE = /^(application\/(problem\+)?json|text\/event-stream)\b/;

/** Clients for the platform's public API, with the key of each configured site. */
@Injectable()
export class Platform {
  private readonly sites: ReadonlyMap<number, PlatformSite>;
  /** Idempotency-Keys of the requests that may have reached the platform. */
  private readonly sentKeys = new Set<string>();
  private timeRequest: Promise<void> | undefined;

  constructor(
    @Inject(TransformerSettings) private readonly settings: TransformerSettings,
    @Inject(PlatformClock) private readonly clock: PlatformClock,
  ) {
    this.sites = new Map(
      settings.sites.map((site) => {
        const { siteId, apiKey } = site;
        const options = { apiUrl: settings.apiUrl, merchantId: settings.merchantId, apiKey };
        const monitoredFetch: typeof fetch = async (url, init) => {
          try {
            const response = await this.fetch(url, init);
            this.recordSent(init);
            return this.monitor(siteId, response);
          } catch (error) {
            if (!isConnectFailure(error)) this.recordSent(init);
            throw error;
          }
        };
        const client = new MerchantClient({ ...options, timeoutMs: CALL_TIMEOUT_MS, fetch: monitoredFetch });
        const refundClient = new MerchantClient({
          ...options,
          timeoutMs: REFUND_TIMEOUT_MS,
          fetch: (url, init) => this.fetch(url, init),
        });
        return [
          siteId,
          {
            settings: site,
            client,
            refundClient,
            site: client.site(siteId),
            lastStreamActivityMs: NO_STREAM,
          },
        ];
      }),
    );
  }

  get siteIds(): readonly number[] {
    return [...this.sites.keys()];
  }

  site(siteId: number): MerchantSite {
    return this.getSite(siteId).site;
  }

  refundClient(siteId: number): MerchantClient {
    return this.getSite(siteId).refundClient;
  }

  siteSettings(siteId: number): SiteSettings {
    return this.getSite(siteId).settings;
  }

  /** Milliseconds since the last bytes from the event stream of the site. */
  streamIdleMs(siteId: number): number {
    return this.clock.monotonicMs() - this.getSite(siteId).lastStreamActivityMs;
  }

  /** Treats the stream as silent, because it is interrupted or its messages cannot be processed. */
  markStreamFailed(siteId: number): void {
    this.getSite(siteId).lastStreamActivityMs = NO_STREAM;
  }

  /**
   * Requests the platform's time if no response of this run has shown it yet (T14). Any response is enough, so the path
   * does not matter.
   *
   * @throws Error if there is no response
   */
  async learnTime(): Promise<void> {
    if (this.clock.isPlatformTimeKnown) return;
    this.timeRequest ??= this.requestTime().finally(() => (this.timeRequest = undefined));
    await this.timeRequest;
  }

  private async requestTime(): Promise<void> {
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const response = await this.fetch(`${this.settings.apiUrl}/health/live`, { redirect: 'manual', signal });
    await response.body?.cancel();
  }

  /** Calls the platform, and corrects the clock by the time of its response. */
  private async fetch(...request: Parameters<typeof fetch>): Promise<Response> {
    const sentAtMs = this.clock.monotonicMs();
    const response = await fetch(...request);
    const { headers } = response;
    const dateMs = Date.parse(String(headers.get('date')));
    // A cache adds the header Age to a response, whose Date is old.
    if (!Number.isNaN(dateMs) && PLATFORM_CONTENT_TYPE.test(String(headers.get('content-type'))) && !headers.has('age'))
      this.clock.correct(dateMs, sentAtMs);
    return response;
  }

  /**
   * Whether a request with this key may have reached the platform since the last call of this method: an attempt had a
   * connection.
   */
  takeSent(idempotencyKey: string): boolean {
    return this.sentKeys.delete(idempotencyKey);
  }

  private recordSent(init: RequestInit | undefined): void {
    const key = new Headers(init?.headers).get('idempotency-key');
    if (key !== null) this.sentKeys.add(key);
  }

  private getSite(siteId: number): PlatformSite {
    const found = this.sites.get(siteId);
    if (!found) throw new Error(`Site ${siteId} is not configured`);
    return found;
  }

  /** Records when bytes of an event stream arrive, because a proxy may block a stream but leave its connection open. */
  private monitor(siteId: number, response: Response): Response {
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const site = this.getSite(siteId);
    const recordActivity = (): void => void (site.lastStreamActivityMs = this.clock.monotonicMs());
    recordActivity();
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          recordActivity();
          controller.enqueue(chunk);
        },
        flush: () => void (site.lastStreamActivityMs = NO_STREAM),
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

const CONNECT_FAILURES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Whether `fetch` has failed before it had a connection, so that the request was certainly not sent. */
function isConnectFailure(error: unknown): boolean {
  return CONNECT_FAILURES.has(((error as Error).cause as { code?: unknown } | undefined)?.code);
}

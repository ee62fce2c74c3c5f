import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { MerchantClient, type MerchantSite } from '@svc/sdk';
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
   * Time when the last bytes of the event stream arrived, including heartbeats; 0 if no stream is open. Unix time in
   * ms.
   */
  lastStreamActivityAt: number;
  /**
   * The platform's clock minus the store's clock in milliseconds, from the Date header of the newest response.
   */
  clockOffsetMs: number;
}

/** Clients for the platform's public API, with the key of each configured site. */
@Injectable()
export class Platform {
  private readonly sites: ReadonlyMap<number, PlatformSite>;
  /** Idempotency-Keys of the requests that may have reached the platform. */
  private readonly sentKeys = new Set<string>();

  constructor(
    @Inject(TransformerSettings) settings: TransformerSettings,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.sites = new Map(
      settings.sites.map((site) => {
        const { siteId, apiKey } = site;
        const options = { apiUrl: settings.apiUrl, merchantId: settings.merchantId, apiKey };
        const monitoredFetch: typeof fetch = async (url, init) => {
          try {
            const response = await fetch(url, init);
            this.recordSent(init);
            return this.monitor(siteId, response);
          } catch (error) {
            if (!isConnectFailure(error)) this.recordSent(init);
            throw error;
          }
        };
        const client = new MerchantClient({ ...options, timeoutMs: CALL_TIMEOUT_MS, fetch: monitoredFetch });
        const refundClient = new MerchantClient({ ...options, timeoutMs: REFUND_TIMEOUT_MS });
        return [
          siteId,
          {
            settings: site,
            client,
            refundClient,
            site: client.site(siteId),
            lastStreamActivityAt: 0,
            clockOffsetMs: 0,
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
    return this.clock.now().getTime() - this.getSite(siteId).lastStreamActivityAt;
  }

  /** Treats the stream as silent, because it is interrupted or its messages cannot be processed. */
  markStreamFailed(siteId: number): void {
    this.getSite(siteId).lastStreamActivityAt = 0;
  }

  /** Converts a time of the platform's clock to the store's clock, which may be wrong by hours. ISO 8601. */
  localTime(siteId: number, utcDate: string): string {
    return new Date(Date.parse(utcDate) - this.getSite(siteId).clockOffsetMs).toISOString();
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

  /**
   * Records the offset of the platform's clock, and when bytes of an event stream arrive. The arrival times are needed
   * because a proxy may block a stream but leave its connection open.
   */
  private monitor(siteId: number, response: Response): Response {
    const date = Date.parse(String(response.headers.get('date')));
    if (!Number.isNaN(date)) this.getSite(siteId).clockOffsetMs = date - this.clock.now().getTime();
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const site = this.getSite(siteId);
    const recordActivity = (): void => void (site.lastStreamActivityAt = this.clock.now().getTime());
    recordActivity();
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          recordActivity();
          controller.enqueue(chunk);
        },
        flush: () => void (site.lastStreamActivityAt = 0),
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

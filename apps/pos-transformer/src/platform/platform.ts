import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '@svc/kernel';
import { MerchantClient, type MerchantSite } from '@svc/sdk';
import { type SiteSettings, TransformerSettings } from '../settings.js';

/** For a call that a till waits for; the SDK takes at most three times as long. */
const CALL_TIMEOUT_MS = 5_000;
/** The platform answers a refund within 20 s (M5). */
const REFUND_TIMEOUT_MS = 30_000;

interface PlatformSite {
  readonly settings: SiteSettings;
  readonly site: MerchantSite;
  readonly client: MerchantClient;
  readonly refunds: MerchantClient;
  /** When the stream's connection last brought anything, a comment included; 0 before. */
  streamHeardAt: number;
  /** Milliseconds by which the platform's clock is ahead of the store's, by its newest answer. */
  aheadMs: number;
}

/** The platform, as each configured site reaches it: through its public API with the site's key, and in no other way. */
@Injectable()
export class Platform {
  private readonly sites: ReadonlyMap<number, PlatformSite>;

  constructor(
    @Inject(TransformerSettings) settings: TransformerSettings,
    @Inject(Clock) private readonly clock: Clock,
  ) {
    this.sites = new Map(
      settings.sites.map((site) => {
        const { siteId, apiKey } = site;
        const options = { apiUrl: settings.apiUrl, merchantId: settings.merchantId, apiKey };
        const fetchAndListen: typeof fetch = async (url, init) => this.listen(siteId, await fetch(url, init));
        const client = new MerchantClient({ ...options, timeoutMs: CALL_TIMEOUT_MS, fetch: fetchAndListen });
        const refunds = new MerchantClient({ ...options, timeoutMs: REFUND_TIMEOUT_MS });
        return [siteId, { settings: site, client, refunds, site: client.site(siteId), streamHeardAt: 0, aheadMs: 0 }];
      }),
    );
  }

  get siteIds(): readonly number[] {
    return [...this.sites.keys()];
  }

  site(siteId: number): MerchantSite {
    return this.of(siteId).site;
  }

  refunds(siteId: number): MerchantClient {
    return this.of(siteId).refunds;
  }

  settingsOf(siteId: number): SiteSettings {
    return this.of(siteId).settings;
  }

  /** Milliseconds since the stream of the site brought anything. */
  streamSilentMs(siteId: number): number {
    return this.clock.now().getTime() - this.of(siteId).streamHeardAt;
  }

  /** A stream whose messages cannot be taken is as good as silent, although it has just spoken. */
  streamFailed(siteId: number): void {
    this.of(siteId).streamHeardAt = 0;
  }

  /** A time of the platform as the clock of the store shows it, ISO 8601: that clock may be hours wrong. */
  localTime(siteId: number, utcDate: string): string {
    return new Date(Date.parse(utcDate) - this.of(siteId).aheadMs).toISOString();
  }

  private of(siteId: number): PlatformSite {
    const found = this.sites.get(siteId);
    if (!found) throw new Error(`Site ${siteId} is not configured`);
    return found;
  }

  /** A proxy that cuts streams may leave the connection open: only what arrives shows that the stream works. */
  private listen(siteId: number, response: Response): Response {
    const date = Date.parse(String(response.headers.get('date')));
    if (!Number.isNaN(date)) this.of(siteId).aheadMs = date - this.clock.now().getTime();
    if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const site = this.of(siteId);
    const heard = (): void => void (site.streamHeardAt = this.clock.now().getTime());
    heard();
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          heard();
          controller.enqueue(chunk);
        },
        flush: () => void (site.streamHeardAt = 0),
      }),
    );
    return new Response(body, { status: response.status, headers: response.headers });
  }
}

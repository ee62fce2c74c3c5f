import { type Mode, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { DomainError, invalidField, type MerchantUrlRules } from '@svc/kernel';
import type { NewEvent } from '@svc/messaging';
import { calledUrlProblem } from '@svc/outbound';
import { canonicalHost } from './allowed-host.js';

/** Settings of a site that an administrator can change. */
export interface SiteSettings {
  readonly name: string;
  readonly siteReference: string;
  readonly requireApiKey: boolean;
  /** In the format of {@link canonicalHost}, without duplicates. */
  readonly allowedHosts: string[];
  /** Mode of requests without a key. */
  readonly keylessMode: Mode;
  /**
   * The URL that receives a notification of every final payment and every refund of the site (M6). Null if no URL is
   * set.
   */
  readonly webhookUrl: string | null;
  readonly webhookEnabled: boolean;
  /** Payers always solve a challenge before they pay, not only while stolen cards are tested at the site. */
  readonly challengePayers: boolean;
}

/** A site in the administration API. */
export interface SiteView extends SiteSettings {
  readonly siteId: number;
}

/**
 * Returns the settings in their stored format. Throws if requireApiKey is false and there is no allowed host, because
 * sessions of such a site could send payers and notifications to any host (A8). Also throws for an invalid webhookUrl.
 */
export function normaliseSiteSettings(requested: SiteSettings, urlRules: MerchantUrlRules): SiteSettings {
  const { name, siteReference, requireApiKey, keylessMode, webhookUrl, webhookEnabled, challengePayers } = requested;
  const allowedHosts = [...new Set(requested.allowedHosts.map((host) => canonicalHost(host) ?? throwInvalidHost()))];
  if (!requireApiKey && allowedHosts.length === 0) {
    throw invalidField('allowedHosts', 'allowedHosts must not be empty when requireApiKey is false');
  }
  if (webhookEnabled && webhookUrl === null) {
    throw invalidField('webhookUrl', 'webhookUrl must be set when webhookEnabled is true');
  }
  const problem = webhookUrl === null ? undefined : calledUrlProblem('webhookUrl', webhookUrl, urlRules);
  if (problem) throw new DomainError('request.invalid', { fields: [problem] });
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode, webhookUrl, webhookEnabled, challengePayers };
}

/** Returns the rules for the webhookUrl of a site. The notificationUrl of a session has the same rules. */
export function webhookUrlRules({ SVC_ENVIRONMENT }: { readonly SVC_ENVIRONMENT: string }): MerchantUrlRules {
  return { allowLoopbackHttp: SVC_ENVIRONMENT === 'development' };
}

/** Copies only the settings of a site. */
export function pickSettings(site: SiteSettings): SiteSettings {
  const { name, siteReference, requireApiKey, allowedHosts, keylessMode } = site;
  const { webhookUrl, webhookEnabled, challengePayers } = site;
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode, webhookUrl, webhookEnabled, challengePayers };
}

export function toSiteView(site: SiteView): SiteView {
  return { siteId: site.siteId, ...pickSettings(site) };
}

/** The event for other services. */
export function siteChanged(
  merchant: { merchantId: number; name: string },
  site: SiteView & { version: number },
): NewEvent<SiteChanged> {
  const { webhookUrl, ...settings } = toSiteView(site);
  const payload = {
    merchantId: merchant.merchantId,
    merchantName: merchant.name,
    ...settings,
    ...(webhookUrl === null ? {} : { webhookUrl }),
  };
  return { type: SiteChangedV1, aggregateId: String(site.siteId), aggregateVersion: site.version, payload };
}

function throwInvalidHost(): never {
  throw invalidField('allowedHosts', 'allowedHosts must be a list of host names or IP addresses, without port');
}

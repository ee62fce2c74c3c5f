import { type Mode, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { DomainError, invalidField, type MerchantUrlRules } from '@svc/kernel';
import { calledUrlProblem } from '@svc/outbound';
import type { NewEvent } from '@svc/messaging';
import { canonicalHost } from './allowed-host.js';

/** What an administrator decides about a site. */
export interface SiteSettings {
  readonly name: string;
  readonly siteReference: string;
  readonly requireApiKey: boolean;
  /** As {@link canonicalHost} writes them, none twice. */
  readonly allowedHosts: string[];
  /** Mode of what is made without a key. */
  readonly keylessMode: Mode;
  /** Receives a notification of every final payment and every refund of the site (M6); null: no address is set. */
  readonly webhookUrl: string | null;
  readonly webhookEnabled: boolean;
}

/** A site as the administration API shows it. */
export interface SiteView extends SiteSettings {
  readonly siteId: number;
}

/**
 * Settings as they are kept. Refuses a site that would let anybody send payers and notifications anywhere (A8), and a
 * webhook that no notification could be sent to.
 */
export function settleSettings(given: SiteSettings, urlRules: MerchantUrlRules): SiteSettings {
  const { name, siteReference, requireApiKey, keylessMode, webhookUrl, webhookEnabled } = given;
  const allowedHosts = [...new Set(given.allowedHosts.map((host) => canonicalHost(host) ?? refuseHost()))];
  if (!requireApiKey && allowedHosts.length === 0) {
    throw invalidField('allowedHosts', 'allowedHosts must not be empty when requireApiKey is false');
  }
  if (webhookEnabled && webhookUrl === null) {
    throw invalidField('webhookUrl', 'webhookUrl must be set when webhookEnabled is true');
  }
  const problem = webhookUrl === null ? undefined : calledUrlProblem('webhookUrl', webhookUrl, urlRules);
  if (problem) throw new DomainError('request.invalid', { fields: [problem] });
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode, webhookUrl, webhookEnabled };
}

/** A webhook follows the rules of a session's notificationUrl. */
export function urlRulesOf({ SVC_ENVIRONMENT }: { readonly SVC_ENVIRONMENT: string }): MerchantUrlRules {
  return { allowLoopbackHttp: SVC_ENVIRONMENT === 'development' };
}

/** The settings alone. */
export function settingsOf(site: SiteSettings): SiteSettings {
  const { name, siteReference, requireApiKey, allowedHosts, keylessMode, webhookUrl, webhookEnabled } = site;
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode, webhookUrl, webhookEnabled };
}

export function showSite(site: SiteView): SiteView {
  return { siteId: site.siteId, ...settingsOf(site) };
}

/** What other services are told of a site. */
export function siteChanged(
  merchant: { merchantId: number; name: string },
  site: SiteView & { version: number },
): NewEvent<SiteChanged> {
  const { webhookUrl, ...settings } = showSite(site);
  const payload = {
    merchantId: merchant.merchantId,
    merchantName: merchant.name,
    ...settings,
    ...(webhookUrl === null ? {} : { webhookUrl }),
  };
  return { type: SiteChangedV1, aggregateId: String(site.siteId), aggregateVersion: site.version, payload };
}

function refuseHost(): never {
  throw invalidField('allowedHosts', 'allowedHosts must be a list of host names or IP addresses, without port');
}

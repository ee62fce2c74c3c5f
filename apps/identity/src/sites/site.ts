import { type Mode, type SiteChanged, SiteChangedV1 } from '@svc/contracts';
import { invalidField } from '@svc/kernel';
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
}

/** A site as the administration API shows it. */
export interface SiteView extends SiteSettings {
  readonly siteId: number;
}

/** Settings as they are kept. Refuses a site that would let anybody send payers and notifications anywhere (A8). */
export function settleSettings(given: SiteSettings): SiteSettings {
  const { name, siteReference, requireApiKey, keylessMode } = given;
  const allowedHosts = [...new Set(given.allowedHosts.map((host) => canonicalHost(host) ?? refuseHost()))];
  if (!requireApiKey && allowedHosts.length === 0) {
    throw invalidField('allowedHosts', 'allowedHosts must not be empty when requireApiKey is false');
  }
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode };
}

/** The settings alone. */
export function settingsOf(site: SiteSettings): SiteSettings {
  const { name, siteReference, requireApiKey, allowedHosts, keylessMode } = site;
  return { name, siteReference, requireApiKey, allowedHosts, keylessMode };
}

export function showSite(site: SiteView): SiteView {
  return { siteId: site.siteId, ...settingsOf(site) };
}

/** What other services are told of a site. */
export function siteChanged(
  merchant: { merchantId: number; name: string },
  site: SiteView & { version: number },
): NewEvent<SiteChanged> {
  const payload = { merchantId: merchant.merchantId, merchantName: merchant.name, ...showSite(site) };
  return { type: SiteChangedV1, aggregateId: String(site.siteId), aggregateVersion: site.version, payload };
}

function refuseHost(): never {
  throw invalidField('allowedHosts', 'allowedHosts must be a list of host names or IP addresses, without port');
}

import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { changeTimeZone, Clock, invalidField } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { changedSettings } from '../changed-settings.js';
import { findOrganisations } from '../organisations/organisation.repository.js';
import { siteChanged } from '../sites/site.js';
import { incrementSiteVersions } from '../sites/site.repository.js';
import { type Merchant, merchantChanged, type MerchantSettings, normaliseMerchantSettings } from './merchant.js';
import { lockMerchant, updateMerchant } from './merchant.repository.js';
import type { ChangeMerchantRequest } from './merchant.requests.js';

/**
 * Changes settings of a merchant and publishes them. Does nothing if no setting has a new value. When the name changes,
 * publishes all sites of the merchant again, because the events of sites contain the name of their merchant.
 */
@Injectable()
export class ChangeMerchant {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `resource.not-found`, and `request.invalid` for a grant to an unknown organisation. */
  execute(author: ChangeAuthor, merchantId: number, request: ChangeMerchantRequest): Promise<Merchant> {
    const { timeZone, ...changes } = request;
    return inTransaction(this.dataSource, async (tx) => {
      const before = await lockMerchant(tx, merchantId);
      const zones =
        timeZone === undefined ? {} : { timeZones: changeTimeZone(before.timeZones, timeZone, this.clock.now()) };
      const settings = normaliseMerchantSettings({ ...before, ...changes, ...zones });
      // The stored settings are normalised too, because jsonb does not keep the order of members.
      const changed = changedSettings(normaliseMerchantSettings(before), settings);
      if (!changed) return before;
      if (changed.after.grants) await rejectUnknownOrganisations(tx, settings);

      const merchant = { ...before, ...settings, version: before.version + 1 };
      await updateMerchant(tx, merchantId, { ...settings, version: merchant.version });
      await this.events.append(tx, merchantChanged(merchant));
      const isRenamed = changed.after.name !== undefined;
      const sites = isRenamed ? await incrementSiteVersions(tx, merchantId) : [];
      await this.events.append(tx, ...sites.map((site) => siteChanged(merchant, site)));
      const action = isRenamed && Object.keys(changed.after).length === 1 ? 'merchant.renamed' : 'merchant.changed';
      await this.auditLog.append(tx, author, { action, merchantId, ...changed });
      return merchant;
    });
  }
}

async function rejectUnknownOrganisations(tx: EntityManager, { grants }: MerchantSettings): Promise<void> {
  const ids = grants.map(({ organisationId }) => organisationId);
  const knownIds = new Set((await findOrganisations(tx, ids)).map(({ organisationId }) => organisationId));
  const unknownId = ids.find((id) => !knownIds.has(id));
  if (unknownId !== undefined) throw invalidField('grants', `grants names ${unknownId}, which is no organisation`);
}

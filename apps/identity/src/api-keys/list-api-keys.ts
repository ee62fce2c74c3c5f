import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { getMerchant } from '../merchants/merchant.repository.js';
import { getSite } from '../sites/site.repository.js';
import { type ApiKeyView, type KeyOwner, toApiKeyView } from './api-key.js';
import { findKeys } from './api-key.repository.js';

@Injectable()
export class ListApiKeys {
  constructor(@Inject(DataSource) private readonly dataSource: DataSource) {}

  /** Returns at most 100 keys, the newest first, including revoked keys. Throws `resource.not-found`. */
  async execute({ merchantId, siteId }: KeyOwner): Promise<ApiKeyView[]> {
    const { manager } = this.dataSource;
    await (siteId === undefined ? getMerchant(manager, merchantId) : getSite(manager, merchantId, siteId));
    return (await findKeys(manager, { merchantId, siteId })).map(toApiKeyView);
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { DeliveryContent, DeliveryRequest } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { listHeaders, signNotification } from '../delivery/sign-notification.js';
import { SigningSecrets } from '../signing-secrets/signing-secrets.js';
import { findDeliveryContent } from './delivery-content.query.js';

/**
 * Builds the request of a delivery as its endpoint receives it. Signatures are not stored: they are made with the keys
 * that are valid now, for the time of the last attempt.
 */
@Injectable()
export class ReadDeliveryContent {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(SigningSecrets) private readonly secrets: SigningSecrets,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** Throws `resource.not-found` for an unknown or invalid id, and for a delivery of another owner. */
  async read({ owner, id }: DeliveryRequest): Promise<DeliveryContent> {
    const { merchantId, siteId, mode } = owner;
    const found = await findDeliveryContent(this.dataSource, { owner, id });
    if (!found) throw new DomainError('resource.not-found', { message: 'There is no such delivery.' });
    const keys = await this.secrets.findKeys({ merchantId, siteId, mode, apiVersion: found.apiVersion });
    if (!keys) return { body: JSON.stringify(found.fields), headers: listHeaders({ 'webhook-id': found.webhookId }) };
    const { body, headers } = signNotification(found.webhookId, found, keys, found.lastStartedAt ?? this.clock.now());
    return { body, headers: listHeaders(headers) };
  }
}

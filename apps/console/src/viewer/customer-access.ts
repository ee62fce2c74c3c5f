import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, personAuthor } from '@svc/auth';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import type { MerchantViewer } from './viewer.js';

interface Access {
  readonly action: 'customer.shown' | 'customer.searched' | 'customers.exported';
  readonly siteId?: number;
  /** The objects that the person has seen, without a name. */
  readonly after: Record<string, unknown>;
}

/** Records in the audit log that a person sees names of customers. */
@Injectable()
export class CustomerAccess {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
  ) {}

  /** Call this before the name is sent, so that no name is seen without an entry. */
  async record({ session, actor, merchant, mode }: MerchantViewer, { action, siteId, after }: Access): Promise<void> {
    const author = personAuthor(session.personId, actor.requestId);
    const { merchantId } = merchant;
    const site = siteId === undefined ? {} : { siteId };
    await inTransaction(this.dataSource, (tx) =>
      this.audit.append(tx, author, { action, merchantId, ...site, after: { mode, ...after } }),
    );
  }
}

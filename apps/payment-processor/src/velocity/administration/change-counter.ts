import { Inject, Injectable } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock, DomainError } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AttackedSiteRepository } from '../attack-levels/attacked-site.repository.js';
import { AdministeredCounterRepository, type CounterView } from './administered-counter.repository.js';
import type { CounterSubject } from './counter-subject.js';

/** Releases a subject that was refused in error, or blocks one until a time. The audit log shows both. */
@Injectable()
export class ChangeCounter {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(AdministeredCounterRepository) private readonly counters: AdministeredCounterRepository,
    @Inject(AttackedSiteRepository) private readonly sites: AttackedSiteRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /** A site that is released is no longer under attack. Throws `resource.not-found` and `resource.conflict`. */
  async release(author: ChangeAuthor, subject: CounterSubject): Promise<CounterView> {
    return inTransaction(this.dataSource, async (tx) => {
      const keys = await this.counters.findKeys(subject, tx);
      await this.counters.release(tx, keys);
      if (subject.kind === 'site') {
        const { attack, version, merchantId } = await this.sites.find(subject, tx);
        const isAttacked = attack !== undefined && attack.level > 0 && attack.endsAt > this.clock.now();
        if (isAttacked && merchantId !== undefined) {
          const site = { mode: subject.mode, siteId: subject.siteId, merchantId };
          const isChanged = await this.sites.change(tx, site, { level: 0, endsAt: this.clock.now() }, version);
          if (!isChanged) throw new DomainError('resource.conflict');
        }
      }
      await this.audit.append(tx, author, { action: 'velocity-counter.released', after: { ...subject } });
      return this.counters.find(keys, tx);
    });
  }

  async block(author: ChangeAuthor, subject: CounterSubject, until: Date): Promise<CounterView> {
    return inTransaction(this.dataSource, async (tx) => {
      const keys = await this.counters.findKeys(subject, tx);
      await this.counters.block(tx, keys, until);
      const after = { ...subject, untilUTCDate: until.toISOString() };
      await this.audit.append(tx, author, { action: 'velocity-counter.blocked', after });
      return this.counters.find(keys, tx);
    });
  }
}

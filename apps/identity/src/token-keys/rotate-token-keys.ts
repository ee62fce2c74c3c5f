import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { newSealedTokenKey } from '@svc/auth';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction, type Transaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import type { ChangeAuthor } from '../audit-log/change-author.js';
import { IdentityConfig } from '../config.js';
import { nextSignsFrom, planRotation, showTokenKeys, tokenKeyChanged, type TokenKeyView } from './token-key.js';
import { findTokenKeys, insertTokenKey, lockTokenKeys, withdrawTokenKey } from './token-key.repository.js';

/** How often it is looked whether a key is due; far more often than any of the times it is about. */
const LOOK_EVERY_MS = 30_000;

/**
 * Keeps a key that signs identity tokens (A2): the next one is published ten minutes before it signs, the last one is
 * withdrawn when its tokens have run out. Every replica looks; a lock makes them act once.
 */
@Injectable()
export class RotateTokenKeys implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(EventLog) private readonly events: EventLog,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
    @Inject(SERVICE_LOG) private readonly log: ServiceLog,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.runOnce();
    this.timer = setInterval(() => {
      this.runOnce().catch((error: unknown) => this.log.error({ err: error }, 'token key maintenance failed'));
    }, LOOK_EVERY_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Does what is due now. */
  async runOnce(): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      const { nextSignsFrom, toWithdraw } = planRotation(await findTokenKeys(tx), now);
      if (nextSignsFrom) await this.make(tx, now, nextSignsFrom);
      for (const key of toWithdraw) await this.events.append(tx, tokenKeyChanged(await withdrawTokenKey(tx, key, now)));
    });
  }

  /** The next key now, not when it is due. Throws `resource.conflict` when it is there already. */
  execute(author: ChangeAuthor): Promise<TokenKeyView> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      if ((await findTokenKeys(tx)).some(({ signsFrom }) => signsFrom > now))
        throw new DomainError('resource.conflict', { message: 'The next key is published already.' });
      const kid = await this.make(tx, now, nextSignsFrom(now));
      await this.auditLog.append(tx, author, { action: 'token-key.created', credentialId: kid, after: { kid } });
      return showTokenKeys(await findTokenKeys(tx), now).find((view) => view.kid === kid)!;
    });
  }

  /**
   * For a key that leaked: nothing it signed is accepted any more, everywhere within 5 s. When it was the one that signs,
   * and no other does, a new one signs at once. Throws `resource.not-found`.
   */
  async withdraw(author: ChangeAuthor, kid: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      const keys = await findTokenKeys(tx);
      const key = keys.find((known) => known.kid === kid);
      if (!key) throw new DomainError('resource.not-found');
      await this.events.appendAndPublish(tx, tokenKeyChanged(await withdrawTokenKey(tx, key, now)));
      const left = keys.filter((known) => known !== key);
      const { nextSignsFrom: replacementSignsFrom } = planRotation(left, now);
      if (replacementSignsFrom) await this.make(tx, now, replacementSignsFrom);
      await this.auditLog.append(tx, author, {
        action: 'token-key.withdrawn',
        credentialId: kid,
        before: { withdrawn: false },
        after: { withdrawn: true },
      });
    });
  }

  private async make(tx: Transaction, createdAt: Date, signsFrom: Date): Promise<string> {
    const kid = newUuid(this.clock);
    const pair = await newSealedTokenKey(kid, this.config.SVC_SEALING_KEY);
    const key = { kid, ...pair, createdAt, signsFrom, withdrawnAt: null, version: 1 };
    await insertTokenKey(tx, key);
    // It may sign at once, after a leak: its tokens must not be refused while the relay is held back.
    await this.events.appendAndPublish(tx, tokenKeyChanged(key));
    return kid;
  }
}

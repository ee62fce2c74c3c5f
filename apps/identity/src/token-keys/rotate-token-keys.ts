import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type ChangeAuthor, newSealedTokenKey } from '@svc/auth';
import { Clock, DomainError, newUuid } from '@svc/kernel';
import { EventLog } from '@svc/messaging';
import { inTransaction, type Transaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { AuditLog } from '../audit-log/audit-log.js';
import { IdentityConfig } from '../config.js';
import { nextSignsFrom, planRotation, tokenKeyChanged, type TokenKeyView, toTokenKeyViews } from './token-key.js';
import { findTokenKeys, insertTokenKey, lockTokenKeys, withdrawTokenKey } from './token-key.repository.js';

/** How often each replica checks whether a key must change. It is far shorter than all durations of the rotation. */
const CHECK_INTERVAL_MS = 30_000;

/**
 * Rotates the keys that sign identity tokens (A2). Publishes the next key ten minutes before that key signs. Withdraws
 * the previous key after the tokens of the previous key have expired. Every replica runs this check, and a lock ensures
 * that only one replica changes keys.
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
    await this.runStep();
    this.timer = setInterval(() => {
      this.runStep().catch((error: unknown) => this.log.error({ err: error }, 'the rotation of token keys failed'));
    }, CHECK_INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Creates the next key and withdraws old keys, if it is time to do so. */
  async runStep(): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      const { nextSignsFrom, toWithdraw } = planRotation(await findTokenKeys(tx), now);
      if (nextSignsFrom) await this.createKey(tx, now, nextSignsFrom);
      for (const key of toWithdraw) await this.events.append(tx, tokenKeyChanged(await withdrawTokenKey(tx, key, now)));
    });
  }

  /**
   * Creates the next key before the automatic rotation does. Throws `resource.conflict` if a next key already exists.
   */
  execute(author: ChangeAuthor): Promise<TokenKeyView> {
    return inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      if ((await findTokenKeys(tx)).some(({ signsFrom }) => signsFrom > now))
        throw new DomainError('resource.conflict', { message: 'The next key is published already.' });
      const kid = await this.createKey(tx, now, nextSignsFrom(now));
      await this.auditLog.append(tx, author, { action: 'token-key.created', credentialId: kid, after: { kid } });
      return toTokenKeyViews(await findTokenKeys(tx), now).find((view) => view.kid === kid)!;
    });
  }

  /**
   * Withdraws a leaked key. All services reject its tokens within 5 s. If no other key can sign, creates a new key that
   * signs immediately. Throws `resource.not-found`.
   */
  async withdraw(author: ChangeAuthor, kid: string): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      await lockTokenKeys(tx);
      const now = this.clock.now();
      const keys = await findTokenKeys(tx);
      const key = keys.find((candidate) => candidate.kid === kid);
      if (!key) throw new DomainError('resource.not-found');
      await this.events.appendAndPublish(tx, tokenKeyChanged(await withdrawTokenKey(tx, key, now)));
      const remaining = keys.filter((otherKey) => otherKey !== key);
      const { nextSignsFrom: replacementSignsFrom } = planRotation(remaining, now);
      if (replacementSignsFrom) await this.createKey(tx, now, replacementSignsFrom);
      await this.auditLog.append(tx, author, {
        action: 'token-key.withdrawn',
        credentialId: kid,
        before: { withdrawn: false },
        after: { withdrawn: true },
      });
    });
  }

  private async createKey(tx: Transaction, createdAt: Date, signsFrom: Date): Promise<string> {
    const kid = newUuid(this.clock);
    const pair = await newSealedTokenKey(kid, this.config.SVC_SEALING_KEY);
    const key = { kid, ...pair, createdAt, signsFrom, withdrawnAt: null, version: 1 };
    await insertTokenKey(tx, key);
    // The event is also published directly. After a leak the new key signs immediately, and services must accept its
    // tokens even if the relay is delayed.
    await this.events.appendAndPublish(tx, tokenKeyChanged(key));
    return kid;
  }
}

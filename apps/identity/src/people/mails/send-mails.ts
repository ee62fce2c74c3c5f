import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { MAX_PEOPLE_MAILS_PER_DAY } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { type Mail, Mailer } from '@svc/mail';
import { PeriodicJob } from '@svc/messaging';
import type { Transaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { IdentityConfig } from '../../config.js';
import { openText, sealText } from '../../sealing/sealed-text.js';
import { claimMail, completeMail, countMails, insertMail } from './mail.repository.js';

const INTERVAL_MS = 5_000;
/** An invitation is valid as long, so a later mail would contain an invalid link. */
const MAIL_MS = 24 * 60 * 60_000;
const HOUR_SECONDS = 3_600;

interface OutgoingMail {
  /** UUID. It is unique, so that one invitation has one mail. */
  readonly mailId: string;
  /** The merchant whose person caused the mail. The caller has locked it. */
  readonly merchantId: number;
  readonly mail: Mail;
}

/**
 * Mails to people. A mail is stored in the transaction of its cause and sent after the commit, at least once: if the
 * process ends between the sending and the record of it, the mail is sent again.
 */
@Injectable()
export class SendMails implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('sending of mails to people', INTERVAL_MS, log, () => this.runStep());
  }

  onApplicationBootstrap(): void {
    if (this.isOn) this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Whether mails are sent. */
  get isOn(): boolean {
    return this.mailer.isOn;
  }

  /** Throws `request.rate-limited` if people of the merchant have caused too many mails. */
  async requireCapacity(tx: Transaction, merchantId: number): Promise<void> {
    if ((await countMails(tx, merchantId, this.clock.now())) < MAX_PEOPLE_MAILS_PER_DAY) return;
    throw new DomainError('request.rate-limited', { retryAfterSeconds: HOUR_SECONDS });
  }

  /** Stores a mail. After the commit the caller calls {@link trigger}. */
  async store(tx: Transaction, { mailId, merchantId, mail }: OutgoingMail): Promise<void> {
    const sealedMail = await sealText(JSON.stringify(mail), sealOf(mailId), this.config.SVC_SEALING_KEY);
    const dueAt = this.clock.now();
    await insertMail(tx, { mailId, merchantId, sealedMail, dueAt, expiresAt: this.clock.later(MAIL_MS) });
  }

  /** Sends the stored mails now instead of within five seconds. */
  trigger(): void {
    this.job.trigger();
  }

  /** Attempts the next mail. Returns whether there may be more. */
  async runStep(): Promise<boolean> {
    const { manager } = this.dataSource;
    const claimed = await claimMail(manager, this.clock.now());
    if (!claimed) return false;
    const text = await openText(claimed.sealedMail, sealOf(claimed.mailId), this.config.SVC_SEALING_KEY);
    const outcome = await this.mailer.send(JSON.parse(text) as Mail);
    if (outcome === 'sent') await completeMail(manager, claimed.mailId, 'sent');
    if (outcome === 'recipient-rejected') await completeMail(manager, claimed.mailId, 'rejected');
    return true;
  }
}

function sealOf(mailId: string) {
  return { purpose: 'svc mails', owner: mailId } as const;
}

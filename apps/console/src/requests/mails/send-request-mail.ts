import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AuditTrail, type ChangeAuthor } from '@svc/auth';
import { Clock } from '@svc/kernel';
import { Mailer } from '@svc/mail';
import { PeriodicJob } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { SERVICE_LOG, type ServiceLog } from '@svc/service';
import { DataSource } from 'typeorm';
import { en } from '../../languages/en/en.js';
import { findTexts } from '../../languages/languages.js';
import { findRequest } from '../list-requests.query.js';
import { determineRequestState } from '../request.js';
import { buildRequestMail } from './request-mail.js';
import {
  type ClaimedMail,
  type MailResult,
  type MailState,
  MAX_MAIL_ATTEMPTS,
  type NewRequestMail,
  RequestMailRepository,
} from './request-mail.repository.js';

const INTERVAL_MS = 20_000;
const BATCH_SIZE = 10;

/**
 * Sends the e-mails of payment requests at least once: a mail is committed before its first attempt, and repeated until
 * the server has accepted it. If the process ends between the acceptance and the commit, the mail is sent a second time.
 */
@Injectable()
export class SendRequestMail implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly job: PeriodicJob;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(RequestMailRepository) private readonly mails: RequestMailRepository,
    @Inject(AuditTrail) private readonly audit: AuditTrail,
    @Inject(Mailer) private readonly mailer: Mailer,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(SERVICE_LOG) log: ServiceLog,
  ) {
    this.job = new PeriodicJob('e-mails of payment requests', INTERVAL_MS, log, () => this.runStep());
  }

  onApplicationBootstrap(): void {
    if (this.mailer.isOn) this.job.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** Stores the mail and makes the first attempt. A repeat with the same id sends no second mail. */
  async execute(mail: NewRequestMail, author: ChangeAuthor): Promise<MailResult> {
    const state = await inTransaction(this.dataSource, async (tx) => {
      const stored = await this.mails.insert(tx, mail);
      const { merchantId, siteId, mode, invoiceReference } = mail;
      // The audit log must not contain the address of the customer.
      const action = { action: 'payment-request.mailed', merchantId, siteId, after: { mode, invoiceReference } };
      if (stored.isNew) await this.audit.append(tx, author, action);
      return stored.state;
    });
    if (state !== 'pending') return state;
    const [claimed] = await this.mails.claim(1, mail.mailId);
    return claimed ? this.attempt(claimed) : 'pending';
  }

  /** Sends the mails that are due. @returns whether there may be more */
  async runStep(): Promise<boolean> {
    const claimed = await this.mails.claim(BATCH_SIZE);
    await Promise.all(claimed.map((mail) => this.attempt(mail)));
    return claimed.length === BATCH_SIZE;
  }

  private async attempt(mail: ClaimedMail): Promise<MailState> {
    const state = (await this.isStillOpen(mail)) ? await this.send(mail) : 'dropped';
    if (state === 'pending') await this.mails.postpone(mail);
    else await this.mails.end(mail, state);
    return state;
  }

  private async send({ recipient, content, language, attempts }: ClaimedMail): Promise<MailState> {
    const outcome = await this.mailer.send(buildRequestMail(recipient, content, findTexts(language) ?? en));
    if (outcome === 'sent') return 'sent';
    if (outcome === 'recipient-rejected') return 'rejected';
    return attempts >= MAX_MAIL_ATTEMPTS ? 'failed' : 'pending';
  }

  /** A customer must not get a mail for a request that was paid or cancelled meanwhile. The read model may not have a new one yet. */
  private async isStillOpen({ merchantId, mode, invoiceReference }: ClaimedMail): Promise<boolean> {
    const request = await findRequest(this.dataSource, { merchantId, mode, sites: 'all' }, invoiceReference);
    return request === undefined || determineRequestState(request, this.clock.now()) === 'open';
  }
}

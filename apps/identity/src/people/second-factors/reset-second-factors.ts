import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import { hasRight, isEmailAddress, type PeopleLanguage, type ResetSecondFactors } from '@svc/contracts';
import { Clock, DomainError, newUuidAt } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { IdentityConfig } from '../../config.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { buildFactorsResetMail } from '../mails/people-mails.js';
import { SendMails } from '../mails/send-mails.js';
import { deletePasskeys } from '../passkeys/passkey.repository.js';
import { readLanguage, readScope, readUuid } from '../person/input.js';
import { toRoleGrant } from '../person/person.js';
import { lockPerson } from '../person/person.repository.js';
import { findOperator } from '../roles/operator.repository.js';
import { listRoles } from '../roles/role.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { deleteSessions } from '../sessions/session.repository.js';
import { deleteSignInTokens } from '../sign-in/sign-in-token.repository.js';
import { resetTotp } from '../totp/totp.repository.js';

interface Reset {
  readonly merchantId: number;
  readonly personId: string;
  readonly language: PeopleLanguage;
}

/**
 * Removes all second factors of a person who lost them. Afterwards the password is enough to set up a new one, so the
 * sessions end and the person gets a mail.
 */
@Injectable()
export class ResetPersonFactors {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(SendMails) private readonly mails: SendMails,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
  ) {}

  /**
   * An owner of one merchant must not weaken the access to another, or to the platform: the actor manages the people of each
   * merchant at which the person has a role, and the person is no operator. Throws `resource.not-found` and `resource.conflict`.
   */
  async execute({ actor, merchantId: id, personId: person, language }: ResetSecondFactors): Promise<void> {
    const { merchantId } = readScope({ merchantId: id });
    const reset = { merchantId, personId: readUuid(person), language: readLanguage(language) };
    const { session, author } = await this.actors.authorise(
      actor,
      'people.manage',
      { merchantId },
      { isConfirmed: true },
    );
    if (session.personId === reset.personId)
      throw new DomainError('resource.conflict', { message: 'Change your own second factors in your account.' });
    const grants = session.roles.map(toRoleGrant);
    await this.reset(author, reset, (merchantIds, isOperator) => {
      const isOwn = merchantIds.every((each) => hasRight(grants, 'people.manage', { merchantId: each }));
      if (isOwn && !isOperator) return;
      const message = 'The person also has a role elsewhere. Ask an administrator of the platform.';
      throw new DomainError('resource.conflict', { message });
    });
  }

  /** Throws `resource.not-found` if the person has no role at the merchant. */
  async executeByAdministrator(author: ChangeAuthor, merchantId: number, personId: string): Promise<void> {
    await this.reset(author, { merchantId, personId, language: 'en' }, () => undefined);
  }

  private async reset(
    author: ChangeAuthor,
    { merchantId, personId, language }: Reset,
    checkAccess: (merchantIds: readonly number[], isOperator: boolean) => void,
  ): Promise<void> {
    await inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      const person = await lockPerson(tx, personId);
      const merchantIds = (await listRoles(tx, personId)).map((grant) => grant.merchantId);
      if (!person || !merchantIds.includes(merchantId)) throw new DomainError('resource.not-found');
      checkAccess(merchantIds, (await findOperator(tx, personId)) !== undefined);
      await resetTotp(tx, personId);
      await deletePasskeys(tx, personId);
      await deleteSessions(tx, personId);
      await deleteSignInTokens(tx, personId);
      await this.storeMail(tx, { merchantId, merchantName: merchant.name, to: person.email, language });
      await this.auditLog.append(tx, author, {
        action: 'person.second-factors-reset',
        merchantId,
        before: { personId, totp: person.hasTotp, passkeys: person.hasPasskey },
      });
    });
    this.mails.trigger();
  }

  private async storeMail(
    tx: Transaction,
    { merchantId, ...content }: { merchantId: number; merchantName: string; to: string; language: PeopleLanguage },
  ): Promise<void> {
    if (!this.mails.isOn || !isEmailAddress(content.to)) return;
    const mail = buildFactorsResetMail({ ...content, url: `${this.config.SVC_CONSOLE_URL}/sign-in` });
    await this.mails.store(tx, { mailId: newUuidAt(this.clock.now()), merchantId, mail });
  }
}

import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import {
  type CreatedInvitation,
  INVITATION_MS,
  INVITATION_PATH,
  type InvitePerson,
  isEmailAddress,
  MAX_INVITATIONS_PER_MERCHANT,
  type PeopleLanguage,
  type PeopleScope,
  type PersonActor,
  type Role,
} from '@svc/contracts';
import { Clock, DomainError, invalidField, newUuidAt } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { IdentityConfig } from '../../config.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { getSite } from '../../sites/site.repository.js';
import { cancelMail } from '../mails/mail.repository.js';
import { buildInvitationMail } from '../mails/people-mails.js';
import { SendMails } from '../mails/send-mails.js';
import { readEmail, readLanguage, readRole, readScope, readUuid } from '../person/input.js';
import { newToken } from '../person/token.js';
import { hasRoleByEmail } from '../roles/role.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import {
  countOtherInvitations,
  deleteInvitation,
  findInvitationOfEmail,
  upsertInvitation,
} from './invitation.repository.js';

interface Invitee {
  readonly email: string;
  readonly role: Role;
}

interface Invited extends Invitee {
  readonly invitationId: string;
  /** Absent: no mail is sent, and the caller passes the link on. */
  readonly mail?: { readonly inviterName: string; readonly language: PeopleLanguage };
}

/** Invites people to a merchant or to one of its sites, and withdraws invitations. */
@Injectable()
export class InvitePeople {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
    @Inject(SendMails) private readonly mails: SendMails,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
  ) {}

  /**
   * The link is in a mail, or in the reply if the platform sends no mails. Throws `resource.conflict` if the person has a
   * role there already, or if the merchant has too many invitations.
   */
  async execute({
    actor,
    email: text,
    role,
    invitationId,
    language,
    ...requested
  }: InvitePerson): Promise<CreatedInvitation> {
    const scope = readScope(requested);
    const email = readEmail(text);
    if (this.mails.isOn && !isEmailAddress(email)) throw invalidField('email', 'email must be an email address');
    const invitee = { email, role: readRole(role), invitationId: readUuid(invitationId) };
    const { session, author } = await this.actors.authorise(actor, 'people.manage', scope, { isConfirmed: true });
    if (!this.mails.isOn) return this.invite(author, scope, invitee);
    const mail = { inviterName: session.name, language: readLanguage(language) };
    const { invitationToken: _, ...created } = await this.invite(author, scope, { ...invitee, mail });
    this.mails.trigger();
    return created;
  }

  /** The first owner of a merchant is invited by an administrator. Throws as {@link execute}. */
  executeByAdministrator(
    author: ChangeAuthor,
    scope: PeopleScope,
    { email, role }: Invitee,
  ): Promise<Required<CreatedInvitation>> {
    return this.invite(author, scope, { email: readEmail(email), role, invitationId: newUuidAt(this.clock.now()) });
  }

  /** Throws `resource.not-found`. */
  async withdraw(actor: PersonActor, requested: PeopleScope, invitationId: string): Promise<void> {
    const scope = readScope(requested);
    const { author } = await this.actors.authorise(actor, 'people.manage', scope, { isConfirmed: true });
    if (!(await this.delete(author, scope, readUuid(invitationId)))) throw new DomainError('resource.not-found');
  }

  /** Returns whether the merchant had this invitation. */
  withdrawByAdministrator(author: ChangeAuthor, merchantId: number, invitationId: string): Promise<boolean> {
    return this.delete(author, { merchantId }, invitationId);
  }

  private async delete(author: ChangeAuthor, scope: PeopleScope, invitationId: string): Promise<boolean> {
    return inTransaction(this.dataSource, async (tx) => {
      const deleted = await deleteInvitation(tx, scope, invitationId, this.clock.now());
      if (!deleted) return false;
      const { merchantId, siteId, email, role } = deleted;
      await cancelMail(tx, merchantId, invitationId);
      const before = { invitationId, email, role };
      const place = { merchantId, ...(siteId === null ? {} : { siteId }) };
      await this.auditLog.append(tx, author, { action: 'invitation.withdrawn', ...place, before });
      return true;
    });
  }

  private invite(
    author: ChangeAuthor,
    scope: PeopleScope,
    { email, role, invitationId, mail }: Invited,
  ): Promise<Required<CreatedInvitation>> {
    const { token, tokenHash } = newToken();
    const createdAt = this.clock.now();
    const expiresAt = this.clock.later(INVITATION_MS);
    const { merchantId, siteId } = scope;
    return inTransaction(this.dataSource, async (tx) => {
      const merchant = await lockMerchant(tx, merchantId);
      const site = siteId === undefined ? undefined : await getSite(tx, merchantId, siteId);
      const earlier = await findInvitationOfEmail(tx, scope, email);
      const isRepeat = earlier?.invitationId === invitationId;
      // A repeat of the form, for example a double click: the mail contains the link.
      if (isRepeat && mail)
        return { invitationId, invitationToken: token, expiresUTCDate: earlier.expiresAt.toISOString() };
      if (await hasRoleByEmail(tx, scope, email))
        throw new DomainError('resource.conflict', { message: 'The person has a role there already.' });
      if ((await countOtherInvitations(tx, scope, email, createdAt)) >= MAX_INVITATIONS_PER_MERCHANT) {
        const message = `The merchant has ${MAX_INVITATIONS_PER_MERCHANT} open invitations.`;
        throw new DomainError('resource.conflict', { message });
      }
      if (earlier) await cancelMail(tx, merchantId, earlier.invitationId);
      const invitation = { invitationId, merchantId, siteId: siteId ?? null, role, email, createdAt, expiresAt };
      await upsertInvitation(tx, invitation, tokenHash);
      if (mail) {
        const url = `${this.config.SVC_CONSOLE_URL}${INVITATION_PATH}${token}`;
        const content = { ...mail, to: email, merchantName: merchant.name, siteName: site?.name, role, url };
        await this.mails.requireCapacity(tx, merchantId);
        await this.mails.store(tx, { mailId: invitationId, merchantId, mail: buildInvitationMail(content) });
      }
      const after = { invitationId, email, role };
      if (!isRepeat) await this.auditLog.append(tx, author, { action: 'invitation.created', ...scope, after });
      return { invitationId, invitationToken: token, expiresUTCDate: expiresAt.toISOString() };
    });
  }
}

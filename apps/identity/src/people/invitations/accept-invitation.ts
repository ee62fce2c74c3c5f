import { Inject, Injectable } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import type { AcceptInvitation, InvitationView, StartedPersonSession } from '@svc/contracts';
import { Clock, DomainError, newUuidAt } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { PasswordQueue } from '../../users/password-queue.js';
import { cancelMail } from '../mails/mail.repository.js';
import { readBrowser, readRequestId, readSessionHash, readToken } from '../person/input.js';
import { findPersonProblems, PEOPLE_QUEUE } from '../person/person.js';
import { insertPerson, lockPerson } from '../person/person.repository.js';
import { insertRole } from '../roles/role.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import type { SessionWithPerson } from '../sessions/session.js';
import { StartSession } from '../sessions/start-session.js';
import { consumeInvitation, findInvitation, type Invitation, type NamedInvitation } from './invitation.repository.js';

interface Acceptance {
  readonly personId: string;
  readonly session?: StartedPersonSession;
}

interface Accepted {
  readonly tokenHash: string;
  readonly merchantId: number;
  readonly requestId: string;
  readonly personId: string;
}

/** Shows and accepts invitations. */
@Injectable()
export class AcceptInvitations {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(StartSession) private readonly startSession: StartSession,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /** Throws `resource.not-found`. */
  async read(invitationToken: string): Promise<InvitationView> {
    const invitation = await this.find(readToken(invitationToken));
    const { merchantId, merchantName, siteId, siteName, role, email, expiresAt, personExists } = invitation;
    return {
      merchantId,
      merchantName,
      ...(siteId === null ? {} : { siteId }),
      ...(siteName === null ? {} : { siteName }),
      role,
      email,
      expiresUTCDate: expiresAt.toISOString(),
      personExists,
    };
  }

  /**
   * Creates the person, or gives the role to the person who is signed in. The token alone is not enough for a person who
   * exists: a person who only reads the mails of another must not get the sessions of that person.
   */
  async execute(request: AcceptInvitation): Promise<Acceptance> {
    const tokenHash = readToken(request.invitationToken);
    const [browser, requestId] = [readBrowser(request.browser), readRequestId(request.requestId)];
    const invitation = await this.find(tokenHash);
    const { merchantId, email } = invitation;
    if (invitation.personExists) {
      const session = await this.findSession(request, browser, invitation);
      const { personId } = session;
      return this.accept({ tokenHash, merchantId, requestId, personId }, () => Promise.resolve({ personId }));
    }
    const { name = '', password = '', device } = request;
    const fields = findPersonProblems(email, name, password);
    if (fields.length > 0) throw new DomainError('request.invalid', { fields });
    const createdAt = this.clock.now();
    const personId = newUuidAt(createdAt);
    const passwordHash = await this.passwords.hash(PEOPLE_QUEUE, password);
    // A person with this email who was created meanwhile causes `resource.conflict`, and the invitation stays valid.
    return this.accept({ tokenHash, merchantId, requestId, personId }, async (tx) => {
      await insertPerson(tx, { personId, email, name, passwordHash, createdAt });
      const start = { personId, browser, device, method: 'password', setUpRequired: true } as const;
      return { personId, session: await this.startSession.execute(tx, start) };
    });
  }

  private async find(tokenHash: string): Promise<NamedInvitation> {
    const invitation = await findInvitation(this.dataSource.manager, tokenHash, this.clock.now());
    if (!invitation) throw new DomainError('resource.not-found');
    return invitation;
  }

  private async findSession(
    { sessionHash }: AcceptInvitation,
    browser: string,
    { email }: Invitation,
  ): Promise<SessionWithPerson> {
    const session =
      sessionHash === undefined ? undefined : await this.actors.find(readSessionHash(sessionHash), browser);
    if (!session) throw new DomainError('authentication.required');
    if (session.email !== email || session.setUpRequired) throw new DomainError('credentials.forbidden');
    return session;
  }

  /** Uses the invitation and adds its role, in one transaction with the person and the session. */
  private accept(
    { tokenHash, merchantId, requestId, personId }: Accepted,
    preparePerson: (tx: Transaction) => Promise<Acceptance>,
  ): Promise<Acceptance> {
    return inTransaction(this.dataSource, async (tx) => {
      const now = this.clock.now();
      await lockMerchant(tx, merchantId);
      const invitation = await consumeInvitation(tx, tokenHash, now);
      if (!invitation) throw new DomainError('resource.not-found');
      const { siteId, role, email, invitationId } = invitation;
      await cancelMail(tx, merchantId, invitationId);
      const scope = { merchantId, ...(siteId === null ? {} : { siteId }) };
      const acceptance = await preparePerson(tx);
      if (!(await lockPerson(tx, personId))) throw new DomainError('authentication.required');
      await insertRole(tx, scope, { personId, role, createdAt: now });
      const author = personAuthor(personId, requestId);
      const after = { invitationId, personId, email, role };
      await this.auditLog.append(tx, author, { action: 'invitation.accepted', ...scope, after });
      return acceptance;
    });
  }
}

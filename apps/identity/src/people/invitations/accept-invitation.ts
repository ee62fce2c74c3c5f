import { Inject, Injectable } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import type { AcceptInvitation, InvitationView, StartedPersonSession } from '@svc/contracts';
import { Clock, DomainError, newUuidAt } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { lockMerchant } from '../../merchants/merchant.repository.js';
import { PasswordQueue } from '../../users/password-queue.js';
import { consumeOperatorInvitation, findOperatorInvitation } from '../operators/operator-invitation.repository.js';
import { readBrowser, readRequestId, readSessionHash, readToken } from '../person/input.js';
import { findPersonProblems, PEOPLE_QUEUE } from '../person/person.js';
import { insertPerson, lockPerson } from '../person/person.repository.js';
import type { OperatorInvitation } from '../roles/operator.js';
import { lockOperators } from '../roles/operator.repository.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import type { SessionWithPerson } from '../sessions/session.js';
import { updateLastActive } from '../sessions/session.repository.js';
import { StartSession } from '../sessions/start-session.js';
import { addInvitedRole } from './add-invited-role.js';
import { consumeInvitation, findInvitation, type Invitation, type NamedInvitation } from './invitation.repository.js';

interface Acceptance {
  readonly personId: string;
  readonly session?: StartedPersonSession;
}

type OpenInvitation = NamedInvitation | (OperatorInvitation & { readonly personExists: boolean });

interface Accepted {
  readonly tokenHash: string;
  /** Undefined for an operator of the platform. */
  readonly merchantId: number | undefined;
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
    const { email, personExists } = invitation;
    const open = { email, expiresUTCDate: invitation.expiresAt.toISOString(), personExists };
    if ('operatorRole' in invitation) return { operatorRole: invitation.operatorRole, ...open };
    const { merchantId, merchantName, siteId, siteName, role } = invitation;
    return {
      merchantId,
      merchantName,
      ...(siteId === null ? {} : { siteId }),
      ...(siteName === null ? {} : { siteName }),
      role,
      ...open,
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
    const { email } = invitation;
    const merchantId = 'operatorRole' in invitation ? undefined : invitation.merchantId;
    if (invitation.personExists) {
      const { personId, sessionId } = await this.findSession(request, browser, invitation);
      return this.accept({ tokenHash, merchantId, requestId, personId }, async (tx) => {
        // Sessions of operators end when they are idle, and this one is in use.
        await updateLastActive(tx, personId, sessionId, this.clock.now());
        return { personId };
      });
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

  private async find(tokenHash: string): Promise<OpenInvitation> {
    const [{ manager }, now] = [this.dataSource, this.clock.now()];
    const invitation =
      (await findInvitation(manager, tokenHash, now)) ?? (await findOperatorInvitation(manager, tokenHash, now));
    if (!invitation) throw new DomainError('resource.not-found');
    return invitation;
  }

  private async findSession(
    { sessionHash }: AcceptInvitation,
    browser: string,
    { email }: OpenInvitation,
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
      const invitation = await consume(tx, merchantId, tokenHash, now);
      if (!invitation) throw new DomainError('resource.not-found');
      const acceptance = await preparePerson(tx);
      if (!(await lockPerson(tx, personId))) throw new DomainError('authentication.required');
      const change = await addInvitedRole(tx, invitation, { personId, createdAt: now });
      await this.auditLog.append(tx, personAuthor(personId, requestId), change);
      return acceptance;
    });
  }
}

/** Locks the merchant or the operators, and uses the invitation. */
async function consume(
  tx: Transaction,
  merchantId: number | undefined,
  tokenHash: string,
  now: Date,
): Promise<Invitation | OperatorInvitation | undefined> {
  if (merchantId === undefined) {
    await lockOperators(tx);
    return consumeOperatorInvitation(tx, tokenHash, now);
  }
  await lockMerchant(tx, merchantId);
  return consumeInvitation(tx, tokenHash, now);
}

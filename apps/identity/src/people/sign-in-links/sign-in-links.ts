import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { ChangeAuthor } from '@svc/auth';
import {
  type FinishLinkSignIn,
  MAX_PERSON_NAME_LENGTH,
  SIGN_IN_LINK_PATH,
  type StartedPersonSession,
} from '@svc/contracts';
import { Clock, DomainError, newUuidAt } from '@svc/kernel';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import type { Change } from '../../audit-log/change.js';
import { IdentityConfig } from '../../config.js';
import { PasswordQueue } from '../../users/password-queue.js';
import { addInvitedRole } from '../invitations/add-invited-role.js';
import { consumeInvitationsOfEmail } from '../invitations/invitation.repository.js';
import { consumeOperatorInvitationOfEmail } from '../operators/operator-invitation.repository.js';
import { readBrowser, readEmail, readToken } from '../person/input.js';
import { PEOPLE_QUEUE } from '../person/person.js';
import { findPersonByEmail, insertPerson, lockPerson } from '../person/person.repository.js';
import { newToken } from '../person/token.js';
import { lockOperators } from '../roles/operator.repository.js';
import { StartSession } from '../sessions/start-session.js';
import { consumeSignInToken, insertSignInToken } from '../sign-in/sign-in-token.repository.js';

const LINK_MS = 24 * 60 * 60_000;

interface SignInLink {
  /** Path at the address of the console, with a one-time token. */
  readonly path: string;
  /** ISO 8601 UTC with milliseconds (C2). */
  readonly expiresUTCDate: string;
}

/**
 * Links that sign a person in without a password and a second factor, for development and demonstrations. Both creating
 * and using a link are refused outside the development environment, because the holder of the administration key could
 * otherwise act as a person of a merchant.
 */
@Injectable()
export class SignInLinks {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(IdentityConfig) private readonly config: IdentityConfig,
    @Inject(PasswordQueue) private readonly passwords: PasswordQueue,
    @Inject(StartSession) private readonly startSession: StartSession,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {}

  /**
   * Creates a link for a person, and accepts the open invitations of the email before. Throws `credentials.forbidden`
   * outside the development environment, and `resource.not-found` without person and invitation.
   */
  async create(author: ChangeAuthor, emailText: string): Promise<SignInLink> {
    if (!this.isDevelopment) {
      const message = 'Sign-in links exist in the development environment only.';
      throw new DomainError('credentials.forbidden', { message });
    }
    const email = readEmail(emailText);
    // The password is random and not stored, so that the person can sign in with a link only.
    const passwordHash = await this.passwords.hash(PEOPLE_QUEUE, randomBytes(32).toString('base64url'));
    const { token, tokenHash } = newToken();
    const expiresAt = this.clock.later(LINK_MS);
    await inTransaction(this.dataSource, async (tx) => {
      const now = this.clock.now();
      await lockOperators(tx);
      const invitations = [
        ...(await consumeInvitationsOfEmail(tx, email, now)),
        ...(await consumeOperatorInvitationOfEmail(tx, email, now)),
      ];
      const found = await findPersonByEmail(tx, email);
      if (!found && invitations.length === 0)
        throw new DomainError('resource.not-found', {
          message: 'No person has this e-mail address. Invite the person first.',
        });
      const personId = found?.personId ?? (await this.createPerson(tx, email, passwordHash));
      await lockPerson(tx, personId);
      const changes: Change[] = [];
      for (const invitation of invitations)
        changes.push(await addInvitedRole(tx, invitation, { personId, createdAt: now }));
      await insertSignInToken(tx, { tokenHash, kind: 'link', personId, expiresAt });
      const created = { action: 'person.sign-in-link-created', after: { personId } } as const;
      await this.auditLog.append(tx, author, ...changes, created);
    });
    return { path: `${SIGN_IN_LINK_PATH}${token}`, expiresUTCDate: expiresAt.toISOString() };
  }

  /** Begins a session with all rights of the person. Throws `resource.not-found`. */
  async signIn(request: FinishLinkSignIn): Promise<StartedPersonSession> {
    if (!this.isDevelopment) throw new DomainError('resource.not-found');
    const { device } = request;
    const [tokenHash, browser] = [readToken(request.linkToken), readBrowser(request.browser)];
    return inTransaction(this.dataSource, async (tx) => {
      const personId = await consumeSignInToken(tx, 'link', tokenHash, this.clock.now());
      if (personId === undefined || !(await lockPerson(tx, personId))) throw new DomainError('resource.not-found');
      return this.startSession.execute(tx, { personId, browser, device, method: 'link', setUpRequired: false });
    });
  }

  private get isDevelopment(): boolean {
    return this.config.SVC_ENVIRONMENT === 'development';
  }

  /** Creates a person whose name is the beginning of the email, and returns the personId. */
  private async createPerson(tx: Transaction, email: string, passwordHash: string): Promise<string> {
    const createdAt = this.clock.now();
    const personId = newUuidAt(createdAt);
    const name = email.slice(0, email.indexOf('@')).slice(0, MAX_PERSON_NAME_LENGTH);
    await insertPerson(tx, { personId, email, name, passwordHash, createdAt });
    return personId;
  }
}

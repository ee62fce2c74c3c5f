import { Inject, Injectable } from '@nestjs/common';
import { type ChangeAuthor, personAuthor } from '@svc/auth';
import { CONFIRMATION_MS, hasRight, type PeopleScope, type PersonActor, type Right } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { DataSource } from 'typeorm';
import { readActor } from '../person/input.js';
import { type SessionWithPerson, toPersonSession } from './session.js';
import { deleteSession, findSession } from './session.repository.js';

/** A person who acts in a valid session. */
export interface AuthenticatedActor {
  readonly session: SessionWithPerson;
  /** For the audit log. */
  readonly author: ChangeAuthor;
}

/** Finds the person of a browser's session, and checks the rights of the person. */
@Injectable()
export class AuthenticateActor {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  /**
   * The session with this token hash. Undefined if it is unknown, expired, or began in another browser: the token was
   * probably stolen, so the session ends.
   */
  async find(sessionHash: string, browser: string): Promise<SessionWithPerson | undefined> {
    const { manager } = this.dataSource;
    const session = await findSession(manager, sessionHash, this.clock.now());
    if (!session || session.browser === browser) return session;
    await deleteSession(manager, session.personId, session.sessionId);
    return undefined;
  }

  /** Any valid session, even one that can only set up a second factor. Throws `authentication.required`. */
  async authenticate(actor: PersonActor): Promise<AuthenticatedActor> {
    const { sessionHash, browser, requestId } = readActor(actor);
    const session = await this.find(sessionHash, browser);
    if (!session) throw new DomainError('authentication.required');
    return { session, author: personAuthor(session.personId, requestId) };
  }

  /**
   * A session with roles, or one that sets up the first second factor, whose person has signed in or confirmed in the last
   * ten minutes. Throws `authentication.required`.
   */
  async authenticateForFactors(actor: PersonActor): Promise<AuthenticatedActor> {
    const authenticated = await this.authenticate(actor);
    if (!authenticated.session.setUpRequired) this.requireConfirmation(authenticated);
    return authenticated;
  }

  /**
   * A session whose roles give the right in this scope. Throws `authentication.required` and `credentials.forbidden`. A
   * person without the right gets the same error for a merchant that does not exist.
   */
  async authorise(
    actor: PersonActor,
    right: Right,
    scope: PeopleScope,
    { isConfirmed = false } = {},
  ): Promise<AuthenticatedActor> {
    const authenticated = await this.authenticate(actor);
    const { roles } = toPersonSession(authenticated.session);
    if (!hasRight(roles, right, scope)) throw new DomainError('credentials.forbidden');
    if (isConfirmed) this.requireConfirmation(authenticated);
    return authenticated;
  }

  private requireConfirmation({ session }: AuthenticatedActor): void {
    if (this.clock.now().getTime() - session.authenticatedAt.getTime() >= CONFIRMATION_MS)
      throw new DomainError('authentication.required');
  }
}

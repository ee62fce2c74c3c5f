import { Inject, Injectable } from '@nestjs/common';
import {
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  type VerifiedRegistrationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import {
  type FinishPasskeyRegistration,
  isText,
  MAX_PASSKEY_NAME_LENGTH,
  MAX_PASSKEYS_PER_PERSON,
  PASSKEY_CHALLENGE_MS,
  type PasskeyChallenge,
  type PersonActor,
} from '@svc/contracts';
import { Clock, DomainError, invalidField, newUuidAt } from '@svc/kernel';
import { inTransaction } from '@svc/persistence';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../../audit-log/audit-log.js';
import { IdentityConfig } from '../../config.js';
import { readPasskeyProof } from '../person/input.js';
import { PRODUCT_NAME } from '../person/person.js';
import { lockPerson } from '../person/person.repository.js';
import { newToken } from '../person/token.js';
import { AuthenticateActor } from '../sessions/authenticate-actor.js';
import { completeSetUp } from '../sessions/session.repository.js';
import { toUserHandle } from './check-passkey.js';
import { insertPasskey, listPasskeys, type Passkey } from './passkey.repository.js';
import { consumePasskeyChallenge, insertPasskeyChallenge } from './passkey-challenge.repository.js';
import { ALGORITHMS, type RelyingParty, relyingPartyAt } from './relying-party.js';

/** Registers passkeys. The attestation is not requested: any authenticator that verifies its user is accepted. */
@Injectable()
export class RegisterPasskey {
  private readonly relyingParty: RelyingParty;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(IdentityConfig) { SVC_CONSOLE_URL }: IdentityConfig,
    @Inject(AuthenticateActor) private readonly actors: AuthenticateActor,
    @Inject(AuditLog) private readonly auditLog: AuditLog,
  ) {
    this.relyingParty = relyingPartyAt(SVC_CONSOLE_URL);
  }

  /** Throws `resource.conflict` if the person has ten passkeys. */
  async begin(actor: PersonActor): Promise<PasskeyChallenge> {
    const { session } = await this.actors.authenticateForFactors(actor);
    const { personId, email, name } = session;
    const passkeys = await this.listUnlessFull(this.dataSource.manager, personId);
    const options = await generateRegistrationOptions({
      rpName: PRODUCT_NAME,
      rpID: this.relyingParty.id,
      userID: toUserHandle(personId),
      userName: email,
      userDisplayName: name,
      timeout: PASSKEY_CHALLENGE_MS,
      attestationType: 'none',
      supportedAlgorithmIDs: ALGORITHMS,
      excludeCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const { token, tokenHash } = newToken();
    const { challenge } = options;
    const expiresAt = this.clock.later(PASSKEY_CHALLENGE_MS);
    const isInserted = await inTransaction(this.dataSource, (tx) =>
      insertPasskeyChallenge(tx, { tokenHash, purpose: 'registration', subject: personId, challenge, expiresAt }),
    );
    if (!isInserted) throw new DomainError('service.not-ready', { retryAfterSeconds: 60 });
    return { options: { ...options }, challengeToken: token };
  }

  /** Throws `resource.not-found` for the challenge and `authentication.failed` for the answer of the browser. */
  async finish({ actor, name, ...proof }: FinishPasskeyRegistration): Promise<string> {
    if (!isText(name, MAX_PASSKEY_NAME_LENGTH))
      throw invalidField('name', `name must be text of 1 to ${MAX_PASSKEY_NAME_LENGTH} characters`);
    const { session, author } = await this.actors.authenticateForFactors(actor);
    const { personId, sessionId } = session;
    const { challengeHash, response } = readPasskeyProof(proof);
    const now = this.clock.now();
    const challenge = await consumePasskeyChallenge(this.dataSource.manager, challengeHash, {
      purpose: 'registration',
      subject: personId,
      now,
    });
    if (challenge === undefined) throw new DomainError('resource.not-found');
    const { id, publicKey, counter } = await this.verify(challenge, response as unknown as RegistrationResponseJSON);
    const passkeyId = newUuidAt(now);
    await inTransaction(this.dataSource, async (tx) => {
      await lockPerson(tx, personId);
      await this.listUnlessFull(tx, personId);
      await insertPasskey(tx, { passkeyId, personId, credentialId: id, publicKey, counter, name, createdAt: now });
      await completeSetUp(tx, personId, sessionId);
      await this.auditLog.append(tx, author, {
        action: 'person.second-factor-added',
        credentialId: passkeyId,
        after: { personId, factor: 'passkey', name },
      });
    });
    return passkeyId;
  }

  private async listUnlessFull(db: EntityManager, personId: string): Promise<Passkey[]> {
    const passkeys = await listPasskeys(db, personId);
    if (passkeys.length < MAX_PASSKEYS_PER_PERSON) return passkeys;
    const message = `A person can have ${MAX_PASSKEYS_PER_PERSON} passkeys. Remove one first.`;
    throw new DomainError('resource.conflict', { message });
  }

  /** The library throws for everything that is wrong with an answer. */
  private async verify(
    expectedChallenge: string,
    response: RegistrationResponseJSON,
  ): Promise<NonNullable<VerifiedRegistrationResponse['registrationInfo']>['credential']> {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge,
      expectedOrigin: this.relyingParty.origin,
      expectedRPID: this.relyingParty.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch((cause: unknown) => {
      throw new DomainError('authentication.failed', { cause });
    });
    if (!verified) throw new DomainError('authentication.failed');
    return registrationInfo.credential;
  }
}

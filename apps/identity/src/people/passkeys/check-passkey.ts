import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  verifyAuthenticationResponse,
} from '@simplewebauthn/server';
import { PASSKEY_CHALLENGE_MS, type PasskeyChallenge, type PasskeyProof } from '@svc/contracts';
import { Clock, DomainError } from '@svc/kernel';
import { networkOf } from '@svc/outbound';
import { inTransaction, type Transaction } from '@svc/persistence';
import { DataSource } from 'typeorm';
import { IdentityConfig } from '../../config.js';
import { readAddress, readPasskeyProof } from '../person/input.js';
import { newToken } from '../person/token.js';
import { findPasskeyByCredential, type Passkey, type PasskeyKey, updateCounter } from './passkey.repository.js';
import { consumePasskeyChallenge, insertPasskeyChallenge } from './passkey-challenge.repository.js';
import { type RelyingParty, relyingPartyAt } from './relying-party.js';

/** A passkey whose signature was checked, and its new counter, which {@link CheckPasskey.use} stores. */
export interface CheckedPasskey {
  readonly personId: string;
  readonly passkeyId: string;
  readonly counter: number;
}

/**
 * Checks passkeys for sign-ins and confirmations. The options list no credentials: the browser offers the passkeys of the
 * console by itself, so that the options do not reveal whether a person exists.
 */
@Injectable()
export class CheckPasskey {
  private readonly relyingParty: RelyingParty;

  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(IdentityConfig) { SVC_CONSOLE_URL }: IdentityConfig,
  ) {
    this.relyingParty = relyingPartyAt(SVC_CONSOLE_URL);
  }

  /** Throws `service.not-ready` if too many requests are open. */
  async begin(address: string): Promise<PasskeyChallenge> {
    const caller = readAddress(address);
    // One caller must not fill the table with the many addresses of an IPv6 network.
    const subject = createHash('sha256')
      .update(networkOf(caller) ?? caller)
      .digest('hex');
    const options = await generateAuthenticationOptions({
      rpID: this.relyingParty.id,
      userVerification: 'required',
      timeout: PASSKEY_CHALLENGE_MS,
    });
    const { token, tokenHash } = newToken();
    const { challenge } = options;
    const expiresAt = this.clock.later(PASSKEY_CHALLENGE_MS);
    const isInserted = await inTransaction(this.dataSource, (tx) =>
      insertPasskeyChallenge(tx, { tokenHash, purpose: 'sign-in', subject, challenge, expiresAt }),
    );
    if (!isInserted) throw new DomainError('service.not-ready', { retryAfterSeconds: 60 });
    return { options: { ...options }, challengeToken: token };
  }

  /**
   * Uses the challenge, also if the answer is wrong, and checks the signature. Throws `resource.not-found` for the
   * challenge and `authentication.failed` for the answer.
   */
  async check(proof: PasskeyProof): Promise<CheckedPasskey> {
    const { challengeHash, response } = readPasskeyProof(proof);
    const { manager } = this.dataSource;
    const challenge = await consumePasskeyChallenge(manager, challengeHash, {
      purpose: 'sign-in',
      now: this.clock.now(),
    });
    if (challenge === undefined) throw new DomainError('resource.not-found');
    const credentialId = response['id'];
    const passkey = typeof credentialId === 'string' ? await findPasskeyByCredential(manager, credentialId) : undefined;
    if (!passkey || !isHandleOf(passkey, response)) throw new DomainError('authentication.failed');
    const counter = await this.verify(passkey, challenge, response as unknown as AuthenticationResponseJSON);
    return { personId: passkey.personId, passkeyId: passkey.passkeyId, counter };
  }

  /** Stores the counter. Throws `authentication.failed` if another request has used the passkey meanwhile. */
  async use(tx: Transaction, { passkeyId, counter }: CheckedPasskey): Promise<void> {
    if (!(await updateCounter(tx, passkeyId, counter, this.clock.now())))
      throw new DomainError('authentication.failed');
  }

  /** Returns the new counter. The library throws for everything that is wrong with an answer. */
  private async verify(
    { credentialId, publicKey, counter }: Passkey & PasskeyKey,
    expectedChallenge: string,
    response: AuthenticationResponseJSON,
  ): Promise<number> {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge,
      expectedOrigin: this.relyingParty.origin,
      expectedRPID: this.relyingParty.id,
      credential: { id: credentialId, publicKey, counter },
      requireUserVerification: true,
    }).catch((cause: unknown) => {
      throw new DomainError('authentication.failed', { cause });
    });
    if (!verified) throw new DomainError('authentication.failed');
    return authenticationInfo.newCounter;
  }
}

/** The user handle is the person for whom the authenticator stores the passkey. It may be absent. */
function isHandleOf({ personId }: Passkey, { response }: Record<string, unknown>): boolean {
  const { userHandle } = (response ?? {}) as { userHandle?: unknown };
  return userHandle === undefined || userHandle === null || userHandle === toUserHandle(personId).toString('base64url');
}

export function toUserHandle(personId: string): Buffer<ArrayBuffer> {
  return Buffer.from(personId);
}

import { Inject, Injectable } from '@nestjs/common';
import type { SessionDevice, StartedPersonSession } from '@svc/contracts';
import { Clock, newUuidAt } from '@svc/kernel';
import type { Transaction } from '@svc/persistence';
import { readDevice } from '../person/input.js';
import { updateLastSignIn } from '../person/person.repository.js';
import { newToken } from '../person/token.js';
import { expiresAt, type SignInMethod } from './session.js';
import { insertSession } from './session.repository.js';

interface SessionStart {
  readonly personId: string;
  readonly browser: string;
  readonly method: SignInMethod;
  /** As the console sent it. */
  readonly device: SessionDevice | undefined;
  readonly setUpRequired: boolean;
}

/** Begins a session. The caller has proved the person, and has locked the person in this transaction. */
@Injectable()
export class StartSession {
  constructor(@Inject(Clock) private readonly clock: Clock) {}

  async execute(tx: Transaction, start: SessionStart): Promise<StartedPersonSession> {
    const now = this.clock.now();
    const { token, tokenHash } = newToken();
    const device = readDevice(start.device);
    const session = {
      ...start,
      device,
      sessionId: newUuidAt(now),
      tokenHash,
      createdAt: now,
      expiresAt: expiresAt(now),
    };
    await insertSession(tx, session);
    await updateLastSignIn(tx, start.personId, now);
    const { setUpRequired } = start;
    return { sessionToken: token, expiresUTCDate: session.expiresAt.toISOString(), setUpRequired };
  }
}

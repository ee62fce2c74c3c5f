import { Controller, Inject } from '@nestjs/common';
import {
  BeginPasskeySignInV1,
  type BeginSignIn,
  BeginSignInV1,
  type BegunSignIn,
  type ConfirmPerson,
  ConfirmPersonV1,
  type FinishPasskeySignIn,
  FinishPasskeySignInV1,
  type FinishSignIn,
  FinishSignInV1,
  type PasskeyChallenge,
  type StartedPersonSession,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { CheckPasskey } from '../passkeys/check-passkey.js';
import { BeginPersonSignIn } from './begin-sign-in.js';
import { ConfirmPeople } from './confirm-person.js';
import { FinishPersonSignIn } from './finish-sign-in.js';

/** Sign-ins of people, for the console. A repeat is refused, because its token, code or challenge is used. */
@Controller()
export class SignInConsumer {
  constructor(
    @Inject(BeginPersonSignIn) private readonly beginSignIn: BeginPersonSignIn,
    @Inject(FinishPersonSignIn) private readonly finishSignIn: FinishPersonSignIn,
    @Inject(CheckPasskey) private readonly checkPasskey: CheckPasskey,
    @Inject(ConfirmPeople) private readonly confirmPerson: ConfirmPeople,
  ) {}

  @MessagePattern(BeginSignInV1)
  begin(request: BeginSignIn): Promise<BegunSignIn> {
    return this.beginSignIn.execute(request);
  }

  @MessagePattern(FinishSignInV1)
  finish(request: FinishSignIn): Promise<StartedPersonSession> {
    return this.finishSignIn.afterPassword(request);
  }

  @MessagePattern(BeginPasskeySignInV1)
  beginPasskey({ address }: { address: string }): Promise<PasskeyChallenge> {
    return this.checkPasskey.begin(address);
  }

  @MessagePattern(FinishPasskeySignInV1)
  finishPasskey(request: FinishPasskeySignIn): Promise<StartedPersonSession> {
    return this.finishSignIn.withPasskey(request);
  }

  @MessagePattern(ConfirmPersonV1)
  async confirm(request: ConfirmPerson): Promise<{ authenticatedUTCDate: string }> {
    return { authenticatedUTCDate: (await this.confirmPerson.execute(request)).toISOString() };
  }
}

import { Controller, Inject } from '@nestjs/common';
import {
  BeginPasskeyRegistrationV1,
  BeginTotpV1,
  ConfirmTotpV1,
  type FinishPasskeyRegistration,
  FinishPasskeyRegistrationV1,
  ListSecondFactorsV1,
  type PasskeyChallenge,
  type PersonActor,
  RemoveSecondFactorV1,
  type ResetSecondFactors,
  ResetSecondFactorsV1,
  type SecondFactorList,
  type TotpSetup,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { RegisterPasskey } from '../passkeys/register-passkey.js';
import { SetUpTotp } from '../totp/set-up-totp.js';
import { RemoveSecondFactor } from './remove-second-factor.js';
import { ResetPersonFactors } from './reset-second-factors.js';

/**
 * Second factors of people. A repeat is refused, because its challenge or new secret is used. A repeated reset also
 * removes factors that the person has set up meanwhile.
 */
@Controller()
export class SecondFactorsConsumer {
  constructor(
    @Inject(SetUpTotp) private readonly totp: SetUpTotp,
    @Inject(RegisterPasskey) private readonly passkeys: RegisterPasskey,
    @Inject(RemoveSecondFactor) private readonly secondFactors: RemoveSecondFactor,
    @Inject(ResetPersonFactors) private readonly resetFactors: ResetPersonFactors,
  ) {}

  @MessagePattern(BeginTotpV1)
  beginTotp({ actor }: { actor: PersonActor }): Promise<TotpSetup> {
    return this.totp.begin(actor);
  }

  @MessagePattern(ConfirmTotpV1)
  async confirmTotp({ actor, code }: { actor: PersonActor; code: string }): Promise<{ confirmed: true }> {
    await this.totp.confirm(actor, code);
    return { confirmed: true };
  }

  @MessagePattern(BeginPasskeyRegistrationV1)
  beginPasskeyRegistration({ actor }: { actor: PersonActor }): Promise<PasskeyChallenge> {
    return this.passkeys.begin(actor);
  }

  @MessagePattern(FinishPasskeyRegistrationV1)
  async finishPasskeyRegistration(request: FinishPasskeyRegistration): Promise<{ passkeyId: string }> {
    return { passkeyId: await this.passkeys.finish(request) };
  }

  @MessagePattern(ListSecondFactorsV1)
  list({ actor }: { actor: PersonActor }): Promise<SecondFactorList> {
    return this.secondFactors.list(actor);
  }

  @MessagePattern(RemoveSecondFactorV1)
  async remove({ actor, factor }: { actor: PersonActor; factor: string }): Promise<{ removed: true }> {
    await this.secondFactors.execute(actor, factor);
    return { removed: true };
  }

  @MessagePattern(ResetSecondFactorsV1)
  async reset(request: ResetSecondFactors): Promise<{ reset: true }> {
    await this.resetFactors.execute(request);
    return { reset: true };
  }
}

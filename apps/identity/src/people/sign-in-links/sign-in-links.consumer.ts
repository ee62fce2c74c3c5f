import { Controller, Inject } from '@nestjs/common';
import { type FinishLinkSignIn, FinishLinkSignInV1, type StartedPersonSession } from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { SignInLinks } from './sign-in-links.js';

/** Sign-in links, for the console. A repeat is refused, because the link is used. */
@Controller()
export class SignInLinksConsumer {
  constructor(@Inject(SignInLinks) private readonly links: SignInLinks) {}

  @MessagePattern(FinishLinkSignInV1)
  finish(request: FinishLinkSignIn): Promise<StartedPersonSession> {
    return this.links.signIn(request);
  }
}

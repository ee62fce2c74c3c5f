import { Controller, Inject } from '@nestjs/common';
import { personAuthor } from '@svc/auth';
import {
  type LookPreview,
  type PreviewLook as PreviewLookCommand,
  PreviewLookV1,
  type SetLook,
  SetLookV1,
} from '@svc/contracts';
import { MessagePattern } from '@svc/messaging';
import { ChangeLook } from '../looks/change-look.js';
import { PreviewLook, readDraft } from './preview-look.js';

/** The look of a merchant, for its people in the console. A repeated change changes nothing. */
@Controller()
export class LooksConsumer {
  constructor(
    @Inject(PreviewLook) private readonly previewLook: PreviewLook,
    @Inject(ChangeLook) private readonly changeLook: ChangeLook,
  ) {}

  @MessagePattern(PreviewLookV1)
  preview(request: PreviewLookCommand): Promise<LookPreview> {
    return this.previewLook.execute(request);
  }

  @MessagePattern(SetLookV1)
  async set({ merchantId, version, personId, requestId, ...draft }: SetLook): Promise<{ version: number }> {
    const author = personAuthor(personId, requestId);
    const look = await this.changeLook.setLook(author, merchantId, await readDraft(draft), version);
    return { version: look.version };
  }
}

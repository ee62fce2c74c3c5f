import { Body, Get, HttpStatus, Inject, Post, Query, Res } from '@nestjs/common';
import { type LookDraft, type LookFields, type LookPreview, PreviewLookV1, SetLookV1 } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { FastifyReply } from 'fastify';
import { Allow, CallingViewer, PageController } from '../access/access.guard.js';
import { pathOf } from '../layout/layout.js';
import { redirect, sendPage } from '../layout/page-sender.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { type LookForm, readLookForm } from './look-form.js';
import { type LookMessage, type LookProblem, renderLookPage } from './look-page.js';

/** The look of a merchant on the payment page and on receipts. hosted-gateway owns it. */
@PageController(':merchantId/:mode/look')
export class LookController {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  @Get()
  @Allow({ right: 'settings.read' })
  async show(
    @CallingViewer() viewer: MerchantViewer,
    @Query('done') done: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const preview = await this.preview(viewer);
    await send(reply, HttpStatus.OK, { viewer, preview, message: done === 'saved' ? { kind: 'saved' } : undefined });
  }

  /** Shows the look of the form on the payment page, and stores nothing. */
  @Post('preview')
  @Allow({ right: 'settings.manage' })
  async showDraft(
    @CallingViewer() viewer: MerchantViewer,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    requireWholeMerchant(viewer);
    const form = readLookForm(body);
    await this.handle(reply, viewer, form, async () => {
      const preview = await this.preview(viewer, form.draft);
      await send(reply, HttpStatus.OK, { viewer, preview, form, message: { kind: 'draft' } });
    });
  }

  /** A repeat of the form, for example a double click, changes nothing. */
  @Post()
  @Allow({ right: 'settings.manage' })
  async save(
    @CallingViewer() viewer: MerchantViewer,
    @Body() body: unknown,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    requireWholeMerchant(viewer);
    const form = readLookForm(body);
    await this.handle(reply, viewer, form, async () => {
      const { merchantId } = viewer.merchant;
      const { session, actor } = viewer;
      const { draft, version } = form;
      const author = { personId: session.personId, requestId: actor.requestId };
      await this.commands.request(SetLookV1, { merchantId, version, ...author, ...draft });
      await redirect(reply, `${pathOf(viewer)}/look?done=saved`);
    });
  }

  /** Shows the form again, with the reason, if it is refused. */
  private async handle(
    reply: FastifyReply,
    viewer: MerchantViewer,
    form: LookForm,
    execute: () => Promise<void>,
  ): Promise<void> {
    let problem: LookProblem | undefined = form.problem;
    try {
      if (problem === undefined) return await execute();
    } catch (error) {
      problem = findProblem(error);
      if (problem === undefined) throw error;
    }
    const status = problem === 'conflict' ? HttpStatus.CONFLICT : HttpStatus.UNPROCESSABLE_ENTITY;
    await send(reply, status, {
      viewer,
      form,
      preview: await this.preview(viewer),
      message: { kind: 'problem', problem },
    });
  }

  private preview({ merchant, texts }: MerchantViewer, draft?: LookDraft): Promise<LookPreview> {
    const { merchantId, name: merchantName } = merchant;
    const look = draft === undefined ? {} : { draft };
    return this.commands.request(PreviewLookV1, { merchantId, merchantName, language: texts.tag, ...look });
  }
}

/** The look is that of all sites, so a role for one site is not enough. */
function requireWholeMerchant({ scope }: MerchantViewer): void {
  if (scope.sites !== 'all') throw new DomainError('credentials.forbidden');
}

const FIELDS: readonly (keyof LookFields)[] = [
  'accentColour',
  'displayName',
  'supportEmail',
  'supportPhone',
  'supportUrl',
  'termsUrl',
];

function findProblem(error: unknown): LookProblem | undefined {
  if (!(error instanceof DomainError)) return undefined;
  if (error.code === 'look.logo-unusable') return 'logo';
  if (error.code === 'resource.conflict') return 'conflict';
  return FIELDS.find((name) => error.fields.some(({ field }) => field === name));
}

async function send(
  reply: FastifyReply,
  status: number,
  page: {
    readonly viewer: MerchantViewer;
    readonly preview: LookPreview;
    readonly form?: LookForm;
    readonly message: LookMessage | undefined;
  },
): Promise<void> {
  const canManage = page.viewer.can('settings.manage');
  await sendPage(reply, status, renderLookPage({ ...page, canManage }), page.preview.page.styles);
}

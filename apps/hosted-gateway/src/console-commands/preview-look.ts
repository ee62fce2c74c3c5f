import { Inject, Injectable } from '@nestjs/common';
import type { LookDraft, LookPreview, PreviewLook as PreviewLookCommand, StaticPage } from '@svc/contracts';
import { Clock } from '@svc/kernel';
import { readBody } from '@svc/service';
import { chooseLanguage, type Language, parseLanguageTag } from '../languages/languages.js';
import { chooseColours } from '../looks/accent-colour.js';
import type { CompleteLook } from '../looks/change-look.js';
import { createLogoFile } from '../looks/logo-image.js';
import { type MerchantLook, NO_SETTINGS, pickSettings } from '../looks/look.js';
import { LookRepository } from '../looks/look.repository.js';
import { SetLookRequest, toSettings } from '../looks/look-settings.js';
import { buildPageLook } from '../looks/page-look.js';
import type { PageLook } from '../page-views/merchant-look/page-look.js';
import type { PayablePage } from '../page-views/pay-page-model.js';
import { renderPayPage, selectShell } from '../page-views/render-pay-page.js';
import { BuiltManifest } from '../pay/built-manifest.js';

/** Cents of the invented order. */
const ORDER_AMOUNT = 25_000;
const ORDER_LIFETIME_MS = 30 * 60_000;
/** The form has no script, so that no card is ever encrypted with this key. */
const NO_KEY = { kty: 'EC', crv: 'P-256', x: '', y: '', kid: '' };

/** Shows the payment page of an invented order with a look, before a person stores the look. */
@Injectable()
export class PreviewLook {
  constructor(
    @Inject(LookRepository) private readonly looks: LookRepository,
    @Inject(Clock) private readonly clock: Clock,
  ) {}

  async execute({ merchantId, merchantName, language: tag, draft }: PreviewLookCommand): Promise<LookPreview> {
    const stored = await this.looks.find(merchantId);
    const look = draft === undefined ? undefined : await readDraft(draft);
    const settings = look?.settings ?? stored ?? NO_SETTINGS;
    const logo = look === undefined || look.logo === 'stored' ? await this.findStoredLogo(stored) : readLogo(look.logo);
    const shown: MerchantLook = { merchantId, ...settings, logo: logo ?? null };
    const language = chooseLanguage({ chosen: parseLanguageTag(tag), accepted: undefined });
    return {
      settings: pickSettings(settings),
      version: stored?.version ?? 0,
      ...(logo === undefined ? {} : { logo: logo.bytes.toString('base64') }),
      ...(settings.accentColour === null ? {} : { colours: chooseColours(settings.accentColour) }),
      page: this.renderPage(language, merchantName, withEmbeddedLogo(buildPageLook(shown), logo)),
    };
  }

  private async findStoredLogo(stored: MerchantLook | undefined) {
    if (!stored?.logo) return undefined;
    const bytes = await this.looks.findLogoFile(stored.logo.hash);
    return bytes && { ...stored.logo, bytes };
  }

  private renderPage(language: Language, merchantName: string, look: PageLook | undefined): StaticPage {
    const manifest = BuiltManifest.get();
    const now = this.clock.now();
    const model: PayablePage = {
      state: 'open',
      isPreview: true,
      isTest: true,
      sessionId: '',
      callsPath: '',
      merchantName: look?.displayName ?? merchantName,
      merchantOrderId: '1001',
      amountCents: ORDER_AMOUNT,
      currencyISOCode: 'ZAR',
      customFields: [],
      paymentNumber: 1,
      paymentsLeft: undefined,
      expiresAt: new Date(now.getTime() + ORDER_LIFETIME_MS).toISOString(),
      timeZone: 'Africa/Johannesburg',
      renderedAt: now.toISOString(),
      encryptionKey: NO_KEY,
      look,
    };
    const frame = { language, isLanguageChosen: true, query: '' };
    const pieces = renderPayPage(model, selectShell(model, frame, manifest), frame);
    return {
      html: pieces.map((piece) => (typeof piece === 'string' ? piece : piece.content)).join(''),
      styles: [manifest.style, ...(look?.style === undefined ? [] : [look.style])].map(({ integrity }) => integrity),
    };
  }
}

/**
 * Checks a look that a person has typed. Throws `request.invalid` with all invalid settings, or `look.logo-unusable`.
 */
export async function readDraft({ settings, logo, removesLogo }: LookDraft): Promise<CompleteLook> {
  const checked = toSettings(await readBody(SetLookRequest, { ...settings }));
  if (logo === undefined) return { settings: checked, logo: removesLogo ? 'none' : 'stored' };
  return { settings: checked, logo: await createLogoFile(Buffer.from(logo.base64, 'base64'), logo.type) };
}

function readLogo(logo: Exclude<CompleteLook['logo'], 'stored'>) {
  return logo === 'none' ? undefined : logo;
}

/** The document contains the logo itself, because the address of a draft does not exist. */
function withEmbeddedLogo(look: PageLook | undefined, logo: { bytes: Buffer } | undefined): PageLook | undefined {
  if (look?.logo === undefined || logo === undefined) return look;
  return { ...look, logo: { ...look.logo, path: `data:image/png;base64,${logo.bytes.toString('base64')}` } };
}

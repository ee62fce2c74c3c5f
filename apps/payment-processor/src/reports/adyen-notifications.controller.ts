import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  HttpCode,
  HttpStatus,
  Inject,
  Injectable,
  Param,
  Post,
  UseGuards,
} from '@nestjs/common';
import type { Mode } from '@svc/contracts';
import { createCounter, DomainError } from '@svc/kernel';
import type { FastifyRequest } from 'fastify';
import { ADYEN_SETTINGS, type AdyenSettings, type AdyenSettingsByMode } from '../acquirers/adyen/adyen-config.js';
import {
  authenticateItems,
  hasWebhookCredentials,
} from '../acquirers/adyen/notifications/authenticate-notification.js';
import { parseNotification } from '../acquirers/adyen/notifications/parse-notification.js';
import { duplicateKeyOf, toReport } from '../acquirers/adyen/notifications/to-report.js';
import { ApplyReports } from './apply-reports.js';
import { ReportRepository } from './report.repository.js';

/** Requires the basic authentication of the endpoint's mode. A mode without settings has no endpoint. */
@Injectable()
class AdyenWebhookGuard implements CanActivate {
  private readonly refused = createCounter('svc.acquirer.notifications.refused');

  constructor(@Inject(ADYEN_SETTINGS) private readonly settings: AdyenSettingsByMode) {}

  canActivate(context: ExecutionContext): boolean {
    const { headers, params } = context.switchToHttp().getRequest<FastifyRequest<{ Params: { mode: string } }>>();
    const settings = findSettings(this.settings, params.mode);
    if (hasWebhookCredentials(headers.authorization, settings)) return true;
    this.refused.add(1, { acquirer: 'adyen', reason: 'credentials' });
    throw new DomainError('credentials.invalid');
  }
}

/**
 * Receives the standard webhooks of Adyen, one endpoint for each mode. A request is stored completely before it is
 * acknowledged, or not at all. {@link ApplyReports} applies the items.
 *
 * @internal
 */
@Controller('v1/acquirers/adyen')
export class AdyenNotificationsController {
  private readonly refused = createCounter('svc.acquirer.notifications.refused');

  constructor(
    @Inject(ADYEN_SETTINGS) private readonly settings: AdyenSettingsByMode,
    @Inject(ReportRepository) private readonly reports: ReportRepository,
    @Inject(ApplyReports) private readonly applyReports: ApplyReports,
  ) {}

  /**
   * Receives notifications of Adyen. Needs the basic authentication of the webhook, and the signature of each item.
   *
   * @throws request.invalid The body is not a standard webhook. Nothing was stored.
   * @throws credentials.invalid The basic authentication or a signature is missing or wrong. Nothing was stored.
   */
  @Post(':mode/notifications')
  @HttpCode(HttpStatus.OK)
  @UseGuards(AdyenWebhookGuard)
  async receive(@Param('mode') modeText: string, @Body() body: unknown): Promise<string> {
    const settings = findSettings(this.settings, modeText);
    const mode = modeText as Mode;
    const notification = parseNotification(body);
    if (!notification)
      throw new DomainError('request.invalid', { message: 'The body is not a standard webhook of Adyen.' });
    if (!authenticateItems(notification, settings).isAuthentic) {
      this.refused.add(1, { acquirer: 'adyen', reason: 'signature' });
      throw new DomainError('credentials.invalid');
    }
    const { isLive, items } = notification;
    const source = { mode, isLive, checkoutUrl: settings.checkoutUrl };
    await this.reports.store(
      items.map(({ kept }) => ({ report: toReport(kept, source), duplicateKey: duplicateKeyOf(kept) })),
    );
    this.applyReports.trigger();
    return '[accepted]';
  }
}

function findSettings(settings: AdyenSettingsByMode, mode: string): AdyenSettings {
  const found = mode === 'test' || mode === 'live' ? settings[mode] : undefined;
  if (!found) throw new DomainError('resource.not-found');
  return found;
}

import { Inject, Injectable } from '@nestjs/common';
import { type DecodeResponse, type Mode, restrictToSessionFeatures } from '@svc/contracts';
import { Clock, DomainError, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { CodeDecoderConfig } from '../config.js';
import { buildInvoice, invoiceState, type StoredInvoice } from '../invoices/invoice.js';
import { InvoiceRepository } from '../invoices/invoice.repository.js';
import { MerchantProfileQuery } from '../merchants/merchant-profile.query.js';
import { type CodeFragments, matchCodeFormat, matchFragment } from '../providers/code-format.js';
import { CodeProviders } from '../providers/code-providers.js';
import { CheckExpiredSession } from '../sessions/check-expired-session.js';
import { type CodedSession, SessionCodeRepository } from '../sessions/session-code.repository.js';
import { sessionInvoice, sessionInvoiceState } from '../sessions/session-invoice.js';

/** `Retry-After` for the caller when a provider did not respond. */
const RETRY_AFTER_SECONDS = 2;

/**
 * Decodes a code (D1 to D5). It first looks for codes that this platform issued, in this service's own tables, so that
 * they are decoded even if all other services are down. It queries the third-party providers only for other codes.
 */
@Injectable()
export class DecodeCode {
  /**
   * Text by which a code is recognised as issued by this platform (D2): the address in its QR codes, and its configured
   * short links.
   */
  private readonly platformFragments: CodeFragments;

  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository,
    @Inject(CheckExpiredSession) private readonly checkExpiredSession: CheckExpiredSession,
    @Inject(MerchantProfileQuery) private readonly merchantProfile: MerchantProfileQuery,
    @Inject(CodeProviders) private readonly providers: CodeProviders,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {
    this.platformFragments = {
      hosts: [ownHostFragment(config.SVC_CODES_URL)],
      shortLinks: config.SVC_CODE_SHORT_FRAGMENTS?.split(',') ?? [],
    };
  }

  /**
   * Throws `payable.expired`, `payable.not-found` for an unknown code of a supported format, `code.unsupported` for a
   * code of another format, and `code-provider.unavailable`.
   */
  async execute(mode: Mode, code: string): Promise<DecodeResponse> {
    const ownCode = parseOwnCode(code, this.config.SVC_CODES_URL);
    const decoded = ownCode && (await this.decodeOwnCode(mode, ownCode));
    if (decoded) return decoded;
    // A code that this platform issued, but does not have, belongs to no provider.
    if (matchFragment(code, this.platformFragments) !== undefined) throw new DomainError('payable.not-found');

    const result = await this.providers.find(mode, code);
    switch (result.kind) {
      case 'known':
        return result.decoded;
      case 'expired':
        throw new DomainError('payable.expired');
      case 'unavailable':
        throw new DomainError('code-provider.unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      case 'unknown':
        throw new DomainError(this.hasSupportedFormat(mode, code) ? 'payable.not-found' : 'code.unsupported');
    }
  }

  /**
   * Decodes a code of this platform. A dynamic code belongs to an invoice or a hosted session. A static code belongs to
   * a till, and is decoded to the newest open invoice at the till.
   */
  private async decodeOwnCode(mode: Mode, code: string): Promise<DecodeResponse | undefined> {
    const invoice = await this.invoices.findByCode(mode, code);
    if (invoice) return this.decodeInvoice(invoice);
    const session = await this.sessionCodes.findByCode(mode, code);
    if (session) return this.decodeSession(session);
    const invoiceAtTill = await this.invoices.findByTillCode(mode, code);
    return invoiceAtTill && this.decodeInvoice(invoiceAtTill);
  }

  private async decodeSession(session: CodedSession): Promise<DecodeResponse> {
    const storedState = sessionInvoiceState(session, this.clock.now());
    const state = storedState === 'expired' ? await this.checkExpiredSession.execute(session.sessionId) : storedState;
    if (state === 'expired') throw new DomainError('payable.expired');
    const { siteReference } = session;
    // The identity service has published the merchant's site, but this service has not yet received the event.
    if (siteReference === null) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    const merchant = await this.merchantProfile.get(session, session.currencyISOCode);
    return {
      merchant: { ...merchant, features: restrictToSessionFeatures(merchant.features) },
      invoice: sessionInvoice({ ...session, siteReference }, state),
    };
  }

  private async decodeInvoice(invoice: StoredInvoice): Promise<DecodeResponse> {
    const state = invoiceState(invoice, this.clock.now());
    if (state === 'expired') throw new DomainError('payable.expired');
    return {
      merchant: await this.merchantProfile.get(invoice, invoice.currencyISOCode),
      invoice: buildInvoice(invoice, state),
    };
  }

  private hasSupportedFormat(mode: Mode, code: string): boolean {
    const providerFragments = this.providers.getFragments(mode);
    return (
      matchCodeFormat(code, {
        hosts: [...this.platformFragments.hosts, ...providerFragments.hosts],
        shortLinks: [...this.platformFragments.shortLinks, ...providerFragments.shortLinks],
      }) !== undefined
    );
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { type DecodeResponse, type Mode, sessionFeatures } from '@svc/contracts';
import { Clock, DomainError, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { CodeDecoderConfig } from '../config.js';
import { invoiceState, type StoredInvoice, toInvoice } from '../invoices/invoice.js';
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
 * Decodes a code (D1 to D5). Looks for our own codes first, in this service's own tables, so that they are
 * decoded even if all other services are down. Then queries the providers.
 */
@Injectable()
export class DecodeCode {
  private readonly own: CodeFragments;

  constructor(
    @Inject(InvoiceRepository) private readonly invoices: InvoiceRepository,
    @Inject(SessionCodeRepository) private readonly sessionCodes: SessionCodeRepository,
    @Inject(CheckExpiredSession) private readonly checkExpiredSession: CheckExpiredSession,
    @Inject(MerchantProfileQuery) private readonly merchantProfile: MerchantProfileQuery,
    @Inject(CodeProviders) private readonly providers: CodeProviders,
    @Inject(Clock) private readonly clock: Clock,
    @Inject(CodeDecoderConfig) private readonly config: CodeDecoderConfig,
  ) {
    this.own = {
      hosts: [ownHostFragment(config.SVC_CODES_URL)],
      shortLinks: config.SVC_CODE_SHORT_FRAGMENTS?.split(',') ?? [],
    };
  }

  /**
   * Throws `payable.expired`; `payable.not-found` for an unknown code of a supported format;
   * `code.unsupported` for a code of another format; `code-provider.unavailable`.
   */
  async execute(mode: Mode, code: string): Promise<DecodeResponse> {
    const ownCode = parseOwnCode(code, this.config.SVC_CODES_URL);
    const own = ownCode && (await this.findOwn(mode, ownCode));
    if (own) return own;
    // A code with our own address belongs to no provider.
    if (matchFragment(code, this.own) !== undefined) throw new DomainError('payable.not-found');

    const answer = await this.providers.find(mode, code);
    switch (answer.kind) {
      case 'known':
        return answer.decoded;
      case 'expired':
        throw new DomainError('payable.expired');
      case 'unavailable':
        throw new DomainError('code-provider.unavailable', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      case 'unknown':
        throw new DomainError(this.isSupported(mode, code) ? 'payable.not-found' : 'code.unsupported');
    }
  }

  /** The invoice or hosted session of a dynamic code, or the open invoice at the till of a static code. */
  private async findOwn(mode: Mode, code: string): Promise<DecodeResponse | undefined> {
    const dynamic = await this.invoices.findByCode(mode, code);
    if (dynamic) return this.decodedInvoice(dynamic);
    const session = await this.sessionCodes.findByCode(mode, code);
    if (session) return this.decodedSession(session);
    const atTill = await this.invoices.findByTillCode(mode, code);
    return atTill && this.decodedInvoice(atTill);
  }

  private async decodedSession(session: CodedSession): Promise<DecodeResponse> {
    const known = sessionInvoiceState(session, this.clock.now());
    const state = known === 'expired' ? await this.checkExpiredSession.execute(session.sessionId) : known;
    if (state === 'expired') throw new DomainError('payable.expired');
    const { siteReference } = session;
    // The event of identity about the merchant's site has not arrived yet.
    if (siteReference === null) throw new DomainError('service.not-ready', { retryAfterSeconds: 1 });
    const merchant = await this.merchantProfile.get(session, session.currencyISOCode);
    return {
      merchant: { ...merchant, features: sessionFeatures(merchant.features) },
      invoice: sessionInvoice({ ...session, siteReference }, state),
    };
  }

  private async decodedInvoice(invoice: StoredInvoice): Promise<DecodeResponse> {
    const state = invoiceState(invoice, this.clock.now());
    if (state === 'expired') throw new DomainError('payable.expired');
    return {
      merchant: await this.merchantProfile.get(invoice, invoice.currencyISOCode),
      invoice: toInvoice(invoice, state),
    };
  }

  private isSupported(mode: Mode, code: string): boolean {
    const others = this.providers.fragmentsOf(mode);
    return (
      matchCodeFormat(code, {
        hosts: [...this.own.hosts, ...others.hosts],
        shortLinks: [...this.own.shortLinks, ...others.shortLinks],
      }) !== undefined
    );
  }
}

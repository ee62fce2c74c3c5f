import { Inject, Injectable } from '@nestjs/common';
import { type DecodeResponse, type Mode, sessionFeatures } from '@svc/contracts';
import { Clock, DomainError, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { CodeDecoderConfig } from '../config.js';
import { asInvoice, invoiceState, type StoredInvoice } from '../invoices/invoice.js';
import { InvoiceRepository } from '../invoices/invoice.repository.js';
import { MerchantProfileQuery } from '../merchants/merchant-profile.query.js';
import { CodeProviders } from '../providers/code-providers.js';
import { CheckExpiredSession } from '../sessions/check-expired-session.js';
import { type CodedSession, SessionCodeRepository } from '../sessions/session-code.repository.js';
import { sessionInvoice, sessionInvoiceState } from '../sessions/session-invoice.js';
import { type CodeFragments, fragmentAlternative, matchedAlternative } from '../providers/support-test.js';

/** Time until a provider that was silent is asked again, told to the caller. */
const RETRY_AFTER_SECONDS = 2;

/**
 * What a code stands for (D1 to D5). Our own are looked up first, in this service's own tables, so that they are
 * decoded whatever else is down; then providers are asked.
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
   * Throws `payable.expired`; `payable.not-found` for a code that the support test knows and nobody else;
   * `code.unsupported` for one that it does not know either; `code-provider.unavailable`.
   */
  async execute(mode: Mode, code: string): Promise<DecodeResponse> {
    const ownCode = parseOwnCode(code, this.config.SVC_CODES_URL);
    const own = ownCode && (await this.findOwn(mode, ownCode));
    if (own) return own;
    // An address of ours is nobody else's.
    if (fragmentAlternative(code, this.own) !== undefined) throw new DomainError('payable.not-found');

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

  /** A dynamic code's invoice or hosted session, or what is open at the till of a static one. */
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
    // Its merchant is told of by identity, and that event is on the way.
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
      invoice: asInvoice(invoice, state),
    };
  }

  private isSupported(mode: Mode, code: string): boolean {
    const others = this.providers.fragmentsOf(mode);
    return (
      matchedAlternative(code, {
        hosts: [...this.own.hosts, ...others.hosts],
        shortLinks: [...this.own.shortLinks, ...others.shortLinks],
      }) !== undefined
    );
  }
}

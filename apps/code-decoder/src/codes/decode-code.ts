import { Inject, Injectable } from '@nestjs/common';
import type { DecodeResponse, Mode } from '@svc/contracts';
import { Clock, DomainError, ownHostFragment, parseOwnCode } from '@svc/kernel';
import { CodeDecoderConfig } from '../config.js';
import { asInvoice, invoiceState, type StoredInvoice } from '../invoices/invoice.js';
import { InvoiceRepository } from '../invoices/invoice.repository.js';
import { MerchantCard } from '../merchants/merchant-card.js';
import { CodeProviders } from '../providers/code-providers.js';
import { type CodeFragments, fragmentAlternative, matchedAlternative } from './support-test.js';

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
    @Inject(MerchantCard) private readonly merchantCard: MerchantCard,
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
    const invoice = ownCode && (await this.findOwn(mode, ownCode));
    if (invoice) return this.decoded(invoice);
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

  /** A dynamic code's invoice, or what is open at the till of a static one. */
  private async findOwn(mode: Mode, code: string): Promise<StoredInvoice | undefined> {
    return (await this.invoices.findByCode(mode, code)) ?? (await this.invoices.findByTillCode(mode, code));
  }

  private async decoded(invoice: StoredInvoice): Promise<DecodeResponse> {
    const state = invoiceState(invoice, this.clock.now());
    if (state === 'expired') throw new DomainError('payable.expired');
    return {
      merchant: await this.merchantCard.get(invoice, invoice.currencyISOCode),
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

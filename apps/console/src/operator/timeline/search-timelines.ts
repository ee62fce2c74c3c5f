import { Inject, Injectable } from '@nestjs/common';
import {
  type CommandType,
  FindPaymentsV1,
  MAX_TRACED_DELIVERIES,
  type TimelineSubject,
  TraceDeliveriesV1,
  type TracedPayable,
  type TracedPayment,
  TraceInvoiceV1,
  TracePaymentV1,
  TraceSessionV1,
} from '@svc/contracts';
import { DomainError, listDeliveryIds } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import { DataSource } from 'typeorm';
import { ConsoleConfig } from '../../config.js';
import { MerchantRepository } from '../../merchants/merchant.repository.js';
import { findPayment, type PaymentDetails } from '../../payment/find-payment.query.js';
import { findSubjects } from './find-subjects.query.js';
import {
  describeCopy,
  describeDelivery,
  describeOtherPayments,
  type FoundSubject,
  type MissingPart,
  type OperatorTimeline,
  sortEntries,
  stepsOf,
  type TimelineSearch,
} from './timeline.js';
import { interpretTimelineQuery, rangeOf, type TimelineQuery, type TimelineTerm } from './timeline-query.js';

export const MAX_MATCHES = 20;

/** An operator is on the telephone: a timeline with a missing part is better than a late one. */
const REPLY_TIMEOUT_MS = 3_000;

/** The part of each service in a timeline, as {@link MissingPart} names it. */
const PARTS = {
  'payment-processor': 'attempts, refunds, disputes, incidents and settlement, and payments without an outcome',
  'hosted-gateway': 'the session',
  'code-decoder': 'the invoice',
  'webhook-dispatcher': 'the notifications',
} as const;

type Owner = keyof typeof PARTS;

/** Collects the services that did not respond. Each is named once. */
class MissingParts {
  private readonly owners = new Set<Owner>();

  add(owner: Owner): void {
    this.owners.add(owner);
  }

  has(owner: Owner): boolean {
    return this.owners.has(owner);
  }

  list(): MissingPart[] {
    return [...this.owners].map((service) => ({ service, part: PARTS[service] }));
  }
}

/**
 * Finds payments, sessions and invoices of all merchants for operators of the platform, and builds the timeline of one
 * from the records of all services. The caller has checked that the requester is an operator. The names of customers are
 * not part of it.
 */
@Injectable()
export class SearchTimelines {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Commands) private readonly commands: Commands,
    @Inject(MerchantRepository) private readonly merchants: MerchantRepository,
    @Inject(ConsoleConfig) private readonly config: ConsoleConfig,
  ) {}

  /** Searches all meanings of the text. One match is returned with its timeline. */
  async search(query: TimelineQuery): Promise<TimelineSearch> {
    const missing = new MissingParts();
    const terms = interpretTimelineQuery(query, this.config.SVC_CODES_URL);
    const found = await Promise.all(terms.map((term) => this.findByTerm(term, query, missing)));
    // payment-processor has the newest state of a payment, and comes last.
    const subjects = [...new Map(found.flat().map((subject) => [subject.reference, subject])).values()]
      .filter((subject) => isWanted(subject, query))
      .sort((a, b) => b.utcDate.localeCompare(a.utcDate));
    const matches = await this.addNames(subjects.slice(0, MAX_MATCHES));
    const [only] = matches;
    return {
      matches,
      hasMore: subjects.length > MAX_MATCHES,
      timeline: only && matches.length === 1 ? await this.build(only) : null,
      missing: missing.list(),
    };
  }

  /** Builds the timeline of a match. Parts whose owner does not respond are listed as missing. */
  async build(subject: FoundSubject): Promise<OperatorTimeline> {
    const missing = new MissingParts();
    const { merchantId, mode, reference } = subject;
    const isPayment = subject.kind === 'payment';
    const [payable, traced, copy] = await Promise.all([
      this.tracePayable(subject.source, { payableId: subject.payableId }, missing),
      isPayment ? this.tracePayment(reference, missing) : undefined,
      isPayment ? findPayment(this.dataSource, { merchantId, mode, sites: 'all' }, reference) : undefined,
    ]);
    const deliveries = copy ? await this.traceDeliveries(copy, traced, missing) : [];
    const owner = subject.source === 'session' ? 'hosted-gateway' : 'code-decoder';
    const [created, ...ends] = stepsOf(owner, payable?.steps ?? []);
    return {
      subject,
      entries: sortEntries([
        ...(created ? [created] : []),
        ...stepsOf('console', copy ? describeOtherPayments(copy) : []),
        ...stepsOf('payment-processor', traced?.steps ?? []),
        // The copy is older and shorter than the owner's records.
        ...stepsOf('console', copy && missing.has('payment-processor') ? describeCopy(copy) : []),
        ...ends,
        ...stepsOf('webhook-dispatcher', deliveries.flatMap(describeDelivery)),
      ]),
      missing: missing.list(),
    };
  }

  private async findByTerm(
    term: TimelineTerm,
    query: TimelineQuery,
    missing: MissingParts,
  ): Promise<readonly TimelineSubject[]> {
    const copies = await findSubjects(this.dataSource, term, query, MAX_MATCHES + 1);
    const { kind, value } = term;
    if (kind === 'card' || kind === 'order') return copies;
    const name = ({ reference: 'paymentReference', payable: 'payableId', code: 'code' } as const)[kind];
    const reply = await this.ask('payment-processor', FindPaymentsV1, { [name]: value }, missing);
    const payments = [...copies, ...(reply?.payments ?? [])];
    return payments.length > 0 || kind === 'reference' ? payments : this.findUnpaid({ [name]: value }, missing);
  }

  /** A session or an invoice for which no payment was made. */
  private async findUnpaid(
    address: { readonly payableId?: string; readonly code?: string },
    missing: MissingParts,
  ): Promise<TimelineSubject[]> {
    const found = await Promise.all(
      (['session', 'invoice'] as const).map((source) => this.tracePayable(source, address, missing)),
    );
    return found.flatMap((payable) => (payable ? [payable.subject] : []));
  }

  private async tracePayable(
    source: TimelineSubject['source'],
    address: { readonly payableId?: string; readonly code?: string },
    missing: MissingParts,
  ): Promise<TracedPayable | undefined> {
    return source === 'session'
      ? (await this.ask('hosted-gateway', TraceSessionV1, address, missing))?.session
      : (await this.ask('code-decoder', TraceInvoiceV1, address, missing))?.invoice;
  }

  private tracePayment(paymentReference: string, missing: MissingParts): Promise<TracedPayment | undefined> {
    return this.ask('payment-processor', TracePaymentV1, { paymentReference }, missing);
  }

  private async traceDeliveries(copy: PaymentDetails, traced: TracedPayment | undefined, missing: MissingParts) {
    const ids = listDeliveryIds({ ...copy, disputeChanges: traced?.disputeChanges ?? [] });
    const request = { ids: ids.slice(0, MAX_TRACED_DELIVERIES) };
    return (await this.ask('webhook-dispatcher', TraceDeliveriesV1, request, missing))?.deliveries ?? [];
  }

  /** Undefined for an unknown object, and while the owner does not respond, which is noted in `missing`. */
  private async ask<Request, Reply>(
    owner: Owner,
    command: CommandType<Request, Reply>,
    request: Request,
    missing: MissingParts,
  ): Promise<Reply | undefined> {
    try {
      return await this.commands.request(command, request, REPLY_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'resource.not-found') return undefined;
      if (error.entry.httpStatus < 500) throw error;
      missing.add(owner);
      return undefined;
    }
  }

  private async addNames(subjects: readonly TimelineSubject[]): Promise<FoundSubject[]> {
    const ids = [...new Set(subjects.map(({ merchantId }) => merchantId))];
    const merchants = new Map(
      (ids.length === 0 ? [] : await this.merchants.list(ids)).map((merchant) => [merchant.merchantId, merchant]),
    );
    return subjects.map((subject) => {
      const merchant = merchants.get(subject.merchantId);
      const site = merchant?.sites.find(({ siteId }) => siteId === subject.siteId);
      return { ...subject, merchantName: merchant?.name ?? '', siteName: site?.name ?? '' };
    });
  }
}

function isWanted({ utcDate, mode }: TimelineSubject, query: TimelineQuery): boolean {
  const { from, until } = rangeOf(query);
  const at = new Date(utcDate);
  return (query.mode === undefined || query.mode === mode) && at >= from && at < until;
}

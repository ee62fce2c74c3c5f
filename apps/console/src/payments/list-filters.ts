import type { PaymentMethodType } from '@svc/contracts';
import { addDays, isCalendarDay, isNumericId, parsePaymentReference } from '@svc/kernel';
import { formatPosition, parsePosition } from '../layout/page-position.js';
import type { ConsolePayment } from '../read-model/console-payment.js';
import { canEverywhere, type MerchantViewer } from '../viewer/viewer.js';
import type { ListPayments, PaymentPosition } from './list-payments.query.js';
import { interpretBeginning, interpretSearch, MAX_SEARCH_LENGTH } from './search-text.js';

export const STATES: readonly ConsolePayment['state'][] = ['success', 'failed', 'verificationRequired'];
export const METHODS: readonly PaymentMethodType[] = ['Card', 'External', 'Voucher'];

/** The choice of the person, as the address of the page contains it. An invalid value counts as none. */
export interface ListChoice {
  readonly search: string;
  readonly siteId: number | undefined;
  readonly state: ConsolePayment['state'] | undefined;
  readonly method: PaymentMethodType | undefined;
  /** Days of the merchant, both inclusive. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly after: PaymentPosition | undefined;
}

type Query = Readonly<Record<string, unknown>>;

export function readChoice(query: Query): ListChoice {
  const read = (name: string): string => (typeof query[name] === 'string' ? query[name].trim() : '');
  const [site, from, to] = [read('site'), read('from'), read('to')];
  return {
    search: read('q').slice(0, MAX_SEARCH_LENGTH),
    siteId: isNumericId(site) ? Number(site) : undefined,
    state: STATES.find((state) => state === read('state')),
    method: METHODS.find((method) => method === read('method')),
    from: isCalendarDay(from) ? from : undefined,
    to: isCalendarDay(to) ? to : undefined,
    after: readPosition(read('after')),
  };
}

/** The query of a page with this choice, with changes. */
export function formatChoice(choice: ListChoice, changes: Partial<ListChoice> = {}): string {
  const { search, siteId, state, method, from, to, after } = { ...choice, ...changes };
  const position = after && formatPosition({ time: after.paymentUTCDate, id: after.paymentReference });
  const members = { q: search, site: siteId, state, method, from, to, after: position };
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

export function hasChoice(choice: ListChoice): boolean {
  return formatChoice(choice, { after: undefined }) !== '';
}

/** The statement for this choice. Names of customers are only searched for people who may see them. */
export function toQuery(viewer: MerchantViewer, choice: ListChoice, limit: number): ListPayments {
  const { clock } = viewer;
  const terms = interpretSearch(choice.search).filter(
    ({ kind }) => kind !== 'customer' || canEverywhere(viewer, 'customers.read'),
  );
  return {
    scope: viewer.scope,
    filters: {
      siteId: choice.siteId,
      state: choice.state,
      method: choice.method,
      from: choice.from === undefined ? undefined : clock.startOf(choice.from),
      until: choice.to === undefined ? undefined : clock.startOf(addDays(choice.to)),
    },
    search: choice.search === '' ? undefined : terms,
    orderBeginning: interpretBeginning(choice.search),
    after: choice.after,
    limit,
  };
}

function readPosition(text: string): PaymentPosition | undefined {
  const { time, id = '' } = parsePosition(text) ?? {};
  const paymentReference = parsePaymentReference(id);
  return time && paymentReference !== undefined ? { paymentUTCDate: time, paymentReference } : undefined;
}

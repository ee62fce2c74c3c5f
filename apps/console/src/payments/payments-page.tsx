import { fill } from '../languages/fill.js';
import { Choice, SiteChoice } from '../layout/form-elements.js';
import { pathOf, renderDocument } from '../layout/layout.js';
import type { ListedRequest } from '../requests/list-requests.query.js';
import { RequestTable } from '../requests/requests-page.js';
import { canAnywhere, type MerchantViewer } from '../viewer/viewer.js';
import { formatChoice, hasChoice, type ListChoice, METHODS, STATES } from './list-filters.js';
import type { ListedPayment } from './list-payments.query.js';
import { PaymentTable } from './payment-rows.js';

export interface PaymentsPage {
  readonly viewer: MerchantViewer;
  readonly choice: ListChoice;
  readonly payments: readonly ListedPayment[];
  readonly hasMore: boolean;
  /** Requests of the search that are not paid. */
  readonly unpaidRequests: readonly ListedRequest[];
  readonly codesUrl: string;
  readonly now: Date;
}

export function renderPaymentsPage(page: PaymentsPage): string {
  const { viewer, choice } = page;
  const { texts } = viewer;
  return renderDocument({
    title: texts.payments.title,
    texts,
    viewer,
    current: 'payments',
    children: (
      <>
        <h1>{texts.payments.title}</h1>
        <Filters {...{ viewer, choice }} />
        <PaymentList {...page} />
      </>
    ),
  });
}

/** The list, which the script replaces when it has changed. */
export function PaymentList({ viewer, choice, payments, hasMore, unpaidRequests, codesUrl, now }: PaymentsPage) {
  const { texts } = viewer;
  const path = `${pathOf(viewer)}/payments`;
  const last = payments.at(-1);
  const after = last && {
    paymentUTCDate: new Date(last.paymentUTCDate),
    paymentReference: last.paymentReference,
  };
  // Only the newest page changes by itself.
  const live = choice.after === undefined ? { 'data-live': `${path}/live${formatChoice(choice)}` } : {};
  return (
    <section class="card" {...live}>
      {unpaidRequests.length === 0 ? null : (
        <>
          <h2>{texts.payments.unpaidRequests}</h2>
          <RequestTable {...{ viewer, codesUrl, now }} requests={unpaidRequests} />
          <h2>{texts.payments.title}</h2>
        </>
      )}
      {canAnywhere(viewer, 'exports.read') && payments.length > 0 ? (
        <p class="pages">
          <a href={`${path}.csv${formatChoice(choice, { after: undefined })}`} download>
            {texts.payments.csv}
          </a>
        </p>
      ) : null}
      {payments.length === 0 ? (
        <p class="empty">
          {choice.search === '' || unpaidRequests.length > 0
            ? texts.payments.empty
            : fill(texts.payments.notFound, { text: choice.search })}
        </p>
      ) : (
        <PaymentTable {...{ viewer, payments }} />
      )}
      <p class="pages">
        {choice.after === undefined ? null : (
          <a href={`${path}${formatChoice(choice, { after: undefined })}`}>{texts.payments.newest}</a>
        )}
        {hasMore && after ? <a href={`${path}${formatChoice(choice, { after })}`}>{texts.payments.older}</a> : null}
      </p>
    </section>
  );
}

function Filters({ viewer, choice }: Pick<PaymentsPage, 'viewer' | 'choice'>) {
  const { texts } = viewer;
  const path = `${pathOf(viewer)}/payments`;
  return (
    <form class="filters" method="get" action={path} role="search">
      <label class="search">
        {texts.payments.search}
        <input type="search" name="q" value={choice.search} maxlength={100} />
      </label>
      <SiteChoice viewer={viewer} chosen={choice.siteId} any={texts.merchant.allSites} />
      <Choice label={texts.payments.state} name="state" chosen={choice.state} any={texts.payments.any}>
        {STATES.map((state) => [state, texts.state[state]])}
      </Choice>
      <Choice label={texts.payments.method} name="method" chosen={choice.method} any={texts.payments.any}>
        {METHODS.map((method) => [method, texts.method[method]])}
      </Choice>
      <label>
        {texts.payments.from}
        <input type="date" name="from" value={choice.from} />
      </label>
      <label>
        {texts.payments.to}
        <input type="date" name="to" value={choice.to} />
      </label>
      <button>{texts.payments.apply}</button>
      {hasChoice(choice) ? <a href={path}>{texts.payments.clear}</a> : null}
    </form>
  );
}

import { ownCodeText } from '@svc/kernel';
import { formatAmount } from '../languages/format.js';
import { pathOf, renderDocument } from '../layout/layout.js';
import { formatPosition } from '../layout/page-position.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { ListedRequest, RequestPosition } from './list-requests.query.js';
import { determineRequestState, type RequestState } from './request.js';

export interface RequestsPage {
  readonly viewer: MerchantViewer;
  readonly requests: readonly ListedRequest[];
  readonly hasMore: boolean;
  readonly after: RequestPosition | undefined;
  readonly codesUrl: string;
  /** Whether the person may request payments at one site or more. */
  readonly mayCreate: boolean;
  readonly now: Date;
}

export function renderRequestsPage(page: RequestsPage): string {
  const { viewer, mayCreate } = page;
  const { texts } = viewer;
  return renderDocument({
    title: texts.requests.title,
    texts,
    viewer,
    current: 'requests',
    children: (
      <>
        <h1>{texts.requests.title}</h1>
        {mayCreate ? (
          <p>
            <a class="button" href={`${pathOf(viewer)}/requests/new`}>
              {texts.requests.create}
            </a>
          </p>
        ) : null}
        <RequestList {...page} />
      </>
    ),
  });
}

/** The list, which the script replaces when it has changed. */
export function RequestList({ viewer, requests, hasMore, after, codesUrl, mayCreate, now }: RequestsPage) {
  const { texts } = viewer;
  const path = `${pathOf(viewer)}/requests`;
  const last = requests.at(-1);
  const next = last && formatPosition({ time: new Date(last.createdUTCDate), id: last.invoiceReference });
  // Only the newest page changes by itself.
  const live = after === undefined ? { 'data-live': `${path}/live` } : {};
  return (
    <section class="card" {...live}>
      {requests.length === 0 ? (
        <p class="empty">{mayCreate ? texts.requests.empty : texts.requests.emptyToRead}</p>
      ) : (
        <RequestTable {...{ viewer, requests, codesUrl, now }} />
      )}
      <p class="pages">
        {after === undefined ? null : <a href={path}>{texts.requests.newest}</a>}
        {hasMore && next ? <a href={`${path}?after=${next}`}>{texts.requests.older}</a> : null}
      </p>
    </section>
  );
}

type Table = Pick<RequestsPage, 'viewer' | 'requests' | 'codesUrl' | 'now'>;

export function RequestTable({ viewer, requests, codesUrl, now }: Table) {
  const { texts, clock } = viewer;
  const showsSite = viewer.merchant.sites.length > 1;
  return (
    <table class="payments">
      <caption class="hidden">{texts.requests.title}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.requests.created}</th>
          <th scope="col">{texts.requests.description}</th>
          {showsSite ? <th scope="col">{texts.requests.site}</th> : null}
          <th scope="col">{texts.requests.state}</th>
          <th scope="col">{texts.requests.until}</th>
          <th scope="col">{texts.requests.link}</th>
          <th scope="col" class="number">
            {texts.requests.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {requests.map((request) => {
          const state = determineRequestState(request, now);
          return (
            <tr key={request.invoiceReference}>
              <td>
                <time datetime={request.createdUTCDate}>{clock.format(request.createdUTCDate)}</time>
              </td>
              <td>
                <a class="order" href={`${pathOf(viewer)}/requests/${request.invoiceReference}`}>
                  {request.description}
                </a>
                {request.orderReference === '' ? null : <small>{request.orderReference}</small>}
              </td>
              {showsSite ? <td>{siteName(viewer, request.siteId)}</td> : null}
              <td>
                <State {...{ texts, state }} />
              </td>
              <td data-label={texts.requests.until}>{lastDayOf(viewer, request)}</td>
              <td>
                {state === 'open' ? (
                  <a href={ownCodeText(request.code, codesUrl)} rel="noreferrer">
                    {texts.requests.open}
                    <span class="hidden">{`: ${request.description}`}</span>
                  </a>
                ) : null}
              </td>
              <td class="number">{formatAmount(request.amount, request.currency, texts)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Classes of the stylesheet, whose marks show the state without colour. */
const STATE_CLASSES: Readonly<Record<RequestState, string>> = {
  open: 'verificationRequired',
  paid: 'success',
  cancelled: 'ended',
  expired: 'ended',
  refused: 'failed',
};

export function State({ texts, state }: { texts: MerchantViewer['texts']; state: RequestState }) {
  return <span class={`state ${STATE_CLASSES[state]}`}>{texts.requestState[state]}</span>;
}

/** The last of the merchant's days on which the request can be paid. */
export function lastDayOf({ clock }: MerchantViewer, { expiresUTCDate }: { readonly expiresUTCDate: string }): string {
  return clock.dayOf(new Date(Date.parse(expiresUTCDate) - 1));
}

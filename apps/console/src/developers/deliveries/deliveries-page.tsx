import { type Delivery, DELIVERY_STATES, type DeliveryPage } from '@svc/contracts';
import { Choice, SiteChoice } from '../../layout/form-elements.js';
import { pathOf } from '../../layout/layout.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import { describeAnswer, developersPath, renderDevelopersPage } from '../developers-frame.js';
import { type DeliveryChoice, formatDeliveryChoice } from './delivery-filters.js';

interface DeliveriesPage {
  readonly viewer: MerchantViewer;
  /** Undefined if the merchant has no site yet. */
  readonly list: { readonly choice: DeliveryChoice; readonly page: DeliveryPage } | undefined;
}

export function renderDeliveriesPage({ viewer, list }: DeliveriesPage): string {
  const { texts } = viewer;
  return renderDevelopersPage({
    viewer,
    tab: 'deliveries',
    title: texts.deliveries.title,
    children: list ? <List {...{ viewer, ...list }} /> : <p class="empty">{texts.developers.noSite}</p>,
  });
}

function List({ viewer, choice, page }: { viewer: MerchantViewer; choice: DeliveryChoice; page: DeliveryPage }) {
  const { developers, deliveries: texts } = viewer.texts;
  const path = developersPath(viewer);
  const { deliveries, after } = page;
  return (
    <>
      <Filters {...{ viewer, choice }} />
      <section class="card">
        {deliveries.length === 0 ? (
          <p class="empty">{texts.empty}</p>
        ) : (
          <table class="rows">
            <caption class="hidden">{texts.title}</caption>
            <thead>
              <tr>
                <th scope="col">{developers.time}</th>
                <th scope="col">{texts.type}</th>
                <th scope="col">{texts.payment}</th>
                <th scope="col">{developers.state}</th>
                <th scope="col">{developers.answer}</th>
                <th scope="col" class="number">
                  {texts.attempts}
                </th>
              </tr>
            </thead>
            <tbody>
              {deliveries.map((delivery) => (
                <Row {...{ viewer, delivery, siteId: choice.siteId }} />
              ))}
            </tbody>
          </table>
        )}
        <p class="pages">
          {choice.after === undefined ? null : (
            <a href={path + formatDeliveryChoice(choice, { after: undefined })}>{developers.newest}</a>
          )}
          {after === undefined ? null : <a href={path + formatDeliveryChoice(choice, { after })}>{developers.older}</a>}
        </p>
      </section>
    </>
  );
}

function Row({ viewer, delivery, siteId }: { viewer: MerchantViewer; delivery: Delivery; siteId: number }) {
  const { texts, clock } = viewer;
  const { id, type, recipient, createdUTCDate, paymentReference, state, lastAttempt, attemptCount } = delivery;
  return (
    <tr>
      <td>
        <a href={`${developersPath(viewer)}/deliveries/${id}?site=${siteId}`}>
          <time datetime={createdUTCDate}>{clock.format(createdUTCDate)}</time>
        </a>
      </td>
      <td>
        {texts.deliveries.types[type]} <small>{texts.payment.events.webhookNote[recipient]}</small>
      </td>
      <td>
        <a class="order" href={`${pathOf(viewer)}/payments/${paymentReference}`}>
          {paymentReference}
        </a>
      </td>
      <td>
        <span class={`webhook ${state}`}>{texts.deliveries.states[state]}</span>
      </td>
      <td>{lastAttempt ? describeAnswer(texts, lastAttempt) : ''}</td>
      <td class="number" data-label={texts.deliveries.attempts}>
        {attemptCount}
      </td>
    </tr>
  );
}

function Filters({ viewer, choice }: { viewer: MerchantViewer; choice: DeliveryChoice }) {
  const { developers, deliveries } = viewer.texts;
  const path = developersPath(viewer);
  return (
    <form class="filters" method="get" action={path} role="search">
      <SiteChoice viewer={viewer} chosen={choice.siteId} />
      <Choice label={developers.state} name="state" chosen={choice.state} any={developers.any}>
        {DELIVERY_STATES.map((state) => [state, deliveries.states[state]])}
      </Choice>
      <label>
        {deliveries.day}
        <input type="date" name="day" value={choice.day} />
      </label>
      <button>{developers.show}</button>
      {choice.state === undefined && choice.day === undefined ? null : (
        <a href={`${path}?site=${choice.siteId}`}>{developers.clear}</a>
      )}
    </form>
  );
}

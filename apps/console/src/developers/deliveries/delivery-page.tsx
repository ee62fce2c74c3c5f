import type { DeliveryAttempt, DeliveryContent, DeliveryWithAttempts } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import { fill } from '../../languages/fill.js';
import { PostForm } from '../../layout/form-elements.js';
import { FactList, pathOf } from '../../layout/layout.js';
import type { MerchantViewer } from '../../viewer/viewer.js';
import {
  Code,
  describeAnswer,
  developersPath,
  formatHeaders,
  type Message,
  renderDevelopersPage,
} from '../developers-frame.js';

interface DeliveryPage {
  readonly viewer: MerchantViewer;
  readonly siteId: number;
  readonly delivery: DeliveryWithAttempts;
  readonly content: DeliveryContent & {
    /** Whether names of customers were replaced. */
    readonly isMasked: boolean;
  };
  readonly message: Message | undefined;
}

export function renderDeliveryPage(page: DeliveryPage): string {
  const { viewer, siteId, delivery, message } = page;
  const { texts, clock } = viewer;
  const path = developersPath(viewer);
  return renderDevelopersPage({
    viewer,
    tab: 'deliveries',
    title: fill(texts.deliveries.one, { time: clock.format(delivery.createdUTCDate) }),
    message,
    children: (
      <>
        <p>
          <a href={`${path}?site=${siteId}`}>{texts.deliveries.back}</a>
        </p>
        <Facts {...page} />
        <section class="card">
          <h2>{texts.deliveries.attemptsTitle}</h2>
          {delivery.attempts.length === 0 ? <p class="empty">{texts.deliveries.none}</p> : <Attempts {...page} />}
          {viewer.can('deliveries.resend', siteId) && delivery.state !== 'superseded' ? (
            <PostForm viewer={viewer} action={`${path}/deliveries/${delivery.id}/resend`} data-once>
              <input type="hidden" name="site" value={siteId} />
              <button>{texts.deliveries.resend}</button>
            </PostForm>
          ) : null}
        </section>
        <Content {...page} />
      </>
    ),
  });
}

function Facts({ viewer, delivery }: DeliveryPage) {
  const { texts, clock } = viewer;
  const { deliveries } = texts;
  const { state, type, recipient, url, webhookId, paymentReference, createdUTCDate, nextAttemptUTCDate } = delivery;
  const facts: [string, ComponentChildren][] = [
    [texts.developers.state, <span class={`webhook ${state}`}>{deliveries.states[state]}</span>],
    [deliveries.type, deliveries.types[type]],
    [deliveries.payment, <a href={`${pathOf(viewer)}/payments/${paymentReference}`}>{paymentReference}</a>],
    [deliveries.address, `${url} (${texts.payment.events.webhookNote[recipient]})`],
    [deliveries.id, <code>{webhookId}</code>],
    [deliveries.created, clock.format(createdUTCDate)],
    [deliveries.next, nextAttemptUTCDate === null ? '' : clock.format(nextAttemptUTCDate)],
  ];
  return (
    <section class="card">
      <FactList>{facts}</FactList>
    </section>
  );
}

function Attempts({ viewer, delivery }: DeliveryPage) {
  const { developers, deliveries } = viewer.texts;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">{deliveries.number}</th>
          <th scope="col">{developers.time}</th>
          <th scope="col">{developers.answer}</th>
          <th scope="col" class="number">
            {deliveries.duration}
          </th>
        </tr>
      </thead>
      <tbody>
        {delivery.attempts.map((attempt) => (
          <Attempt {...{ viewer, attempt }} />
        ))}
      </tbody>
    </table>
  );
}

function Attempt({ viewer, attempt }: { viewer: MerchantViewer; attempt: DeliveryAttempt }) {
  const { texts, clock } = viewer;
  const { attemptNumber, startedUTCDate, durationMs, hint, response } = attempt;
  return (
    <tr>
      <td>{attemptNumber}</td>
      <td>
        <time datetime={startedUTCDate}>{clock.format(startedUTCDate)}</time>
      </td>
      <td class="wide">
        {describeAnswer(texts, attempt)}
        {hint === null ? null : <small>{hint}</small>}
        {response ? (
          <pre tabIndex={0} role="region" aria-label={`${texts.developers.answer} ${attemptNumber}`}>
            {response}
          </pre>
        ) : null}
      </td>
      <td class="number">{fill(texts.webhook.duration, { ms: durationMs })}</td>
    </tr>
  );
}

function Content({ viewer, content }: DeliveryPage) {
  const { developers, deliveries } = viewer.texts;
  const { body, headers, isMasked } = content;
  return (
    <section class="card content">
      <h2>{deliveries.content}</h2>
      <p class="small">
        {headers.some(({ name }) => name === 'webhook-signature') ? deliveries.signedNow : deliveries.unsigned}
      </p>
      {isMasked ? <p class="small">{deliveries.masked}</p> : null}
      <Code label={developers.headers}>{formatHeaders(headers)}</Code>
      <Code label={developers.body}>{body}</Code>
    </section>
  );
}

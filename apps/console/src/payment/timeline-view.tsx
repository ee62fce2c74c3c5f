import type { DeliveryAttempt, DeliveryWithAttempts } from '@svc/contracts';
import type { ComponentChildren } from 'preact';
import { developersPath } from '../developers/developers-frame.js';
import type { Texts } from '../languages/en/en.js';
import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { PostForm } from '../layout/form-elements.js';
import { FactList, Notice, pathOf } from '../layout/layout.js';
import { State } from '../payments/payment-rows.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import type { OtherPayment, PaymentDetails } from './find-payment.query.js';
import { buildTimeline, type TimelineEvent } from './timeline.js';

export interface PaymentHistory {
  readonly viewer: MerchantViewer;
  readonly payment: PaymentDetails;
  /** Undefined while they cannot be read. */
  readonly deliveries: readonly DeliveryWithAttempts[] | undefined;
}

/** The state of a payment, and what happened to it. The script replaces this part when it has changed. */
export function PaymentHistoryView({ viewer, payment, deliveries }: PaymentHistory) {
  const { texts } = viewer;
  return (
    <div class="columns" data-live={`${pathOf(viewer)}/payments/${payment.paymentReference}/live`}>
      <Facts {...{ viewer, payment }} />
      <section class="card">
        <h2>{texts.payment.timeline}</h2>
        {deliveries === undefined ? <Notice kind="problem">{texts.payment.deliveriesUnavailable}</Notice> : null}
        <ol class="timeline">
          {buildTimeline(payment, deliveries ?? []).map((event) => (
            <Event {...{ viewer, payment, event }} />
          ))}
        </ol>
      </section>
    </div>
  );
}

function Facts({ viewer, payment }: Omit<PaymentHistory, 'deliveries'>) {
  const { texts } = viewer;
  const { payment: words } = texts;
  const format = (cents: number): string => formatAmount(cents, payment.currency, texts);
  const refundedAmount = payment.refunds.reduce(
    (sum, { status, amount }) => (status === 'succeeded' ? sum + amount : sum),
    0,
  );
  const facts: [string, ComponentChildren][] = [
    [words.reference, <code>{payment.paymentReference}</code>],
    [texts.payments.state, <State texts={texts} payment={{ ...payment, refundedAmount }} />],
    [words.amount, format(payment.amount)],
    [words.tip, payment.tipAmount > 0 ? format(payment.tipAmount) : ''],
    [
      words.charged,
      payment.state === 'success' && payment.processedAmount !== payment.amount ? format(payment.processedAmount) : '',
    ],
    [words.givenBack, refundedAmount > 0 ? format(refundedAmount) : ''],
    [words.order, payment.orderReference],
    [words.site, siteName(viewer, payment.siteId)],
    [words.till, payment.siteReference],
    [words.method, payment.methodLabel || texts.method[payment.method]],
    [words.source[payment.source], <code>{payment.payableId}</code>],
    [words.code, payment.code],
    [words.madeBy.label, payment.isOfPartner ? words.madeBy.partner : words.madeBy.page],
  ];
  return (
    <section class="card">
      <FactList>{facts}</FactList>
    </section>
  );
}

interface ShownEvent {
  readonly viewer: MerchantViewer;
  readonly payment: PaymentDetails;
  readonly event: TimelineEvent;
}

function Event({ viewer, payment, event }: ShownEvent) {
  return (
    <li>
      <time datetime={event.utcDate}>{viewer.clock.format(event.utcDate)}</time>
      <div>
        <EventText {...{ viewer, payment, event }} />
      </div>
    </li>
  );
}

function EventText({ viewer, payment, event }: ShownEvent) {
  const { texts } = viewer;
  const { events, stages } = texts.payment;
  const format = (cents: number): string => formatAmount(cents, payment.currency, texts);
  switch (event.kind) {
    case 'created':
      return <>{events.created[payment.source]}</>;
    case 'other':
      return <Other {...{ viewer, other: event.other }} />;
    case 'accepted':
      return <>{events.accepted}</>;
    case 'verification':
      return <>{events.verificationRequired}</>;
    case 'outcome':
      return (
        <>
          <strong>{events[payment.state]}</strong>
          <Reasons errors={payment.errors} />
        </>
      );
    case 'refund':
      return <>{`${events.refund[event.refund.status]}: ${format(event.refund.amount)}`}</>;
    case 'returned':
      return <>{`${events.returned}: ${format(event.refund.amount)}`}</>;
    case 'reversal':
      return <>{event.reversal.captureFailed ? events.captureFailed : events.reversal}</>;
    case 'dispute': {
      const { stage, amount, reason, respondByUTCDate } = event.dispute;
      return (
        <>
          <strong>{`${fill(events.dispute, { stage: stages[stage] })}, ${format(amount)}`}</strong>
          <small>{reason}</small>
          {respondByUTCDate === null ? null : (
            <small>{fill(texts.payment.respondBy, { time: viewer.clock.format(respondByUTCDate) })}</small>
          )}
        </>
      );
    }
    case 'webhook':
      return <Webhook {...{ viewer, payment, delivery: event.delivery }} />;
  }
}

/** Another payment of the same order. */
function Other({ viewer, other }: { viewer: MerchantViewer; other: OtherPayment }) {
  const { events, other: words } = viewer.texts.payment;
  return (
    <>
      <a href={`${pathOf(viewer)}/payments/${other.paymentReference}`}>{words}</a>
      {`: ${events[other.state]}`}
      <Reasons errors={other.errors} />
    </>
  );
}

/** The answer of the bank in words. */
function Reasons({ errors }: Pick<PaymentDetails, 'errors'>) {
  return (
    <>
      {errors.map(({ message, errorReference }) => (
        <small>{`${message} (${errorReference})`}</small>
      ))}
    </>
  );
}

interface WebhookEvent {
  readonly viewer: MerchantViewer;
  readonly payment: PaymentDetails;
  readonly delivery: DeliveryWithAttempts;
}

function Webhook({ viewer, payment, delivery }: WebhookEvent) {
  const { texts } = viewer;
  const { webhook, webhookNote } = texts.payment.events;
  const path = `${pathOf(viewer)}/payments/${payment.paymentReference}`;
  return (
    <>
      <span class={`webhook ${delivery.state}`}>{webhook[delivery.state]}</span>{' '}
      <small>{`${webhookNote[delivery.recipient]}: ${delivery.url}`}</small>{' '}
      <a
        id={`sent-${delivery.id}`}
        class="small"
        href={`${developersPath(viewer)}/deliveries/${delivery.id}?site=${payment.siteId}`}
      >
        {texts.payment.sent}
      </a>
      {delivery.attempts.length === 0 ? null : (
        // The script finds these elements by their ids in the next version of the page.
        <details id={`attempts-${delivery.id}`}>
          <summary id={`summary-${delivery.id}`}>
            {texts.payment.attempts.replace('{count}', String(delivery.attempts.length))}
          </summary>
          <ol class="attempts">
            {delivery.attempts.map((attempt) => (
              <Attempt {...{ viewer, attempt }} />
            ))}
          </ol>
        </details>
      )}
      {viewer.can('deliveries.resend', payment.siteId) && delivery.state !== 'superseded' ? (
        <PostForm viewer={viewer} action={`${path}/deliveries/${delivery.id}/resend`}>
          <button class="small" id={`resend-${delivery.id}`}>
            {texts.payment.resend}
          </button>
        </PostForm>
      ) : null}
    </>
  );
}

function Attempt({ viewer, attempt }: { viewer: MerchantViewer; attempt: DeliveryAttempt }) {
  const { texts, clock } = viewer;
  const answer = describeAnswer(texts, attempt);
  return (
    <li>
      {fill(texts.payment.events.attempt, { number: attempt.attemptNumber, answer })}{' '}
      <time class="small" datetime={attempt.startedUTCDate}>
        {clock.format(attempt.startedUTCDate)}
      </time>
      {attempt.response === null || attempt.response === '' ? null : <pre>{attempt.response}</pre>}
    </li>
  );
}

function describeAnswer(texts: Texts, { statusCode, errorClass, durationMs }: DeliveryAttempt): string {
  const answer = statusCode ?? fill(texts.payment.events.noAnswer, { reason: errorClass ?? '' });
  return `${answer}, ${durationMs} ms`;
}

import { fill } from '../languages/fill.js';
import { formatAmount } from '../languages/format.js';
import { Choice, SiteChoice } from '../layout/form-elements.js';
import { pathOf, renderDocument } from '../layout/layout.js';
import { siteName } from '../viewer/sites.js';
import type { MerchantViewer } from '../viewer/viewer.js';
import { describeDeadline } from './deadline.js';
import { type DisputeChoice, formatDisputeChoice } from './dispute-filters.js';
import { type ListedDispute, positionAfter } from './list-disputes.query.js';

export interface DisputesPage {
  readonly viewer: MerchantViewer;
  readonly choice: DisputeChoice;
  readonly disputes: readonly ListedDispute[];
  readonly hasMore: boolean;
  readonly now: Date;
}

export function renderDisputesPage(page: DisputesPage): string {
  const { viewer, choice, disputes, hasMore } = page;
  const { texts } = viewer;
  const path = `${pathOf(viewer)}/disputes`;
  const last = disputes.at(-1);
  return renderDocument({
    title: texts.disputes.title,
    texts,
    viewer,
    current: 'disputes',
    children: (
      <>
        <h1>{texts.disputes.title}</h1>
        <Filters {...page} />
        <section class="card">
          {disputes.length === 0 ? (
            <p class="empty">{texts.disputes.empty[choice.state]}</p>
          ) : (
            <DisputeTable {...page} />
          )}
          <p class="pages">
            {choice.after === undefined ? null : (
              <a href={path + formatDisputeChoice({ ...choice, after: undefined })}>{texts.disputes.first}</a>
            )}
            {hasMore && last ? (
              <a href={path + formatDisputeChoice({ ...choice, after: positionAfter(choice.state, last) })}>
                {texts.disputes.more}
              </a>
            ) : null}
          </p>
        </section>
        <section class="card">
          <h2>{texts.disputes.help.title}</h2>
          <p>{texts.disputes.help.answer}</p>
          <p>{texts.disputes.help.money}</p>
        </section>
      </>
    ),
  });
}

function Filters({ viewer, choice }: DisputesPage) {
  const { texts } = viewer;
  return (
    <form class="filters" method="get" action={`${pathOf(viewer)}/disputes`}>
      <Choice label={texts.payments.state} name="state" chosen={choice.state}>
        {(['open', 'closed'] as const).map((state) => [state, texts.disputes.states[state]])}
      </Choice>
      <SiteChoice viewer={viewer} chosen={choice.siteId} any={texts.merchant.allSites} />
      <button>{texts.payments.apply}</button>
    </form>
  );
}

function DisputeTable({ viewer, choice, disputes, now }: DisputesPage) {
  const { texts } = viewer;
  const showsSite = viewer.merchant.sites.length > 1;
  return (
    <table class="payments">
      <caption>{texts.disputes.captions[choice.state]}</caption>
      <thead>
        <tr>
          <th scope="col">{texts.disputes.columns[choice.state === 'open' ? 'answerBy' : 'reported']}</th>
          <th scope="col">{texts.payments.order}</th>
          {showsSite ? <th scope="col">{texts.payments.site}</th> : null}
          <th scope="col">{texts.disputes.columns.reason}</th>
          <th scope="col">{texts.payments.state}</th>
          <th scope="col" class="number">
            {texts.payments.amount}
          </th>
        </tr>
      </thead>
      <tbody>
        {disputes.map((dispute) => (
          <tr>
            <td>
              {choice.state === 'open' ? (
                <AnswerBy {...{ viewer, dispute, now }} />
              ) : (
                <time datetime={dispute.createdUTCDate}>{viewer.clock.format(dispute.createdUTCDate)}</time>
              )}
            </td>
            <td>
              <a class="order" href={`${pathOf(viewer)}/payments/${dispute.paymentReference}`}>
                {dispute.orderReference || dispute.paymentReference}
              </a>
            </td>
            {showsSite ? <td>{siteName(viewer, dispute.siteId)}</td> : null}
            <td>{dispute.reason || texts.disputes.noReason}</td>
            <td>{texts.payment.stages[dispute.stage]}</td>
            <td class="number">{formatAmount(dispute.amount, dispute.currency, texts)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The deadline with the days that are left, in words. */
function AnswerBy({ viewer, dispute, now }: Pick<DisputesPage, 'viewer' | 'now'> & { dispute: ListedDispute }) {
  const { texts, clock } = viewer;
  const { respondByUTCDate } = dispute;
  const deadline = describeDeadline(respondByUTCDate, now, clock);
  if (respondByUTCDate === null || deadline.kind === 'none') return <>{texts.disputes.noAnswer}</>;
  return (
    <>
      <time datetime={respondByUTCDate}>{clock.format(respondByUTCDate)}</time>
      {deadline.kind === 'overdue' ? (
        <strong class="overdue">{texts.disputes.overdue}</strong>
      ) : (
        <small>{formatDaysLeft(texts.disputes.left, deadline.daysLeft)}</small>
      )}
    </>
  );
}

function formatDaysLeft(words: MerchantViewer['texts']['disputes']['left'], days: number): string {
  if (days === 0) return words.today;
  return days === 1 ? words.one : fill(words.many, { days });
}
